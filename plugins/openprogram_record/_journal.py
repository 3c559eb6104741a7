"""The open recording file: whole rows at its end, whoever else writes it.

Every write happens under two locks, a thread lock and the file's own. Under the second the size of the file
says whether another process has written: its rows are read once, for the next call_index, and a torn last
row, left by a process that was killed, is cut off. A write that fails or falls short is undone.
"""

from __future__ import annotations

import errno
import os
import stat
import threading
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from openprogram_core.recordings import (
    HeaderRow,
    RecordingFileError,
    RecordingWriteError,
    RowFaultError,
    Tail,
    WriterLocks,
    call_end_row,
    count_open_events,
    parse_row,
    read_tail,
)
from openprogram_record._syncing import BackgroundSync

_FLAGS = os.O_RDWR | os.O_APPEND | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
_LONGEST_HEADER = 1 << 20
# How many rows may be written before it is asked again whether the file still stands at its path.
_PLACE_EVERY = 32


# Looked up once: each row makes these calls.
_write, _lseek, _SEEK_END = os.write, os.lseek, os.SEEK_END


class OpenCall(Protocol):
    """What the journal has to know of a call. ``ended``: no event row may follow."""

    call_index: int
    generation: int
    event_count: int
    ended: bool


class Journal:
    """One open recording. Thread-safe; survives a fork by opening the file anew in the child.

    ``generation`` is another after a fork: a call that began before belongs to the parent.
    """

    def __init__(self, path: Path, header: bytes, *, append: bool, max_row_bytes: int) -> None:
        self.path = path
        self.generation = 0
        self._max_row_bytes = max_row_bytes
        self.mutex = threading.RLock()
        self._closed = False
        self._failure: str | None = None
        self._rows_until_check = 0
        fd, created = _open(path)
        try:
            self._take(fd)
            self._identity = _identity(os.fstat(fd))
            self._tail = Tail(0)
            self._begin(header, append)
        except OSError as error:
            self._abandon(created)
            raise self._error(f"cannot be written: {_words(error)}") from error
        except BaseException:
            self._abandon(created)
            raise
        _journals.add(self)

    def _take(self, fd: int) -> None:
        self._fd = fd
        self._locks = WriterLocks(fd)
        self._sync = BackgroundSync(fd)

    def _abandon(self, created: bool) -> None:
        self._locks.leave_writers()
        os.close(self._fd)
        if created:
            self.path.unlink(missing_ok=True)

    def _begin(self, header: bytes, append: bool) -> None:
        self._locks.lock_append()
        try:
            alone = self._locks.join_writers()
            size = os.fstat(self._fd).st_size
            start = self._header_size(size)
            if start == 0:
                os.ftruncate(self._fd, 0)
                self._put(header, None)
                return
            if size > start and not append:
                raise self._error(
                    "holds calls already. Pass append=True to go on after them, or choose another path"
                )
            self._tail.end = start
            self._read_tail(size)
            if alone:
                # Their writers were killed, so nobody else will end them.
                self._end_orphans()
        finally:
            self._locks.unlock_append()

    def _header_size(self, size: int) -> int:
        """The size of the header row; 0 when there is none yet, or its writing was cut short."""
        head = os.pread(self._fd, _LONGEST_HEADER, 0) if size else b""
        line, newline, _ = head.partition(b"\n")
        torn = size == len(line) and line.startswith(b'{"type":"header",')
        if size == 0 or torn:
            return 0
        try:
            row = parse_row(line + newline)
        except RowFaultError as fault:
            raise RecordingFileError(self.path, f"is no recording: {fault.reason}", line_number=1) from None
        if not isinstance(row, HeaderRow):
            raise RecordingFileError(self.path, "is no recording: the first line is no header", line_number=1)
        return len(line) + 1

    def _end_orphans(self) -> None:
        for call_index, count in sorted(count_open_events(self._read_at, self._tail).items()):
            self._put(call_end_row(call_index, count, "abandoned"), call_index)
        self._tail.open_calls.clear()

    def begin(self, row_of: Callable[[int], bytes]) -> tuple[int, int]:
        """Write the request row that ``row_of(call_index)`` gives; returns call_index and generation.

        Raises `RecordingWriteError`; then nothing was written.
        """
        with self.mutex:
            self._check_usable()
            try:
                self._locks.lock_append()
                self._check_place()
                self._locks.rejoin_writers()
                self._catch_up()
                call_index = self._tail.next_call
                self._put(row_of(call_index), call_index)
                self._tail.next_call = call_index + 1
            except OSError as error:
                raise self._error(f"cannot be written: {_words(error)}") from error
            finally:
                self._locks.unlock_append()
            return call_index, self.generation

    def append(self, rows: bytes, call: OpenCall, events: int, *, last: bool = False) -> None:
        """Write whole rows of a call, ``events`` of them event rows; ``last`` when they end it.

        Raises `RecordingWriteError`; then none of them is on file.
        """
        with self.mutex:
            if self._closed or (call.ended and not last):
                raise self._error("the recording was closed while the call was running", call.call_index)
            if call.generation != self.generation:
                raise self._error(
                    "the call began before a fork and belongs to the parent process", call.call_index
                )
            locks = self._locks
            try:
                locks.lock_append()
                self._rows_until_check -= 1
                if last or self._rows_until_check < 0:
                    self._check_place()
                if _lseek(self._fd, 0, _SEEK_END) != self._tail.end:
                    self._catch_up()
                self._put(rows, call.call_index)
            except OSError as error:
                raise self._error(f"cannot be written: {_words(error)}", call.call_index) from error
            finally:
                locks.unlock_append()
            call.event_count += events
            if last:
                self._tail.open_calls.pop(call.call_index, None)
                self._sync.request()

    def _put(self, rows: bytes, call_index: int | None) -> None:
        size = len(rows)
        if size > self._max_row_bytes and max(map(len, rows.splitlines(True))) > self._max_row_bytes:
            raise self._error(f"a row would be longer than {self._max_row_bytes:,} bytes", call_index)
        try:
            written = _write(self._fd, rows)
        except OSError:
            self._undo()
            raise
        if written != size:
            self._undo()
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        self._tail.end += size

    def _undo(self) -> None:
        try:
            os.ftruncate(self._fd, self._tail.end)
        except OSError as error:
            self._failure = f"half a row could not be taken back: {_words(error)}"

    def _catch_up(self) -> None:
        size = os.lseek(self._fd, 0, os.SEEK_END)
        if size < self._tail.end:
            self._failure = "the file was cut while it was being written"
            raise self._error(self._failure)
        self._read_tail(size)

    def _read_tail(self, size: int) -> None:
        try:
            read_tail(self._read_at, self._tail, size)
        except RowFaultError as fault:
            self._failure = f"holds a row that is none ({fault.reason})"
            raise self._error(
                self._failure + ". 'openprogram recordings check --repair' keeps the complete calls"
            ) from None
        if self._tail.end != size:
            os.ftruncate(self._fd, self._tail.end)

    def _read_at(self, offset: int, count: int) -> bytes:
        return os.pread(self._fd, count, offset)

    def _check_usable(self) -> None:
        if self._closed:
            raise self._error("the recording was closed")
        if self._failure is not None:
            raise self._error(self._failure)
        if self._sync.error is not None:
            raise self._error(f"cannot be synced to disk: {_words(self._sync.error)}")
        if self._fd < 0:
            self._reopen()

    def _check_place(self) -> None:
        self._rows_until_check = _PLACE_EVERY
        try:
            identity = _identity(self.path.stat())
        except FileNotFoundError:
            identity = None
        if identity != self._identity:
            what = "deleted or moved" if identity is None else "replaced by another"
            self._failure = f"the file was {what} while it was being written"
            raise self._error(f"{self._failure}. Start the recording anew")

    def _error(self, reason: str, call_index: int | None = None) -> RecordingWriteError:
        return RecordingWriteError(self.path, reason, call_index=call_index)

    def _reopen(self) -> None:
        try:
            self._take(os.open(self.path, _FLAGS))
            self._locks.lock_append()
            self._locks.join_writers()
        except OSError as error:
            raise self._error(f"cannot be opened again after a fork: {_words(error)}") from error
        finally:
            self._locks.unlock_append()

    def after_fork(self) -> None:
        """Let go of what is the parent's: its locks go with the descriptor, its calls are its own."""
        self.generation += 1
        self.mutex = threading.RLock()
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def close(self) -> None:
        """Bring everything to the disk and close the file. Raises `RecordingWriteError` when that failed.

        The last writer to leave ends what others, killed meanwhile, could not.
        """
        with self.mutex:
            if self._closed:
                return
            self._closed = True
        _journals.discard(self)
        if self._fd < 0:
            return
        self._end_what_others_left()
        self._sync.close()
        self._locks.leave_writers()
        os.close(self._fd)
        self._fd = -1
        if self._sync.error is not None:
            raise self._error(f"cannot be synced to disk: {_words(self._sync.error)}")

    def _end_what_others_left(self) -> None:
        if not self._locks.working or self._failure is not None or not self.in_place:
            return
        try:
            self._locks.lock_append()
            self._catch_up()
            if self._tail.open_calls and self._locks.join_writers():
                self._end_orphans()
        except (OSError, RecordingWriteError):
            # The rows of this process are whole; the strict reader will name the call without an end.
            return
        finally:
            self._locks.unlock_append()

    @property
    def in_place(self) -> bool:
        """Whether the file still stands at its path."""
        try:
            return _identity(self.path.stat()) == self._identity
        except OSError:
            return False


def _open(path: Path) -> tuple[int, bool]:
    try:
        try:
            return os.open(path, _FLAGS | os.O_CREAT | os.O_EXCL, 0o600), True
        except FileExistsError:
            fd = os.open(path, _FLAGS)
    except IsADirectoryError:
        raise RecordingWriteError(path, "is a folder; give the path of a file") from None
    except FileNotFoundError:
        raise RecordingWriteError(path, f"the folder {path.parent} does not exist; create it") from None
    except OSError as error:
        raise RecordingWriteError(path, f"cannot be opened for writing: {_words(error)}") from error
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise RecordingWriteError(path, "is no regular file (a pipe, socket or device)")
    return fd, False


def _identity(found: os.stat_result) -> tuple[int, int]:
    return found.st_dev, found.st_ino


def _words(error: OSError) -> str:
    return error.strerror or type(error).__name__


_journals: weakref.WeakSet[Journal] = weakref.WeakSet()


def _after_fork() -> None:
    for journal in list(_journals):
        journal.after_fork()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
