"""What a writer has to know of rows it did not write: the next call_index, and where the last whole row ends.

Rows are recognized by their beginnings, as a recorder writes them; a row in another spelling is parsed.
Nothing else is checked here: that is the strict reader's work.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

from openprogram_core.recordings.parsing import EndRow, EventRow, RequestRow, RowFaultError, parse_row

ReadAt: TypeAlias = Callable[[int, int], bytes]
"""Reads bytes of the file: ``read_at(offset, count)``."""

_BLOCK = 1 << 20
_EVENT = b'\n{"type":"event","call_index":'
_calls = re.compile(rb'\n\{"type":"(?:(request)|call_end)","call_index":([0-9]+),').finditer
_event_of = re.compile(rb'\{"type":"event","call_index":([0-9]+),').match
_terminal = re.compile(rb'[^"]*"type":"event",[^{}]*"event":\{"type":"(?:done|error)"').match


@dataclass
class Tail:
    """What rows said. ``end`` is the offset behind the last whole row; ``open_calls`` have no end yet, and
    ``open_calls[call_index]`` is the offset of the request."""

    end: int
    next_call: int = 0
    open_calls: dict[int, int] = field(default_factory=dict)

    def begin(self, call_index: int, offset: int) -> None:
        """Take in a request."""
        self.next_call = max(self.next_call, call_index + 1)
        self.open_calls[call_index] = offset


def read_tail(read_at: ReadAt, tail: Tail, size: int) -> None:
    """Bring ``tail`` up to a file of ``size`` bytes. Raises `RowFaultError` for a row that is none.

    A row that is not whole is left out.
    """
    for base, rows in _whole_rows(read_at, tail.end, size):
        known = rows.count(_EVENT)
        for match in _calls(rows):
            known += 1
            if match[1]:
                tail.begin(int(match[2]), base + match.start() + 1)
            else:
                tail.open_calls.pop(int(match[2]), None)
        if known != rows.count(b"\n"):
            _read_slowly(tail, rows, base)
        tail.end = base + len(rows) + 1


def _read_slowly(tail: Tail, rows: bytes, base: int) -> None:
    offset = base + 1
    for line in rows[1:].split(b"\n"):
        row = parse_row(line + b"\n")
        if isinstance(row, RequestRow):
            tail.begin(row.call_index, offset)
        elif isinstance(row, EndRow):
            tail.open_calls.pop(row.call_index, None)
        offset += len(line) + 1


class EventsSoFar(NamedTuple):
    """The event rows of a call without an end: how many, and whether the last says that the message ended."""

    number: int = 0
    terminal: bool = False


def read_open_calls(read_at: ReadAt, tail: Tail) -> dict[int, EventsSoFar]:
    """Return what the rows of each open call say."""
    found = dict.fromkeys(tail.open_calls, EventsSoFar())
    for _, rows in _whole_rows(read_at, min(tail.open_calls.values(), default=tail.end), tail.end):
        for line in rows[1:].split(b"\n"):
            head = _event_of(line)
            if head is not None:
                call_index, terminal = int(head[1]), _terminal(line) is not None
            else:
                row = parse_row(line + b"\n")
                call_index = row.call_index if isinstance(row, EventRow) else -1
                terminal = isinstance(row, EventRow) and row.event.get("type") in ("done", "error")
            if call_index in found:
                found[call_index] = EventsSoFar(found[call_index].number + 1, terminal)
    return found


def is_whole_row(line: bytes) -> bool:
    """Whether a last line without its newline is a row all the same; a torn one is no JSON."""
    try:
        parse_row(line + b"\n")
    except RowFaultError:
        return False
    return True


def _whole_rows(read_at: ReadAt, start: int, size: int) -> Iterator[tuple[int, bytes]]:
    """Yield whole rows, each with the newline before it, and the offset of the first newline."""
    rest, at = b"\n", start
    while at < size and (block := read_at(at, min(_BLOCK, size - at))):
        at += len(block)
        rows, _, rest = (rest + block).rpartition(b"\n")
        if rows:
            yield at - len(rest) - 1 - len(rows), rows
        rest = b"\n" + rest
