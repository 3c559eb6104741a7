"""What the run's recordings came to, in the terminal summary; under xdist, that of all workers together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import pytest

from openprogram_pytest.claims import is_shared

_SHOWN_ORPHANS = 20


class Summary:
    """Adds up the facts that test reports bring along."""

    def __init__(self) -> None:
        self._numbers: Counter[str] = Counter()
        self._paths: dict[str, set[str]] = {}
        self._orphans: set[str] = set()

    def add_report(self, report: pytest.TestReport) -> None:
        """Take in what a test's report brought, from whichever process."""
        for facts in getattr(report, "openprogram_recordings", ()):
            action = facts["action"]
            self._paths.setdefault(action, set()).add(facts["path"])
            self._numbers["replayed"] += facts["replayed_calls"]
            self._numbers["live"] += facts["live_calls"]
            self._numbers["saved" if action == "replay" else "spent"] += facts["tokens"]

    def add_orphans(self, paths: Iterable[str]) -> None:
        """Take in recordings that no collected test claims."""
        self._orphans.update(paths)

    def write(self, terminal: pytest.TerminalReporter, *, whole_run: bool) -> None:
        """Write the section, when there is anything to say.

        ``whole_run``: every test ran and none failed, so that what was not used is not needed.
        """
        lines = list(self._lines(terminal.config.invocation_params.dir, whole_run))
        if lines:
            terminal.write_sep("=", "openprogram recordings")
            for line in lines:
                terminal.write_line(line)

    def _lines(self, base: Path, whole_run: bool) -> Iterable[str]:
        used = len(self._paths.get("replay", ()))
        if self._paths:
            yield (
                f"{_count(used, 'recording')} used, {_count(self._numbers['replayed'], 'call')} replayed, "
                f"{_count(self._numbers['live'], 'live call')}, "
                f"{_count(self._numbers['saved'], 'token')} saved"
            )
        if self._numbers["spent"]:
            yield f"{_count(self._numbers['spent'], 'token')} spent on live calls"
        for action, words in (
            ("record", "made"),
            ("dropped", "not kept, the test did not pass"),
        ):
            if action in self._paths:
                yield f"{_count(len(self._paths[action]), 'recording')} {words}:"
                yield from (f"  {_relative(path, base)}" for path in sorted(self._paths[action]))
        missing = len(self._paths.get("missing", ()))
        if missing:
            yield (
                f"{_count(missing, 'test')} without a recording; "
                "--openprogram-record=once records what is missing, with live calls"
            )
        broken = len(self._paths.get("broken", ()))
        if broken:
            yield (
                f"{_count(broken, 'recording')} that cannot be read; "
                "--openprogram-record=rewrite makes them anew, with live calls"
            )
        yield from self._orphan_lines(base, whole_run)

    def _orphan_lines(self, base: Path, whole_run: bool) -> Iterable[str]:
        used = {path for paths in self._paths.values() for path in paths}
        orphans = sorted(path for path in self._orphans - used if whole_run or not is_shared(Path(path)))
        if orphans:
            yield f"{_count(len(orphans), 'recording')} without a test, to delete or rename:"
            yield from (f"  {_relative(path, base)}" for path in orphans[:_SHOWN_ORPHANS])
            if len(orphans) > _SHOWN_ORPHANS:
                yield f"  and {len(orphans) - _SHOWN_ORPHANS} more"


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" + ("" if number == 1 else "s")


def _relative(path: str, base: Path) -> str:
    try:
        return str(Path(path).relative_to(base))
    except ValueError:
        return path
