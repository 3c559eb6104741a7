"""The rules that tie the rows of a recording together, applied one line at a time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from openprogram_core.recordings.call_index import CallIndex, OpenCall
from openprogram_core.recordings.parsing import (
    EndRow,
    EventRow,
    HeaderRow,
    RequestRow,
    RowFaultError,
    build_event,
    is_plain_event,
    match_event_head,
    parse_row,
)
from openprogram_core.recordings.tail import is_whole_row

Report: TypeAlias = Callable[[RowFaultError, int | None], None]
"""Told of a fault and its line number (None: of the file's end). The strict reader's raises."""


class RecordingScanner:
    """Takes the lines of a file in order, and reports every rule they break.

    A report may raise, which makes the scan strict. When it returns, the line counts as not there and its
    call as broken: the scan goes on, for checking and repair. ``calls`` then says of each call that has begun
    whether it is complete, in the order of their requests; a strict scan needs no such memory and has None.
    """

    def __init__(self, report: Report, *, strict: bool) -> None:
        self.header: dict[str, Any] | None = None
        self.index = CallIndex()
        self.calls: dict[int, bool] | None = None if strict else {}
        self._next_call = 0
        self._report = report
        self._open: dict[int, OpenCall] = {}
        self._line_number = 0

    def feed(self, line: bytes | None, offset: int, max_bytes: int) -> int | None:
        """Take the next line (None: longer than ``max_bytes``).

        Returns the call it belongs to, -1 for the header, None when it is not in order.
        """
        self._line_number += 1
        try:
            if line is None:
                raise RowFaultError(f"the line is longer than {max_bytes:,} bytes")
            if self.calls is not None and not line.endswith(b"\n") and is_whole_row(line):
                # An editor or a filter took the newline; what the row says is all there.
                self._fault(RowFaultError("the last line has no newline"), self._line_number)
                line += b"\n"
            head = match_event_head(line)
            if (
                head is not None
                and self._line_number > 1
                and line.endswith(b"}\n")
                and is_plain_event(line[head.end() : -2])
            ):
                call_index = int(head[1])
                return self._event(call_index, int(head[2]), offset, len(line))
            return self._row(line, offset)
        except RowFaultError as fault:
            self._fault(fault, self._line_number)
            return None

    def finish(self) -> None:
        """Say that the file has ended."""
        if self._line_number == 0:
            self._fault(RowFaultError("is empty: a recording begins with a header"), None)
        for call_index in sorted(self._open):
            self._fault(
                RowFaultError(
                    "the call has no call_end: its writer was stopped, or still writes", call_index
                ),
                None,
            )

    def _fault(self, fault: RowFaultError, line_number: int | None) -> None:
        self._report(fault, line_number)
        if fault.call_index is not None:
            self._open.pop(fault.call_index, None)

    def _row(self, line: bytes, offset: int) -> int | None:
        row = parse_row(line)
        if isinstance(row, HeaderRow):
            if self._line_number > 1:
                raise RowFaultError("a second header")
            self.header = row.fields
            return -1
        if self._line_number == 1:
            raise RowFaultError("the first line is no header")
        match row:
            case EventRow():
                build_event(row.event, row.call_index)
                return self._event(row.call_index, row.event_index, offset, len(line))
            case RequestRow():
                return self._request(row, offset)
            case EndRow():
                return self._end(row, offset)

    def _request(self, row: RequestRow, offset: int) -> int:
        call_index = row.call_index
        if call_index != self._next_call:
            reason = f"the request's call_index is {call_index}, expected {self._next_call}"
            self._report(RowFaultError(reason, call_index), self._line_number)
        if self.calls is not None:
            if call_index in self.calls:
                raise RowFaultError(f"a second request of call {call_index}")
            self.calls[call_index] = False
        self._next_call = call_index + 1
        self._open[call_index] = self.index.begin(row, offset)
        return call_index

    def _event(self, call_index: int, event_index: int, offset: int, size: int) -> int | None:
        call = self._open.get(call_index)
        if call is None:
            self._not_open("an event", call_index)
            return None
        if event_index != call.event_count:
            raise RowFaultError(
                f"the event's event_index is {event_index}, expected {call.event_count}", call_index
            )
        call.add_event(offset, size)
        return call_index

    def _end(self, row: EndRow, offset: int) -> int | None:
        call = self._open.get(row.call_index)
        if call is None:
            self._not_open("the call_end", row.call_index)
            return None
        if row.event_count != call.event_count:
            raise RowFaultError(
                f"the call_end's event_count is {row.event_count}; the call has {call.event_count} events",
                row.call_index,
            )
        self.index.end(call, row, offset)
        if self.calls is not None:
            self.calls[row.call_index] = True
        del self._open[row.call_index]
        return row.call_index

    def _not_open(self, what: str, call_index: int) -> None:
        if self.calls is None:
            ended = call_index < self._next_call
        else:
            ended = self.calls.get(call_index, False)
            if not ended and call_index in self.calls:
                # Of a broken call the first fault is told, not every row after it.
                return
        state = "has ended" if ended else "has not begun"
        raise RowFaultError(f"{what} of a call that {state}", call_index)
