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

Report: TypeAlias = Callable[[RowFaultError, int | None], None]
"""Told of a fault and its line number (None: of the file's end). The strict reader's raises."""


class RecordingScanner:
    """Takes the lines of a file in order, and reports every rule they break.

    A report may raise, which makes the scan strict. When it returns, the line counts as not there and its
    call as broken: the scan goes on, for checking and repair.
    """

    def __init__(self, report: Report) -> None:
        self.header: dict[str, Any] | None = None
        self.index = CallIndex()
        self.broken: set[int] = set()
        self.next_call = 0
        self._report = report
        self._open: dict[int, OpenCall] = {}
        self._line_number = 0

    @property
    def open_calls(self) -> tuple[int, ...]:
        """The calls without a ``call_end`` so far, in order."""
        return tuple(sorted(self._open))

    def feed(self, line: bytes | None, offset: int, max_bytes: int) -> bool:
        """Take the next line (None: longer than ``max_bytes``); returns whether it was in order."""
        self._line_number += 1
        try:
            if line is None:
                raise RowFaultError(f"the line is longer than {max_bytes:,} bytes")
            head = match_event_head(line)
            if (
                head is not None
                and self._line_number > 1
                and line.endswith(b"}\n")
                and is_plain_event(line[head.end() : -2])
            ):
                self._event(int(head[1]), int(head[2]), offset, len(line))
            else:
                self._row(line, offset)
        except RowFaultError as fault:
            self._fault(fault, self._line_number)
            return False
        return True

    def finish(self) -> None:
        """Say that the file has ended."""
        if self._line_number == 0:
            self._fault(RowFaultError("is empty: a recording begins with a header"), None)
        for call_index in self.open_calls:
            self._fault(
                RowFaultError(
                    "the call has no call_end: its writer was stopped, or still writes. "
                    "'openprogram recordings check --repair' keeps the complete calls",
                    call_index,
                ),
                None,
            )

    def _fault(self, fault: RowFaultError, line_number: int | None) -> None:
        self._report(fault, line_number)
        if fault.call_index is not None and self._open.pop(fault.call_index, None) is not None:
            self.broken.add(fault.call_index)

    def _row(self, line: bytes, offset: int) -> None:
        row = parse_row(line)
        if isinstance(row, HeaderRow):
            if self._line_number > 1:
                raise RowFaultError("a second header")
            self.header = row.fields
            return
        if self._line_number == 1:
            raise RowFaultError("the first line is no header")
        match row:
            case EventRow():
                build_event(row.event, row.call_index)
                self._event(row.call_index, row.event_index, offset, len(line))
            case RequestRow():
                self._request(row, offset)
            case EndRow():
                self._end(row, offset)

    def _request(self, row: RequestRow, offset: int) -> None:
        if row.call_index < self.next_call:
            raise RowFaultError(f"a second request of call {row.call_index}", None)
        if row.call_index > self.next_call:
            fault = RowFaultError(
                f"the request's call_index is {row.call_index}, expected {self.next_call}", row.call_index
            )
            self._report(fault, self._line_number)
        self.next_call = row.call_index + 1
        self._open[row.call_index] = self.index.begin(row, offset)

    def _event(self, call_index: int, event_index: int, offset: int, size: int) -> None:
        call = self._open.get(call_index)
        if call is None:
            raise RowFaultError(f"an event of a call that {self._why_not_open(call_index)}", call_index)
        if event_index != call.event_count:
            raise RowFaultError(
                f"the event's event_index is {event_index}, expected {call.event_count}", call_index
            )
        call.add_event(offset, size)

    def _end(self, row: EndRow, offset: int) -> None:
        call = self._open.get(row.call_index)
        if call is None:
            raise RowFaultError(
                f"the call_end of a call that {self._why_not_open(row.call_index)}", row.call_index
            )
        if row.event_count != call.event_count:
            raise RowFaultError(
                f"the call_end's event_count is {row.event_count}; the call has {call.event_count} events",
                row.call_index,
            )
        self.index.end(call, row, offset)
        del self._open[row.call_index]

    def _why_not_open(self, call_index: int) -> str:
        return "has ended" if call_index < self.next_call else "has not begun"
