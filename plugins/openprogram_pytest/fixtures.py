"""The fixtures, and what the hooks do with a test's recording."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from openprogram_pytest.claims import Claims
from openprogram_pytest.naming import recording_path, shared_path
from openprogram_pytest.settings import base_settings, item_settings, record_mode

if TYPE_CHECKING:
    from openprogram_pytest.span import RecordingSpan

SPAN: pytest.StashKey[RecordingSpan] = pytest.StashKey()
OUTCOME: pytest.StashKey[bool] = pytest.StashKey()
FINISHED: pytest.StashKey[list[dict[str, Any]]] = pytest.StashKey()
"""Facts of recordings that belong to no single test, until a report takes them along."""


@pytest.fixture(scope="session")
def openprogram_recording_config() -> dict[str, Any]:
    """Settings for every recording of the project: define it anew in conftest.py.

    A dict with any of ``skip``, ``plugins``, ``order`` and ``allow_hosts``, as the marker takes them.
    """
    return {}


@pytest.fixture
def openprogram_recording(
    request: pytest.FixtureRequest, openprogram_recording_config: Mapping[str, Any]
) -> Iterator[RecordingSpan]:
    """Record the provider calls of this test, or replay them.

    Gives the `RecordingSpan`: its ``path``, its ``action`` and the number of ``calls`` so far.
    """
    from openprogram_pytest.span import RecordingSpan

    item = request.node
    settings = item_settings(item, openprogram_recording_config)
    path = recording_path(item, settings.path)
    other = item.config.stash[Claims.KEY].dispute(path, item.nodeid)
    if other is not None:
        pytest.fail(
            f"the recording {path.name} is claimed by {other} and by {item.nodeid}: rename one of the tests, "
            "or give one a path of its own: @pytest.mark.openprogram_recording('other.jsonl')",
            pytrace=False,
        )
    span = RecordingSpan(path, record_mode(item.config), item.nodeid, settings, _command(item.nodeid, path))
    span.open()
    item.stash[SPAN] = span
    try:
        yield span
    finally:
        span.close()


@pytest.fixture(scope="session")
def openprogram_shared_recording(
    openprogram_recording_config: Mapping[str, Any], pytestconfig: pytest.Config
) -> Callable[..., AbstractContextManager[RecordingSpan]]:
    """Record the provider calls of a fixture of any scope, or replay them.

    Gives a function that returns a context manager; the calls belong inside it:

        @pytest.fixture(scope="module")
        def plan(request, openprogram_shared_recording):
            with openprogram_shared_recording(request):
                return make_plan()

    The recording is named after the fixture, or by ``name``. Every other argument is as the marker takes it.
    """

    @contextmanager
    def shared_recording(
        request: pytest.FixtureRequest, name: str | None = None, **given: Any
    ) -> Iterator[RecordingSpan]:
        from openprogram_pytest.span import RecordingSpan

        settings = base_settings(pytestconfig, openprogram_recording_config)
        settings = settings.extended(given, "openprogram_shared_recording")
        path = shared_path(request, name) if settings.path is None else request.path.parent / settings.path
        owner = f"fixture {request.fixturename} of {request.node.nodeid or 'the session'}"
        span = RecordingSpan(path, record_mode(pytestconfig), owner, settings, _command("", path))
        span.open()
        kept = False
        try:
            if span.problem is not None:
                pytest.fail(span.problem, pytrace=False)
            yield span
            span.finish()
            span.close()
            span.keep()
            kept = span.action == "record"
        finally:
            span.close()
            span.discard()
            pytestconfig.stash[FINISHED].append(span.facts(kept))

    return shared_recording


def begin_body(item: pytest.Item) -> None:
    """Fail a test that has no recording, before anything of it runs."""
    span = item.stash.get(SPAN, None)
    if span is not None and span.problem is not None:
        pytest.fail(span.problem, pytrace=False)


def end_body(item: pytest.Item) -> None:
    """End the recording with the body of a test that went well; fail the test for what is wrong with it."""
    # Looked for anew: the fixture may have been asked for only inside the body.
    span = item.stash.get(SPAN, None)
    if span is not None:
        _finish(span)


def _finish(span: RecordingSpan) -> None:
    from openprogram_core import OpenProgramError

    problem = None
    try:
        span.finish()
    except OpenProgramError as error:
        problem = str(error)
    # Out here, so that the message stands alone, without the error it came from.
    if problem is not None:
        pytest.fail(problem, pytrace=False)


def conclude(item: pytest.Item, report: pytest.TestReport) -> None:
    """Keep or discard what a test recorded, once it is all over, and put the facts into its report."""
    finished = item.config.stash[FINISHED]
    span = item.stash.get(SPAN, None)
    facts = list(finished)
    finished.clear()
    if span is not None:
        if report.outcome != "passed":
            item.stash[OUTCOME] = False
        if report.failed and (details := span.details()) and details not in str(report.longrepr):
            report.sections.append(("openprogram recording", details))
        if report.when == "teardown":
            facts.append(_settle(item, span, report))
    if facts:
        report.openprogram_recordings = facts  # type: ignore[attr-defined]  # travels with the report


def _settle(item: pytest.Item, span: RecordingSpan, report: pytest.TestReport) -> dict[str, Any]:
    kept = item.stash.get(OUTCOME, True) and span.action == "record"
    del item.stash[SPAN]
    if OUTCOME in item.stash:
        del item.stash[OUTCOME]
    try:
        if kept:
            span.keep()
    except OSError as error:
        kept = False
        report.outcome = "failed"
        report.longrepr = f"the recording {span.path} could not be replaced: {error.strerror}"
    span.discard()
    return span.facts(kept)


def _command(nodeid: str, path: Path) -> str:
    mode = "rewrite" if path.exists() else "once"
    test = f" {shlex.quote(nodeid)}" if nodeid else ""
    return f"pytest{test} --openprogram-record={mode}"
