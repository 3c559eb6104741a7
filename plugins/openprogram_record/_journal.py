"""The open recording file: whole rows at its end, whoever else writes it.

Threads take turns by a lock of the process, processes by the file's own. Under that one the size of the file
says whether another process has written: its rows are read once, for the next call_index, and a torn last
row, left by a process that was killed, is cut off. A write that falls short is taken back.

A writer that has found itself alone need not take the file's lock for the events of the next
``_LOOK_EVERY_S``; who joins others waits much longer than that before its first write, and by then everybody
takes the lock. Rows are whole either way, since the file is open for appending and each row is one write;
what the lock adds is that nobody cuts or counts while another writes. Requests and ends always take it.
"""

from __future__ import annotations

import errno
import os
import threading
import time
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn, Protocol

from openprogram_core.recordings import (
    EventsSoFar,
    Outcome,
    RecordingWriteError,
    RowFaultError,
    Tail,
    WriterLocks,
    call_end_row,
    is_whole_row,
    read_open_calls,
    read_tail,
    repair_advice,
)
from openprogram_record._opening import (
    header_size,
    identity,
    open_for_appending,
    read_at,
    renewed_header,
    reopen,
    words,
)
from openprogram_record._syncing import BackgroundSync

_LOOK_EVERY_S = 0.005
_JOIN_WAIT_S = 0.05

# Looked up once: each row makes these calls.
_write, _lseek, _SEEK_CUR, _now = os.write, os.lseek, os.SEEK_CUR, time.monotonic


class OpenCall(Protocol):
    """What the journal has to know of a call. ``ended``: no event row may follow. ``offset`` is where its
    request stands. ``unsure``: a row was perhaps written and not counted, because the exception of a signal
    handler came between; then the file is asked.
    """

    call_index: int
    generation: int
    offset: int
    event_count: int
    unsure: bool
    ended: bool


class Journal:
    """One open recording. Thread-safe; survives a fork by opening the file anew in the child.

    ``generation`` is another after a fork, and once it is closed: a call of an earlier one is not written.
    ``users`` is its owner's count of those who share it.
    """

    def __init__(self, path: Path, header: bytes, *, append: bool, max_row_bytes: int) -> None:
        self.path = path
        self.generation = 0
        self.users = 0
        self.mutex = threading.RLock()
        self._max_row_bytes = max_row_bytes
        self._closed = False
        self._failure: str | None = None
        self._tail = Tail(0)
        self._unclaimed: dict[int, int] = {}
        fd, created = open_for_appending(path)
        try:
            self._take(fd)
        except OSError as error:
            raise self._error(f"cannot be written: {words(error)}") from error
        try:
            self._identity = identity(os.fstat(fd))
            self._begin_file(header, append)
        except BaseException as error:
            self._locks.leave_writers()
            if created and os.fstat(fd).st_size == 0:
                path.unlink(missing_ok=True)
            os.close(fd)
            if isinstance(error, OSError):
                raise self._error(f"cannot be written: {words(error)}") from error
            raise
        _journals.add(self)

    def _take(self, fd: int) -> None:
        try:
            self._locks = WriterLocks(fd)
        except OSError:
            os.close(fd)
            raise
        self._fd = fd
        self._lock, self._unlock = self._locks.lock_append, self._locks.unlock_append
        self._sync = BackgroundSync(fd)
        self._alone = False
        self._look_at = 0.0

    def _join(self) -> bool:
        """Become a writer; returns whether there is no other."""
        self._lock()
        try:
            alone = self._locks.join_writers()
        finally:
            self._unlock()
        if not alone:
            # By then whoever was alone before has looked again.
            time.sleep(_JOIN_WAIT_S)
        return alone

    def _begin_file(self, header: bytes, append: bool) -> None:
        alone = self._join()
        self._lock()
        try:
            size = os.fstat(self._fd).st_size
            start = header_size(self._fd, self.path, size)
            if start == 0:
                os.ftruncate(self._fd, 0)
                self._put(header, None)
                return
            if size > start and not append:
                raise self._error(
                    "holds calls already. Delete it to record anew, or pass append=True to go on after them"
                )
            self._tail.end = start
            if size == start and self._locks.join_writers():
                size = self._renew_header(header)
            self._read_tail(size)
            if alone:
                # Their writers were killed, so nobody else will end them.
                self._end_orphans()
        finally:
            self._unlock()

    def _renew_header(self, header: bytes) -> int:
        """Say in the header of a file that holds nothing else who records into it; returns its size.

        ``openprogram recordings record`` makes the file without knowing the rules. Nobody else may have it
        open, since whoever has counts on its size.
        """
        old = self._read_at(0, self._tail.end)
        fresh = renewed_header(old, header)
        self._check_length(fresh, None)
        if fresh != old:
            os.ftruncate(self._fd, 0)
            self._tail.end = 0
            try:
                self._put(fresh, None)
            except OSError:
                # The header only tells; what was there has room where it stood.
                self._put(old, None)
        return self._tail.end

    def begin(self, row_of: Callable[[int], bytes]) -> tuple[int, int, int]:
        """Write the request row that ``row_of(call_index)`` gives; returns call_index, generation and offset.

        The call is nobody's until `claim` is called. Raises `RecordingWriteError`; then nothing was written.
        """
        with self.mutex:
            self._check_usable()
            offset = None
            try:
                self._lock()
                self._locks.rejoin_writers()
                self._look_when_due()
                self._catch_up()
                call_index, offset = self._tail.next_call, self._tail.end
                self._unclaimed[call_index] = offset
                self._put(row_of(call_index), call_index)
                self._tail.next_call = call_index + 1
            except OSError as error:
                raise self._error(f"cannot be written: {words(error)}") from error
            except BaseException:
                if offset is not None:
                    # Whatever was written is read again before the next row.
                    self._tail.end, self._alone = offset, False
                raise
            finally:
                self._unlock()
            return call_index, self.generation, offset

    def claim(self, call_index: int) -> None:
        """Say that somebody will end the call."""
        with self.mutex:
            self._unclaimed.pop(call_index, None)
            self._tail.open_calls.pop(call_index, None)

    def append(self, rows: bytes, call: OpenCall, events: int) -> None:
        """Write the whole rows of ``events`` events of a call.

        Raises `RecordingWriteError`; then none of them is on file.
        """
        # The one path on which speed counts, so it stands here without the calls that others make.
        with self.mutex:
            if call.ended or call.generation != self.generation:
                raise self._refusal(call)
            free = self._alone and _now() < self._look_at
            call.unsure = True
            try:
                if not free:
                    self._lock()
                    self._look_when_due()
                    self._catch_up()
                size = len(rows)
                if size > self._max_row_bytes:
                    self._check_length(rows, call.call_index)
                written = _write(self._fd, rows)
                if written != size:
                    self._take_back(written)
                end = _lseek(self._fd, 0, _SEEK_CUR)
                if end != self._tail.end + size:
                    self._take_in_others(end - size)
                self._tail.end = end
            except OSError as error:
                self._alone = False
                raise self._error(f"cannot be written: {words(error)}", call.call_index) from error
            except BaseException:
                # Perhaps between the write and the count of it: the next row looks at the file's size.
                self._alone = False
                raise
            finally:
                if not free:
                    self._unlock()
            call.event_count += events
            call.unsure = False

    def look_back(self, call: OpenCall) -> EventsSoFar | None:
        """Read the rows of a call from the file; None when its end is among them.

        Raises `RecordingWriteError`.
        """
        with self.mutex:
            self._check_usable()
            try:
                self._lock()
                self._catch_up()
                seen = Tail(call.offset)
                read_tail(self._read_at, seen, self._tail.end)
                if call.call_index not in seen.open_calls:
                    self.claim(call.call_index)
                    return None
                seen.open_calls = {call.call_index: call.offset}
                return read_open_calls(self._read_at, seen)[call.call_index]
            except OSError as error:
                raise self._error(f"cannot be read: {words(error)}", call.call_index) from error
            finally:
                self._unlock()

    def finish(self, rows: bytes, call: OpenCall) -> None:
        """Write the rows that end a call, and have everything brought to the disk soon.

        Raises `RecordingWriteError`; then none of them is on file.
        """
        with self.mutex:
            if call.generation != self.generation:
                raise self._refusal(call)
            try:
                self._lock()
                self._look_when_due()
                self._catch_up()
                call.unsure = True
                self._put(rows, call.call_index)
            except OSError as error:
                raise self._error(f"cannot be written: {words(error)}", call.call_index) from error
            finally:
                self._unlock()
            self.claim(call.call_index)
            self._sync.request()

    def _put(self, rows: bytes, call_index: int | None) -> None:
        self._check_length(rows, call_index)
        written = _write(self._fd, rows)
        if written != len(rows):
            self._take_back(written)
        end = _lseek(self._fd, 0, _SEEK_CUR)
        if end != self._tail.end + written:
            self._take_in_others(end - written)
        self._tail.end = end

    def _take_in_others(self, size: int) -> None:
        """Read what another process wrote before the row just written, which began at ``size``.

        It happens when this process was stopped between its look and its write for longer than who joins
        waits. The rows of both are whole; only what is known of the file's end was wrong.
        """
        self._alone = False
        self._lock()
        try:
            self._read_tail(size, may_cut=False)
        finally:
            self._unlock()
        if self._tail.end != size:
            self._failure = "another program wrote something without a newline into the file"
            raise self._error(
                self._failure + ". 'openprogram recordings check --repair' keeps the complete calls"
            )

    def _take_back(self, written: int) -> NoReturn:
        """Undo a write that fell short. Raises OSError."""
        self._lock()
        try:
            if os.lseek(self._fd, 0, os.SEEK_END) == self._tail.end + written:
                os.ftruncate(self._fd, self._tail.end)
            else:
                self._failure = "half a row could not be taken back: another process wrote after it"
        finally:
            # A writer that was alone had not taken it, and whoever had may give it twice.
            self._unlock()
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def _look_when_due(self) -> None:
        if _now() >= self._look_at:
            self._look()

    def _look(self) -> None:
        """See whether the file still stands at its path, and whether anybody else writes it."""
        # The time before the look, so that the answer is never older than it seems.
        began = _now()
        try:
            found = identity(os.stat(self.path))  # noqa: PTH116  # Path.stat costs twice as much
        except FileNotFoundError:
            found = None
        if found != self._identity:
            what = "deleted or moved" if found is None else "replaced by another"
            self._failure = f"the file was {what} while it was being written"
            self._look_at, self._alone = 0.0, False
            raise self._error(f"{self._failure}. Start the recording anew")
        self._alone = self._locks.alone()
        self._look_at = began + _LOOK_EVERY_S

    def _catch_up(self) -> None:
        size = os.lseek(self._fd, 0, os.SEEK_END)
        if size == self._tail.end:
            return
        if size < self._tail.end:
            self._failure = "the file was cut while it was being written"
            raise self._error(self._failure)
        self._read_tail(size)

    def _read_tail(self, size: int, *, may_cut: bool = True) -> None:
        try:
            read_tail(self._read_at, self._tail, size)
        except RowFaultError as fault:
            self._failure = f"holds a row that is none ({fault.reason})"
            raise self._error(f"{self._failure}. {repair_advice(self.path)}") from None
        if may_cut and self._tail.end != size:
            if is_whole_row(self._read_at(self._tail.end, size - self._tail.end)):
                # Only the newline is missing: an editor or a filter took it.
                self._read_tail(size + _write(self._fd, b"\n"))
            else:
                os.ftruncate(self._fd, self._tail.end)

    def _read_at(self, offset: int, count: int) -> bytes:
        return read_at(self._fd, offset, count)

    def _end_orphans(self) -> None:
        for call_index, events in sorted(read_open_calls(self._read_at, self._tail).items()):
            outcome: Outcome = "complete" if events.terminal else "abandoned"
            self._put(call_end_row(call_index, events.number, outcome), call_index)
        self._tail.open_calls.clear()

    def _check_usable(self) -> None:
        if self._closed:
            raise self._error("the recording was closed")
        if self._failure is not None:
            raise self._error(self._failure)
        if self._sync.error is not None:
            raise self._error(f"cannot be synced to disk: {words(self._sync.error)}")
        if self._fd < 0:
            try:
                self._take(reopen(self.path))
                self._join()
            except OSError as error:
                raise self._error(f"cannot be opened again after a fork: {words(error)}") from error

    def _check_length(self, rows: bytes, call_index: int | None) -> None:
        if len(rows) > self._max_row_bytes and max(map(len, rows.splitlines(True))) > self._max_row_bytes:
            raise self._error(f"a row would be longer than {self._max_row_bytes:,} bytes", call_index)

    def _refusal(self, call: OpenCall) -> RecordingWriteError:
        if call.ended or self._closed:
            reason = "the recording was closed while the call was running"
        else:
            reason = "the call began before a fork and belongs to the parent process"
        return self._error(reason, call.call_index)

    def _error(self, reason: str, call_index: int | None = None) -> RecordingWriteError:
        return RecordingWriteError(self.path, reason, call_index=call_index)

    def after_fork(self) -> None:
        """Let go of what is the parent's: its locks go with the descriptor, its calls are its own."""
        self.generation += 1
        self.mutex = threading.RLock()
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    @property
    def in_place(self) -> bool:
        """Whether it is open and the file still stands at its path."""
        try:
            return not self._closed and identity(self.path.stat()) == self._identity
        except OSError:
            return False

    def close(self) -> None:
        """Bring everything to the disk and close the file. Raises `RecordingWriteError` when that failed.

        The last writer to leave ends what others, killed meanwhile, could not.
        """
        with self.mutex:
            if self._closed:
                return
            self._closed = True
            self.generation += 1
        _journals.discard(self)
        if self._fd < 0:
            return
        self._end_what_others_left()
        self._sync.close()
        self._locks.leave_writers()
        os.close(self._fd)
        self._fd = -1
        if self._sync.error is not None:
            raise self._error(f"cannot be synced to disk: {words(self._sync.error)}")

    def _end_what_others_left(self) -> None:
        if not self._locks.working or self._failure is not None:
            return
        try:
            self._lock()
            self._look()
            self._catch_up()
            for call_index, offset in self._unclaimed.items():
                # Begun, and its beginner was interrupted before or after the row was written.
                head = b'{"type":"request","call_index":%d,' % call_index
                if self._read_at(offset, len(head)) == head:
                    self._tail.open_calls.setdefault(call_index, offset)
            if self._tail.open_calls and self._locks.join_writers():
                self._end_orphans()
        except (OSError, RecordingWriteError):
            # The rows of this process are whole; the strict reader will name the call without an end.
            return
        finally:
            self._unlock()


_journals: weakref.WeakSet[Journal] = weakref.WeakSet()


def _after_fork() -> None:
    for journal in list(_journals):
        journal.after_fork()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
