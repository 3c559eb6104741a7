"""What becomes of a test's recording: it ends with the test, is kept when the test passed, and is counted."""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING, Any

import pytest

from openprogram_pytest.failures import details_of, put_first

if TYPE_CHECKING:
    from openprogram_pytest.span import RecordingSpan

SPAN: pytest.StashKey[RecordingSpan] = pytest.StashKey()
FAILED: pytest.StashKey[bool] = pytest.StashKey()
FINISHED: pytest.StashKey[list[dict[str, Any]]] = pytest.StashKey()
"""Facts of recordings that have ended, until a report takes them along."""

_NAME = "openprogram_pytest_outcomes"


class Outcomes:
    """The hooks around every test; registered only when a test has a recording: others pay nothing."""

    def __init__(self) -> None:
        self.unsettled: list[RecordingSpan] = []

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, Any, Any]:
        """End a test's recording with the test, so that what is wrong with it fails the test."""
        _begin_body(item)
        result = yield
        _end_body(item)
        return result

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Keep what a test recorded when it passed, and let its report carry the facts."""
        report = yield
        span = item.stash.get(SPAN, None)
        if report.failed and call.excinfo is not None:
            put_first(report, details_of(call.excinfo.value))
        if span is not None:
            self._conclude(item, span, report)
        _attach_facts(item.config, report)
        return report

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self) -> None:
        """Discard what an interrupted test has recorded."""
        for span in self.unsettled:
            span.close()
            span.discard()

    def _conclude(self, item: pytest.Item, span: RecordingSpan, report: pytest.TestReport) -> None:
        if report.when == "call" and report.outcome == "passed" and not span.finished:
            # The fixture was asked for inside the test, when the hook around it was not there yet.
            problem = span.problem or finished(span)
            if problem is not None:
                report.outcome, report.longrepr = "failed", problem
        if report.outcome != "passed":
            item.stash[FAILED] = True
        if report.failed:
            put_first(report, span.details())
        if report.when == "teardown":
            self._settle(item, span, report)

    def _settle(self, item: pytest.Item, span: RecordingSpan, report: pytest.TestReport) -> None:
        """Keep or discard what was recorded, now that everything is over."""
        kept = FAILED not in item.stash and span.action == "record"
        del item.stash[SPAN]
        if FAILED in item.stash:
            del item.stash[FAILED]
        try:
            if kept:
                span.keep()
        except OSError as error:
            kept = False
            report.outcome = "failed"
            report.longrepr = f"the recording {span.path} could not be replaced: {error.strerror}"
        span.discard()
        self.unsettled.remove(span)
        item.config.stash[FINISHED].append(span.facts(kept))


def watch_test(item: pytest.Item, span: RecordingSpan) -> None:
    """Let a test's recording end with the test, and be kept when it has passed."""
    item.stash[SPAN] = span
    outcomes_of(item.config).unsettled.append(span)


def outcomes_of(config: pytest.Config) -> Outcomes:
    """Return the `Outcomes` of a run, registered if that has not happened."""
    registered = config.pluginmanager.get_plugin(_NAME)
    if isinstance(registered, Outcomes):
        return registered
    outcomes = Outcomes()
    config.pluginmanager.register(outcomes, _NAME)
    return outcomes


def _attach_facts(config: pytest.Config, report: pytest.TestReport) -> None:
    finished = config.stash[FINISHED]
    if finished:
        report.openprogram_recordings = list(finished)  # type: ignore[attr-defined]  # travels with the report
        finished.clear()


def _begin_body(item: pytest.Item) -> None:
    """Fail a test that has no recording, before anything of it runs."""
    span = item.stash.get(SPAN, None)
    if span is not None and span.problem is not None:
        pytest.fail(span.problem, pytrace=False)


def _end_body(item: pytest.Item) -> None:
    """End the recording with the body of a test that went well; fail the test for what is wrong with it."""
    span = item.stash.get(SPAN, None)
    problem = finished(span) if span is not None else None
    if problem is not None:
        pytest.fail(problem, pytrace=False)


def finished(span: RecordingSpan) -> str | None:
    """End a recording after what went well; returns what is wrong with it, or None."""
    from openprogram_core import OpenProgramError

    try:
        span.finish()
    except OpenProgramError as error:
        return str(error)
    return None
