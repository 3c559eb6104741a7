"""Where each call's rows lie in the file, in a few bytes a call.

Rows of one call that follow each other without another call's row between them are a run. A run is kept as
two small numbers, so that a recording of a gigabyte needs megabytes of index, interleaved or not.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from typing import Any, NamedTuple

from openprogram_core.recordings.parsing import EndRow, RequestRow
from openprogram_core.recordings.rows import OUTCOMES, Outcome


def _put(pool: bytearray, number: int) -> None:
    while number > 127:
        pool.append(number & 127 | 128)
        number >>= 7
    pool.append(number)


def _take(pool: bytes | bytearray, position: int) -> tuple[int, int]:
    number = shift = 0
    while True:
        byte = pool[position]
        position += 1
        number |= (byte & 127) << shift
        if byte < 128:
            return number, position
        shift += 7


class OpenCall:
    """A call whose end has not been read: where its rows were so far."""

    __slots__ = ("_run_rows", "_run_start", "event_count", "place", "row_end", "runs", "start")

    def __init__(self, place: int, start: int) -> None:
        self.place = place
        self.start = start
        self.event_count = 0
        self.runs = bytearray()
        self.row_end = -1
        self._run_start = start
        self._run_rows = 0

    def add_event(self, offset: int, size: int) -> None:
        """Count an event row of ``size`` bytes at ``offset``."""
        self.event_count += 1
        if offset == self.row_end:
            self._run_rows += 1
        else:
            self._begin_run(offset)
        self.row_end = offset + size

    def _begin_run(self, offset: int) -> None:
        if self._run_rows:
            _put(self.runs, self._run_rows)
        _put(self.runs, offset - self._run_start)
        self._run_start = offset
        self._run_rows = 1

    def finish(self) -> bytearray:
        """Return the runs: of each the distance from the one before, and its number of rows."""
        if self._run_rows:
            _put(self.runs, self._run_rows)
        return self.runs


class CallFacts(NamedTuple):
    """What the index knows of one call. Offsets are in bytes; ``end`` is the offset of its ``call_end``."""

    start: int
    end: int
    lane: str | None
    api: str
    model_id: str
    message_count: int
    event_count: int
    outcome: Outcome
    duration_ms: int | None


class CallIndex:
    """The calls of one file in order."""

    def __init__(self) -> None:
        self._starts, self._ends, self._runs_at = array("Q"), array("Q"), array("Q")
        self._messages, self._events = array("Q"), array("Q")
        self._durations = array("q")
        self._outcomes = array("B")
        self._lanes, self._apis, self._models = array("L"), array("L"), array("L")
        self._names: list[str | None] = [None]
        self._name_numbers: dict[str | None, int] = {None: 0}
        self._runs = bytearray()

    def __len__(self) -> int:
        return len(self._starts)

    def _number(self, name: str | None) -> int:
        number = self._name_numbers.setdefault(name, len(self._names))
        if number == len(self._names):
            self._names.append(name)
        return number

    def begin(self, row: RequestRow, offset: int) -> OpenCall:
        """Take in a request row and return its call, to which the events are added."""
        call = OpenCall(len(self._starts), offset)
        self._starts.append(offset)
        self._messages.append(row.message_count)
        self._lanes.append(self._number(row.lane))
        self._apis.append(self._number(row.api))
        self._models.append(self._number(row.model_id))
        for column in (self._ends, self._runs_at, self._events, self._durations, self._outcomes):
            column.append(0)
        return call

    def end(self, call: OpenCall, row: EndRow, offset: int) -> None:
        """Take in the call's end."""
        place = call.place
        self._ends[place] = offset
        self._events[place] = call.event_count
        self._runs_at[place] = len(self._runs)
        self._runs += call.finish()
        self._durations[place] = -1 if row.duration_ms is None else row.duration_ms
        self._outcomes[place] = OUTCOMES.index(row.outcome)

    def facts(self, place: int) -> CallFacts:
        """Return what is known of the call at ``place``."""
        names: list[Any] = self._names
        duration = self._durations[place]
        return CallFacts(
            self._starts[place],
            self._ends[place],
            names[self._lanes[place]],
            names[self._apis[place]],
            names[self._models[place]],
            self._messages[place],
            self._events[place],
            OUTCOMES[self._outcomes[place]],
            None if duration < 0 else duration,
        )

    def runs(self, place: int) -> Iterator[tuple[int, int]]:
        """Yield the offset and the number of rows of each run of event rows."""
        offset, left, position = self._starts[place], self._events[place], self._runs_at[place]
        while left:
            distance, position = _take(self._runs, position)
            rows, position = _take(self._runs, position)
            offset += distance
            left -= rows
            yield offset, rows
