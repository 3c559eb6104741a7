"""The fixtures: one for a test's own recording, one for those of other fixtures, one for the settings."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from openprogram_pytest.claims import Claims
from openprogram_pytest.failures import explain_error
from openprogram_pytest.naming import recording_path, shared_path
from openprogram_pytest.outcomes import FINISHED, finished, outcomes_of, watch_test
from openprogram_pytest.settings import base_settings, item_settings, record_mode

if TYPE_CHECKING:
    from openprogram_pytest.span import RecordingSpan


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
    _open(span)
    watch_test(item, span)
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

    made: set[Path] = set()

    @contextmanager
    def shared_recording(
        request: pytest.FixtureRequest, name: str | None = None, **given: Any
    ) -> Iterator[RecordingSpan]:
        from openprogram_pytest.span import RecordingSpan

        settings = base_settings(pytestconfig, openprogram_recording_config)
        settings = settings.extended(given, "openprogram_shared_recording")
        path = shared_path(request, name) if settings.path is None else request.path.parent / settings.path
        owner = f"fixture {request.fixturename} of {request.node.nodeid or 'the session'}"
        # A fixture that is set up anew for every test records once a run and replays after that.
        mode = "once" if path in made else record_mode(pytestconfig)
        command = _command(request.node.nodeid, path)
        asked_by = "openprogram_shared_recording(request, "
        span = RecordingSpan(path, mode, owner, settings, command, asked_by)
        _open(span)
        kept = False
        try:
            if span.problem is not None:
                pytest.fail(span.problem, pytrace=False)
            yield span
            if problem := finished(span):
                pytest.fail(problem, pytrace=False)
            span.close()
            span.keep()
            kept = span.action == "record"
            if kept:
                made.add(path)
        except Exception as error:
            explain_error(error, span.details())
            raise
        finally:
            span.close()
            span.discard()
            pytestconfig.stash[FINISHED].append(span.facts(kept))
            outcomes_of(pytestconfig)

    return shared_recording


def _open(span: RecordingSpan) -> None:
    from openprogram_core import OpenProgramError

    try:
        span.open()
    except (OpenProgramError, OSError) as error:
        problem = str(error)
    else:
        return
    pytest.fail(problem, pytrace=False)


def _command(nodeid: str, path: Path) -> str:
    mode = "rewrite" if path.exists() else "once"
    test = f" {shlex.quote(nodeid)}" if nodeid else ""
    return f"pytest{test} --openprogram-record={mode}"
