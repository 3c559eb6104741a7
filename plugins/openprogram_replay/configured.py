"""Replay that is switched on by configuration: no block checks its end, so it speaks up itself."""

from __future__ import annotations

import contextlib
import os
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path

from openprogram_core import OpenProgramError
from openprogram_core.comparison import escape
from openprogram_core.providers import ApiProvider, ProviderWrapper, RuntimeSettings
from openprogram_replay.advice import ReplayWording
from openprogram_replay.errors import ReplayMismatch
from openprogram_replay.provider import REPORTED, ReplayProvider
from openprogram_replay.scope import add_report, replay_wrapper
from openprogram_replay.selection import listed


class ConfiguredReplay(ReplayProvider):
    """Adds its report to every mismatch, and tells at the end what nobody may have noticed."""

    def __init__(self, path: Path, settings: RuntimeSettings) -> None:
        """Read the recording. Raises as `ReplayProvider` does."""
        order = f"openprogram recordings replay {shlex.quote(str(path))} --order any-order"
        wording = ReplayWording(
            skip="declare it in a plugin's field_skips, or replay in a block: replaying(..., skip={})",
            any_order=order,
            missing="",
            closing=f"Replay is switched on by configuration, of {path}; "
            "'openprogram recordings off' ends it",
        )
        super().__init__(path, order=settings.order, plugins=settings.plugins, wording=wording)
        self._process = os.getpid()
        self._asked_for = False

    def wrapper(self) -> ProviderWrapper:
        """Return the wrapper to activate."""
        plain = replay_wrapper(self)

        def wrap(api: str, provider: ApiProvider | None) -> ApiProvider:
            self._asked_for = True
            return plain.wrap(api, provider)

        return ProviderWrapper(plain.name, plain.stage, wrap, plain.serves, serves_all=True, close=self.close)

    def _remember(self, error: OpenProgramError) -> None:
        super()._remember(error)
        # An agent that retries for ever is not told each time.
        if isinstance(error, ReplayMismatch) and self.failure_count <= REPORTED:
            add_report(error)
        else:
            error.add_note(self._wording.closing)

    def close(self) -> None:
        """Close the recording, and say on stderr what went wrong, if anything did; called at exit."""
        lines = list(self._shortcomings()) if self._asked_for else []
        super().close()
        self._asked_for = False
        if lines:
            # A daemon has none, and at exit there is nobody left to handle a broken one.
            with contextlib.suppress(AttributeError, OSError, ValueError):
                text = [f"openprogram: {escape(line)}\n" for line in (*lines, self._wording.closing)]
                sys.stderr.write("".join(text))
                sys.stderr.flush()

    def _shortcomings(self) -> Iterator[str]:
        first = self.first_failure
        if first is not None:
            more = self.failure_count - 1
            yield str(first) + (f" (and {more} more)" if more else "")
        left = self.calls_left
        # A forked child has its parent's recording, and not the calls its parent makes.
        if left and os.getpid() == self._process:
            total = self.calls_used + len(left)
            was = "was" if len(left) == 1 else "were"
            calls = f"recorded {'call' if total == 1 else 'calls'}"
            yield f"{len(left)} of {total} {calls} {was} not made: {listed(left)}"
