"""Who may write a recording now, and whether anybody does.

A recording has no lock file beside it. Two bytes far behind the end of any file are locked instead, which
the kernel allows and which nobody reads or writes:

* ``APPEND_AT``, exclusively, for the moment in which a row is written;
* ``WRITERS_AT``, shared, for as long as a writer has the file open. `is_being_written` asks whether anybody
  holds it; the kernel drops it when the writer's process ends, however it ends.

On Linux both are open-file-description locks: they belong to the open file, so that threads exclude each
other too and closing another descriptor of the same file drops nothing. A fork shares them with its child,
whose unlock would be the parent's: a child has to open the file anew. Other systems with ``fcntl`` have
process-owned locks, which the process loses when it closes any descriptor of the file (reading a recording
while it writes it); they are taken again at each call. Without ``fcntl`` (Windows) one process at a time may
write a recording, and the system itself refuses to delete a file that is open. Where the disk knows no locks
at all (some network disks), it is the same, and nothing refuses.
"""

from __future__ import annotations

import errno
import os
import struct
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

try:
    import fcntl as _fcntl
except ImportError:
    _fcntl = None  # type: ignore[assignment]  # Windows has none

fcntl: Any = _fcntl

APPEND_AT = 1 << 62
WRITERS_AT = APPEND_AT + 1

_own_lock = threading.Lock()
_own: dict[tuple[int, int], int] = {}


_FLOCK = "hhqqi4x"

LONGEST_WAIT_S = 10.0
"""How long to wait for another process that writes a row; that takes it microseconds."""

_HELD = (errno.EAGAIN, errno.EACCES)


def _flock(kind: int, at: int) -> bytes:
    # struct flock: type, whence, start, length, pid. Python knows these locks on Linux alone.
    return struct.pack(_FLOCK, kind, os.SEEK_SET, at, 1, 0)


_OWNED_BY_FILE = hasattr(fcntl, "F_OFD_SETLKW")


def _nothing() -> None:
    """There are no locks to take."""


def _patiently(take: Callable[[], object]) -> None:
    """Take a lock that others hold for moments. Raises OSError when somebody keeps it: it may be stopped."""
    deadline, pause = None, 0.0001
    while True:
        try:
            take()
            return
        except OSError as error:
            if error.errno not in _HELD:
                raise
        now = time.monotonic()
        if deadline is None:
            deadline = now + LONGEST_WAIT_S
        elif now > deadline:
            raise OSError(
                errno.ETIMEDOUT,
                f"another process has kept its lock for {LONGEST_WAIT_S:.0f} s; is it stopped?",
            )
        time.sleep(pause)
        pause = min(pause * 2, 0.01)


def _append_locks(fd: int) -> tuple[Callable[[], object], Callable[[], object]]:
    # Built once: each row takes and gives the lock.
    if fcntl is None:
        return _nothing, _nothing
    if _OWNED_BY_FILE:
        take = partial(fcntl.fcntl, fd, fcntl.F_OFD_SETLK, _flock(fcntl.F_WRLCK, APPEND_AT))
        return (
            partial(_patiently, take),
            partial(fcntl.fcntl, fd, fcntl.F_OFD_SETLKW, _flock(fcntl.F_UNLCK, APPEND_AT)),
        )
    return (
        partial(_patiently, partial(fcntl.lockf, fd, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, APPEND_AT)),
        partial(fcntl.lockf, fd, fcntl.LOCK_UN, 1, APPEND_AT),
    )


class WriterLocks:
    """The locks of one open recording, taken through its descriptor.

    ``lock_append()`` waits until no other process writes a row, ``unlock_append()`` lets others write;
    both raise OSError. ``working`` is False where the system or the disk has no locks; then nothing is
    locked.
    """

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._identity: tuple[int, int] | None = None
        self.working = True
        self.lock_append, self.unlock_append = _append_locks(fd)
        try:
            self.lock_append()
            self.unlock_append()
        except OSError as error:
            if error.errno == errno.ETIMEDOUT:
                raise
            # The disk knows no locks, or its lock service is away. A fault of the file shows in the writing.
            self.lock_append = self.unlock_append = _nothing
        self.working = self.lock_append is not _nothing

    def join_writers(self) -> bool:
        """Become a writer of the file; returns whether there is no other. Call it under `lock_append`."""
        if self._identity is None:
            found = os.fstat(self._fd)
            self._identity = (found.st_dev, found.st_ino)
            with _own_lock:
                _own[self._identity] = _own.get(self._identity, 0) + 1
        if not self.working:
            return True
        alone = self._try_lock(exclusive=True)
        self._try_lock(exclusive=False)
        return alone

    def alone(self) -> bool:
        """Whether this is surely the only writer of the file. Changes nothing."""
        if not _OWNED_BY_FILE or not self.working:
            return False
        answer = fcntl.fcntl(self._fd, fcntl.F_OFD_GETLK, _flock(fcntl.F_WRLCK, WRITERS_AT))
        return bool(struct.unpack(_FLOCK, answer)[0] == fcntl.F_UNLCK)

    def rejoin_writers(self) -> None:
        """Take the writer's lock again where the process may have lost it. Call it under `lock_append`."""
        if not _OWNED_BY_FILE:
            self.join_writers()

    def leave_writers(self) -> None:
        """Say that this writer is about to close the file, which drops its locks."""
        with _own_lock:
            identity, self._identity = self._identity, None
            if identity is not None:
                _own[identity] = _own.get(identity, 1) - 1
                if _own[identity] <= 0:
                    del _own[identity]

    def _try_lock(self, *, exclusive: bool) -> bool:
        try:
            if _OWNED_BY_FILE:
                kind = fcntl.F_WRLCK if exclusive else fcntl.F_RDLCK
                fcntl.fcntl(self._fd, fcntl.F_OFD_SETLK, _flock(kind, WRITERS_AT))
            else:
                mode = fcntl.LOCK_EX if exclusive else fcntl.LOCK_SH
                fcntl.lockf(self._fd, mode | fcntl.LOCK_NB, 1, WRITERS_AT)
        except OSError as error:
            if error.errno in (errno.EAGAIN, errno.EACCES):
                return False
            raise
        return True


def is_being_written(path: str | os.PathLike[str]) -> bool:
    """Whether a living process, this one included, has the recording at ``path`` open for writing.

    False for a file that is not there or cannot be opened, and where the system has no locks to ask.
    """
    try:
        found = Path(path).stat()
        with _own_lock:
            if (found.st_dev, found.st_ino) in _own:
                return True
        if fcntl is None:
            return False
        fd = os.open(path, (os.O_RDONLY if _OWNED_BY_FILE else os.O_RDWR) | os.O_NONBLOCK)
    except OSError:
        return False
    try:
        if _OWNED_BY_FILE:
            answer = fcntl.fcntl(fd, fcntl.F_OFD_GETLK, _flock(fcntl.F_WRLCK, WRITERS_AT))
            return bool(struct.unpack(_FLOCK, answer)[0] != fcntl.F_UNLCK)
        fcntl.lockf(fd, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, WRITERS_AT)
    except OSError as error:
        return error.errno in (errno.EAGAIN, errno.EACCES)
    finally:
        os.close(fd)
    return False


def _forget_own() -> None:
    global _own_lock
    # The parent writes these files; a forked child opens its own.
    _own_lock = threading.Lock()
    _own.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_own)
