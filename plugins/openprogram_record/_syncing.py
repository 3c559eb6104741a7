"""Brings a file to the disk without making anybody wait for it."""

from __future__ import annotations

import os
import threading

_sync = getattr(os, "fdatasync", os.fsync)


class BackgroundSync:
    """Syncs one descriptor on a thread of its own, which starts with the first `request`.

    ``error`` is the last failure, None while all went well.
    """

    def __init__(self, fd: int) -> None:
        self.error: OSError | None = None
        self._fd = fd
        self._condition = threading.Condition()
        self._wanted = False
        self._stopped = False
        self._thread: threading.Thread | None = None

    def request(self) -> None:
        """Have everything written so far brought to the disk soon. Returns at once."""
        if self._wanted:
            # The sync that is due has not begun, so it will bring this too.
            return
        with self._condition:
            self._wanted = True
            if self._thread is None and not self._stopped:
                # A daemon: the interpreter must not wait for it before it runs what closes the file.
                thread = threading.Thread(target=self._run, name="openprogram-record-sync", daemon=True)
                try:
                    thread.start()
                except RuntimeError:
                    # No thread can start any more; close() does what is left.
                    return
                self._thread = thread
            self._condition.notify()

    def close(self) -> None:
        """Sync what is left and wait for the thread. The descriptor may be closed afterwards."""
        with self._condition:
            self._stopped = True
            self._condition.notify()
            thread = self._thread
        if thread is not None:
            thread.join()
        if self._wanted:
            self._wanted = False
            self._sync()

    def _run(self) -> None:
        while True:
            with self._condition:
                while not self._wanted and not self._stopped:
                    self._condition.wait()
                if not self._wanted:
                    return
                self._wanted = False
            self._sync()

    def _sync(self) -> None:
        try:
            _sync(self._fd)
        except OSError as error:
            self.error = error
