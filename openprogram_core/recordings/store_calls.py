"""The calls of a recording in a few words each, read in one pass and in little memory.

Made for showing, so it takes what it can: a recording that is broken is read up to the fault, and one that is
being written as far as it goes. Rows are parsed only where something is shown from them.
"""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, BinaryIO

from openprogram_core.recordings.limits import MAX_ROW_BYTES, RECORDING_FORMAT_VERSION
from openprogram_core.recordings.store_blocks import Block, read_blocks

_event_head = re.compile(
    rb'\{"type":"event","call_index":([0-9]{1,18}),"event_index":[0-9]+,"event":\{"type":"([a-z_]+)"'
).match
# The rows that say something of their call, or are no rows at all; the other events only count.
_telling = re.compile(
    rb'\n\{"type":"(?:(?!event","call_index":)'
    rb'|event","call_index":[0-9]+,"event_index":[0-9]+,"event":\{"type":"(?:done|error)")'
).finditer
_request_head = re.compile(
    rb'\{"type":"request","call_index":([0-9]{1,18}),'
    rb'(?:"lane":("(?:[^"\\]|\\.)*"),)?(?:"at":("[^"\\]*"),)?"model":'
).match
_MODEL_BYTES = 1 << 16


@dataclass(slots=True)
class CallSummary:
    """One call.

    ``at`` is when it began, as recorded; ``outcome`` is None while it has no end. ``stop_reason`` and
    ``usage`` are those of its last message, None when none came. ``error`` is the recorded failure.
    """

    call_index: int
    lane: str | None = None
    at: str | None = None
    api: str | None = None
    provider: str | None = None
    model: str | None = None
    events: int = 0
    outcome: str | None = None
    error: dict[str, Any] | None = None
    duration_ms: int | None = None
    stop_reason: str | None = None
    usage: dict[str, Any] | None = None


@dataclass(slots=True)
class RecordingSummary:
    """A recording: its header, its calls by index, and the first fault, with the line where it was met.

    ``torn``: the fault is nothing else than a last row that was cut short.
    """

    header: dict[str, Any] = field(default_factory=dict)
    calls: dict[int, CallSummary] = field(default_factory=dict)
    fault: str | None = None
    torn: bool = False

    def problem(self, *, writing: bool) -> str | None:
        """Return what is wrong, None when nothing is.

        While a process is ``writing``, a row cut short and calls without end are as they must be.
        """
        if self.fault is not None:
            return None if self.torn and writing else self.fault
        open_calls = sum(call.outcome is None for call in self.calls.values())
        if not open_calls or writing:
            return None
        return f"{open_calls} of {len(self.calls)} calls have no end: the writer was stopped, or still writes"


class _FaultError(Exception):
    """The row cannot be used; the message says why, ``number`` is its line's."""

    number = 0


class _TornError(_FaultError):
    """The last row was cut short."""


def summarize(file: BinaryIO, progress: Callable[[int], None]) -> RecordingSummary:
    """Read a recording once; ``progress`` is told now and then how many bytes were read.

    Raises `OSError` when it cannot be read. What is wrong with the file is in the result, and nothing after
    the fault is. Events are counted by their calls' ends, and one by one only where there is none.
    """
    summary = RecordingSummary()
    begun: dict[int, int] = {}
    last_line = 0
    for block in read_blocks(file):
        progress(block.offset)
        last_line = block.number + block.size - 1
        try:
            for index in _take_block(summary, block):
                begun[index] = block.offset
        except _FaultError as fault:
            last_line = fault.number
            summary.fault = f"line {fault.number}: {fault}"
            summary.torn = isinstance(fault, _TornError)
            break
    if not last_line:
        summary.fault = "the file is empty"
    _count_open_events(summary, file, begun, last_line)
    return summary


def rows_of_call(file: BinaryIO, call_index: int) -> Iterator[dict[str, Any]]:
    """Yield the rows of one call, parsed, in order. Rows that cannot be read are passed over."""
    wanted = b'"call_index":%d,' % call_index
    for block in read_blocks(file):
        plain = block.is_plain()
        if plain and wanted not in block.rows:
            continue
        for number, line in block.lines():
            if number == 1 or line is None or _is_of_another(line, wanted):
                continue
            try:
                row = _parse(line)
            except _FaultError:
                continue
            if row.get("call_index") == call_index:
                yield row


def rows_by_call(file: BinaryIO, faulty: Callable[[int], None]) -> Iterator[list[dict[str, Any]]]:
    """Yield each call's rows, parsed, the calls in the order in which they began.

    In memory are the calls that overlap. ``faulty`` is told the numbers of the lines that are no row of any
    call; a call without an end holds back those after it.
    """
    waiting: dict[int, list[dict[str, Any]]] = {}
    ended: set[int] = set()
    for number, line in _lines_behind_the_header(file):
        try:
            if line is None:
                raise _FaultError(f"it is longer than {MAX_ROW_BYTES:,} bytes")
            row = _parse(line)
            index = row.get("call_index")
            if type(index) is not int or (index in waiting) == (row.get("type") == "request"):
                raise _FaultError("it belongs to no call")
        except _FaultError:
            faulty(number)
            continue
        waiting.setdefault(index, []).append(row)
        if row.get("type") == "call_end":
            ended.add(index)
        while waiting and (first := next(iter(waiting))) in ended:
            ended.discard(first)
            yield waiting.pop(first)
    yield from waiting.values()


def _lines_behind_the_header(file: BinaryIO) -> Iterator[tuple[int, bytes | None]]:
    for block in read_blocks(file):
        for number, line in block.lines():
            if number > 1:
                yield number, line


def _is_of_another(line: bytes, wanted: bytes) -> bool:
    head = line[:60]
    return head.startswith(b'{"type":"') and b'","call_index":' in head and wanted not in head


def _take_block(summary: RecordingSummary, block: Block) -> Iterator[int]:
    """Take in a block's rows; yields the calls that begin in it."""
    lines = _telling_lines(block) if block.is_plain() else block.lines()
    for number, line in lines:
        known = len(summary.calls)
        try:
            _take(summary, number, line)
        except _FaultError as fault:
            fault.number = number
            raise
        if len(summary.calls) > known:
            yield next(reversed(summary.calls))


def _telling_lines(block: Block) -> Iterator[tuple[int, bytes | None]]:
    rows, number, counted = block.rows, block.number - 1, 0
    for found in _telling(rows):
        begin = found.start() + 1
        number += rows.count(b"\n", counted, begin)
        counted = begin
        end = rows.find(b"\n", begin)
        yield number, rows[begin : end if end >= 0 else len(rows)] + b"\n"


def _count_open_events(
    summary: RecordingSummary, file: BinaryIO, begun: dict[int, int], last_line: int
) -> None:
    waiting = {index: call for index, call in summary.calls.items() if call.outcome is None}
    if not waiting:
        return
    # A call's first row lies in the block it was met in, so nothing before that block is looked at again.
    first = min(begun.get(index, 0) for index in waiting)
    file.seek(0)
    for block in read_blocks(file):
        for number, line in block.lines() if block.offset >= first else ():
            index = None if number == 1 or number > last_line or line is None else _index_of_event(line)
            if index in waiting:
                waiting[index].events += 1
        if block.number > last_line:
            break


def _index_of_event(line: bytes) -> int | None:
    head = _event_head(line)
    if head is not None:
        return int(head[1]) if line.endswith(b"\n") else None
    if line.startswith((b'{"type":"request",', b'{"type":"call_end",')):
        return None
    try:
        row = _parse(line)
    except _FaultError:
        return None
    index = row.get("call_index")
    return index if row.get("type") == "event" and isinstance(index, int) else None


def summary_of_rows(rows: Iterable[dict[str, Any]]) -> CallSummary | None:
    """Return one call's summary from its rows; None when they do not begin with its request."""
    summary = RecordingSummary()
    events = 0
    with contextlib.suppress(_FaultError):
        for row in rows:
            events += row.get("type") == "event"
            _take_row(summary, 2, row)
    for call in summary.calls.values():
        call.events = events
    return next(iter(summary.calls.values()), None)


def _take(summary: RecordingSummary, number: int, line: bytes | None) -> None:
    if line is None:
        raise _FaultError(f"it is longer than {MAX_ROW_BYTES:,} bytes")
    if number > 1:
        head = _event_head(line)
        if head is not None and line.endswith(b"}\n"):
            call = _call(summary, int(head[1]))
            if head[2] in (b"done", b"error"):
                _take_last(call, _parse(line)["event"])
            return
    if not line.endswith(b"\n"):
        raise _TornError("it is cut short: the writer was stopped, or is writing at this moment")
    if number > 1:
        head = _request_head(line)
        if head is not None and _take_request_head(summary, line, head):
            return
    _take_row(summary, number, _parse(line))


def _take_row(summary: RecordingSummary, number: int, row: dict[str, Any]) -> None:
    kind = row.get("type")
    if (number == 1) != (kind == "header"):
        raise _FaultError("it is no header" if number == 1 else "it is a second header")
    if kind == "header":
        summary.header = row
        version = row.get("format_version")
        if type(version) is not int or version != RECORDING_FORMAT_VERSION:
            raise _FaultError(
                f"format version {version!r:.40}, and this version of openprogram-core reads "
                f"{RECORDING_FORMAT_VERSION} only"
            )
        return
    index = row.get("call_index")
    if type(index) is not int:
        raise _FaultError("it has no call_index")
    if kind == "request":
        model = row.get("model")
        _begin(summary, index, row.get("lane"), row.get("at"), model if isinstance(model, dict) else {})
    elif kind == "event":
        call = _call(summary, index)
        event = row.get("event")
        if isinstance(event, dict) and event.get("type") in ("done", "error"):
            _take_last(call, event)
    elif kind == "call_end":
        call = _call(summary, index)
        outcome, error, duration = row.get("outcome"), row.get("error"), row.get("duration_ms")
        events = row.get("event_count")
        call.events = events if isinstance(events, int) else 0
        call.outcome = outcome if isinstance(outcome, str) else "complete"
        call.error = error if isinstance(error, dict) else None
        call.duration_ms = duration if isinstance(duration, int) else None
    else:
        raise _FaultError("it is no row of a recording")


def _take_request_head(summary: RecordingSummary, line: bytes, head: re.Match[bytes]) -> bool:
    # The model stands in front; the conversation behind it may be megabytes and is not parsed.
    text = line[head.end() : head.end() + _MODEL_BYTES].decode("utf-8", "replace")
    try:
        model, _ = json.JSONDecoder().raw_decode(text)
        lane = None if head[2] is None else json.loads(head[2])
        at = None if head[3] is None else json.loads(head[3])
    except (ValueError, RecursionError):
        return False
    if not isinstance(model, dict):
        return False
    _begin(summary, int(head[1]), lane, at, model)
    return True


def _begin(summary: RecordingSummary, index: int, lane: Any, at: Any, model: dict[str, Any]) -> None:
    if index in summary.calls:
        raise _FaultError(f"it is a second request of call {index}")

    def text(value: Any) -> str | None:
        return value if isinstance(value, str) else None

    summary.calls[index] = CallSummary(
        index,
        lane=text(lane),
        at=text(at),
        api=text(model.get("api")),
        provider=text(model.get("provider")),
        model=text(model.get("id")),
    )


def _call(summary: RecordingSummary, index: int) -> CallSummary:
    call = summary.calls.get(index)
    if call is None:
        raise _FaultError(f"it belongs to call {index}, which has not begun")
    return call


def _take_last(call: CallSummary, event: dict[str, Any]) -> None:
    message = event.get("message", event.get("error"))
    if isinstance(message, dict):
        usage, reason = message.get("usage"), message.get("stop_reason")
        call.usage = usage if isinstance(usage, dict) else None
        call.stop_reason = reason if isinstance(reason, str) else None


def _parse(line: bytes) -> dict[str, Any]:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        raise _FaultError("it is no JSON") from None
    if not isinstance(row, dict):
        raise _FaultError("it is no row of a recording")
    return row
