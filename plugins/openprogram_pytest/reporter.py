"""Brings what every process counted to the one that writes the summary."""

from __future__ import annotations

from typing import Any

import pytest

from openprogram_pytest.claims import Claims
from openprogram_pytest.summary import Summary

_ORPHANS = "openprogram_orphans"
_NARROWED = "openprogram_narrowed"


class Reporter:
    """The hooks that need to know their run: one instance for each."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._summary = Summary()
        self._narrowed = False

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take in what a test's report brought along; under xdist it came from a worker."""
        self._summary.add_report(report)

    def pytest_deselected(self) -> None:
        """Note that not every test runs."""
        self._narrowed = True

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Look for recordings without a test; under xdist, hand what was found to the controller."""
        claims = self._config.stash[Claims.KEY]
        orphans = [str(path) for path in claims.orphans()] if _collects_all(self._config) else []
        output: dict[str, Any] | None = getattr(self._config, "workeroutput", None)
        if output is not None:
            output[_ORPHANS] = orphans
            output[_NARROWED] = self._narrowed
        self._summary.add_orphans(orphans)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Take in what a worker of xdist found; a worker that crashed has nothing to say."""
        output: dict[str, Any] = getattr(node, "workeroutput", {})
        self._summary.add_orphans(output.get(_ORPHANS, ()))
        self._narrowed = self._narrowed or output.get(_NARROWED, False)

    def pytest_terminal_summary(
        self, terminalreporter: pytest.TerminalReporter, exitstatus: int, config: pytest.Config
    ) -> None:
        """Write the summary."""
        if not config.option.collectonly:
            self._summary.write(terminalreporter, whole_run=exitstatus == 0 and not self._narrowed)


def _collects_all(config: pytest.Config) -> bool:
    # A test's id as argument, and --last-failed, leave tests of a module out before anybody sees them.
    return not any("::" in argument for argument in config.args) and not config.getoption("lf", False)
