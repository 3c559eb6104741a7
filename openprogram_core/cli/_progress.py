"""A sign of life on stderr for what takes longer than a second."""

from __future__ import annotations

import sys
import threading
import time
from types import TracebackType

from openprogram_core.cli._output import is_terminal, printable, say

PATIENCE_S = 1.0
REFRESH_S = 0.25


class Progress:
    """Says on stderr what is going on, from the first second on; silent when it is done sooner.

    ``total`` is the amount of work, in any unit; `update` says how much is done, and without it only the
    seconds are shown. On a terminal one line is rewritten and wiped at the end; elsewhere it is one line.

    >>> with Progress("Reading", total=3) as progress:
    ...     for done in range(3):
    ...         progress.update(done + 1)
    """

    def __init__(self, what: str, total: int | None = None) -> None:
        self._what = printable(what)
        self._total = total
        self._done = 0
        self._left = threading.Event()
        self._shown = False
        self._began = 0.0
        self._thread = threading.Thread(target=self._run, daemon=True)

    def update(self, done: int) -> None:
        """Say how much of ``total`` is done."""
        self._done = done

    def __enter__(self) -> Progress:
        self._began = time.monotonic()
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._left.set()
        self._thread.join()
        if self._shown and is_terminal(sys.stderr):
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()

    def _run(self) -> None:
        if self._left.wait(PATIENCE_S):
            return
        self._shown = True
        if not is_terminal(sys.stderr):
            say(f"{self._what} ...")
            return
        while not self._left.wait(REFRESH_S):
            sys.stderr.write(f"\r{self._what} {self._amount()}\x1b[K")
            sys.stderr.flush()

    def _amount(self) -> str:
        if self._total:
            return f"{min(100, 100 * self._done // self._total)} %"
        return f"{int(time.monotonic() - self._began)} s"
