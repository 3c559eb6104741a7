"""Opens a recording: the whole file is checked, an index of its calls is kept, the file is not."""

from __future__ import annotations

import os
import re
import threading
import weakref
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, NoReturn, overload

from openprogram_core.errors import RecordingFileError
from openprogram_core.providers.events import AssistantMessageEvent
from openprogram_core.recordings.call_index import CallFacts, CallIndex
from openprogram_core.recordings.lines import BUFFER_BYTES, open_regular, read_lines, repair_advice
from openprogram_core.recordings.parsing import (
    EndRow,
    EventRow,
    RequestRow,
    Row,
    RowFaultError,
    build_event,
    load_event,
    parse_row,
)
from openprogram_core.recordings.rows import MAX_ROW_BYTES, Outcome, event_row_head
from openprogram_core.recordings.scanning import RecordingScanner

_request_head = re.compile(
    rb'\{"type":"request","call_index":[0-9]+,(?:"lane":"(?:[^"\\]|\\.)*",)?"at":"([0-9T:.Z+-]+)","model":'
).match
_FIRST_READ = 1 << 12
_MOST_READ = 1 << 17


class _File:
    """Reads at offsets, from several threads at once."""

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._lock = threading.Lock()
        self.close = weakref.finalize(self, os.close, fd)

    def read_at(self, offset: int, size: int) -> bytes:
        if not self.close.alive:
            raise RowFaultError("the recording was closed")
        if hasattr(os, "pread"):
            return os.pread(self._fd, size, offset)
        with self._lock:
            os.lseek(self._fd, offset, os.SEEK_SET)
            return os.read(self._fd, size)


class _Window:
    """A piece of the file, moved along as lines are asked for."""

    def __init__(self, file: _File) -> None:
        self._file = file
        self._base = 0
        self._buffer = b""
        self._size = _FIRST_READ

    def line(self, offset: int) -> tuple[bytes, int]:
        """Return the line at ``offset`` without its newline, and the offset of the next one."""
        begin = offset - self._base
        end = self._buffer.find(b"\n", begin) if begin >= 0 else -1
        if begin > len(self._buffer) + _FIRST_READ:
            # The rows between belong to others: of a call among many, each row is a small read.
            self._size = _FIRST_READ
        size = self._size
        while end < 0:
            self._buffer = self._file.read_at(offset, size)
            self._base, begin = offset, 0
            end = self._buffer.find(b"\n")
            if end < 0 and len(self._buffer) < size:
                raise RowFaultError("the file has changed since it was opened")
            # Grows with use: a call of two rows costs a small read, a long one few reads.
            size *= 4
            self._size = min(size, _MOST_READ)
        return self._buffer[begin:end], self._base + end + 1


class RecordedCall:
    """One recorded call. Its facts are at hand; request and events are read from the file when asked for."""

    __slots__ = ("_facts", "_recording", "call_index")

    def __init__(self, recording: Recording, call_index: int, facts: CallFacts) -> None:
        self._recording = recording
        self._facts = facts
        self.call_index = call_index

    def __repr__(self) -> str:
        return f"<RecordedCall {self.call_index} of {self._recording.path}: {self.event_count} events>"

    @property
    def lane(self) -> str | None:
        """The lane it was made in, None outside every lane."""
        return self._facts.lane

    @property
    def api(self) -> str:
        """The wire API of its model."""
        return self._facts.api

    @property
    def model_id(self) -> str:
        """The service's name of its model."""
        return self._facts.model_id

    @property
    def message_count(self) -> int:
        """How many messages the request's context has."""
        return self._facts.message_count

    @property
    def event_count(self) -> int:
        """How many event rows it has."""
        return self._facts.event_count

    @property
    def outcome(self) -> Outcome:
        """How it ended."""
        return self._facts.outcome

    @property
    def duration_ms(self) -> int | None:
        """How long it took in milliseconds, None when that was not recorded."""
        return self._facts.duration_ms

    @property
    def at(self) -> str | None:
        """When it began, as recorded (ISO 8601), None when it was not."""
        head = _request_head(self._recording._file.read_at(self._facts.start, _FIRST_READ))
        return head[1].decode() if head is not None else self._request_row().at

    @property
    def error(self) -> dict[str, Any] | None:
        """The recorded failure: ``type``, ``message``, perhaps ``kind``, ``retryable``, ``retry_after_s``."""
        row = self._recording._row_at(self._facts.end, self.call_index)
        if not isinstance(row, EndRow):
            self._recording._changed(self.call_index)
        return row.error

    def _request_row(self) -> RequestRow:
        row = self._recording._row_at(self._facts.start, self.call_index)
        if not isinstance(row, RequestRow):
            self._recording._changed(self.call_index)
        return row

    def request(self) -> dict[str, Any]:
        """Return the recorded ``{"model", "context", "options"}`` as JSON values, read anew each time."""
        return self._request_row().request

    def request_line(self) -> bytes:
        """Return the request's line as it stands in the file, without its newline.

        For a reader that need not parse again what the call before had too. Raises `RecordingFileError`.
        """
        try:
            return _Window(self._recording._file).line(self._facts.start)[0]
        except (RowFaultError, OSError) as error:
            raise self._recording._failure(error, self.call_index) from None

    def events(self) -> Iterator[AssistantMessageEvent]:
        """Yield the recorded events in order, each read when it is asked for.

        Raises `RecordingFileError` when the file is no longer what it was when it was opened.
        """
        return self._recording._events(self.call_index)


class _Calls(Sequence[RecordedCall]):
    def __init__(self, recording: Recording, index: CallIndex) -> None:
        self._recording = recording
        self._index = index

    def __len__(self) -> int:
        return len(self._index)

    @overload
    def __getitem__(self, place: int) -> RecordedCall: ...
    @overload
    def __getitem__(self, place: slice) -> list[RecordedCall]: ...
    def __getitem__(self, place: int | slice) -> RecordedCall | list[RecordedCall]:
        if isinstance(place, slice):
            return [self[number] for number in range(*place.indices(len(self)))]
        if place < 0:
            place += len(self)
        if not 0 <= place < len(self):
            raise IndexError(f"call {place} of {len(self)}")
        return RecordedCall(self._recording, place, self._index.facts(place))


class Recording:
    """An opened recording. Use it as a context manager, or `close` it.

    ``header`` is the first row, ``calls`` the calls by ``call_index``. Reading is safe from several threads.
    """

    def __init__(self, path: Path, header: dict[str, Any], index: CallIndex, file: _File) -> None:
        self.path = path
        self.header = header
        self.calls: Sequence[RecordedCall] = _Calls(self, index)
        self._index = index
        self._file = file

    def __repr__(self) -> str:
        return f"<Recording {self.path}: {len(self._index)} calls>"

    def __enter__(self) -> Recording:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the file. What the calls have at hand stays; closing again does nothing."""
        self._file.close()

    def _changed(self, call_index: int) -> NoReturn:
        raise RecordingFileError(
            self.path, "the file has changed since it was opened; open it again", call_index=call_index
        )

    def _row_at(self, offset: int, call_index: int) -> Row:
        try:
            row = parse_row(_Window(self._file).line(offset)[0] + b"\n")
        except (RowFaultError, OSError) as error:
            raise self._failure(error, call_index) from None
        return row

    def _failure(self, error: Exception, call_index: int) -> RecordingFileError:
        return RecordingFileError(self.path, str(error), call_index=call_index)

    def _events(self, call_index: int) -> Iterator[AssistantMessageEvent]:
        window = _Window(self._file)
        head = event_row_head(call_index)
        event_index = 0
        try:
            for offset, rows in self._index.runs(call_index):
                for _ in range(rows):
                    line, offset = window.line(offset)
                    expected = b'%b%d,"event":' % (head, event_index)
                    if line.startswith(expected) and line.endswith(b"}"):
                        event = load_event(line[len(expected) : -1])
                    else:
                        event = self._unusual_event(line, call_index, event_index)
                    event_index += 1
                    yield event
        except (RowFaultError, OSError) as error:
            raise self._failure(error, call_index) from None

    def _unusual_event(self, line: bytes, call_index: int, event_index: int) -> AssistantMessageEvent:
        row = parse_row(line + b"\n")
        if not isinstance(row, EventRow) or (row.call_index, row.event_index) != (call_index, event_index):
            self._changed(call_index)
        return build_event(row.event, call_index)


def read_recording_file(path: str | os.PathLike[str], *, max_row_bytes: int = MAX_ROW_BYTES) -> Recording:
    """Open a recording after checking all of it.

    Memory holds an index of the calls and one row, whatever the size of the file. Raises
    `RecordingFileError` with line, call and reason for the first rule of the format that is broken.
    """
    where = Path(path)

    def refuse(fault: RowFaultError, line_number: int | None) -> NoReturn:
        # Without a header nothing says that this is a recording, so nothing of it could be kept.
        advice = f". {repair_advice(where)}" if scanner.header is not None else ""
        raise RecordingFileError(
            where, f"{fault.reason}{advice}", line_number=line_number, call_index=fault.call_index
        ) from None

    fd = open_regular(where)
    file = _File(fd)
    scanner = RecordingScanner(refuse, strict=True)
    try:
        with open(fd, "rb", buffering=BUFFER_BYTES, closefd=False) as lines:
            for offset, line in read_lines(lines, max_row_bytes):
                scanner.feed(line, offset, max_row_bytes)
        scanner.finish()
    except OSError as error:
        file.close()
        raise RecordingFileError(where, f"cannot be read: {error.strerror}") from error
    except BaseException:
        file.close()
        raise
    return Recording(where, scanner.header or {}, scanner.index, file)
