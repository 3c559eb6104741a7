"""A quick look at a recording file, for lists: a thousand files in a second or so.

It reads every byte once and parses the header only. Checked are: the header, the format version, that every
line begins as a row does, that the last line is whole, and that every call has its end. Whether each row is
sound inside is not checked; ``openprogram recordings check`` does that.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from typing import Any, NamedTuple

from openprogram_core.recordings.limits import MAX_ROW_BYTES, RECORDING_FORMAT_VERSION
from openprogram_core.recordings.lines import read_lines

CHUNK_BYTES = 1 << 20
HEADER_BYTES = 1 << 16

_NEWLINE = b"\n"
_REQUEST = b'\n{"type":"request",'
_EVENT = b'\n{"type":"event",'
_END = b'\n{"type":"call_end",'
_PATTERNS = (_NEWLINE, _REQUEST, _EVENT, _END)


class QuickLook(NamedTuple):
    """What a quick look found.

    ``calls`` counts the calls begun, ``ended`` those with an end, ``events`` the event rows. ``header`` is
    the first row, empty when it cannot be read. ``problem`` says what is wrong, None when nothing is;
    ``growing`` that it is nothing else than what a recording that is being written looks like.
    """

    size: int
    header: dict[str, Any]
    calls: int = 0
    ended: int = 0
    events: int = 0
    problem: str | None = None
    growing: bool = False

    @property
    def created_at(self) -> str | None:
        """When the recording was begun, as its header says."""
        value = self.header.get("created_at")
        return value if isinstance(value, str) else None


class _Counts(NamedTuple):
    calls: int
    events: int
    ended: int
    problem: str | None = None


def _silent(done: int) -> None:
    """Nobody is told how much was read."""


def quick_look(descriptor: int, progress: Callable[[int], None] = _silent) -> QuickLook:
    """Look through an open recording; ``progress`` is told after each piece how many bytes were read.

    Raises `OSError` when it cannot be read. A file that grows meanwhile is taken as long as it was.
    """
    size = os.fstat(descriptor).st_size
    header, problem = _read_header(descriptor)
    if problem is not None:
        return QuickLook(size, header, problem=problem)
    counts, torn = _count(descriptor, size, progress)
    if counts is None:
        counts = _count_line_by_line(descriptor)
    problem = counts.problem
    growing = False
    if problem is None and torn:
        growing = True
        problem = "the last row is cut short: the writer was stopped, or is writing at this moment"
    elif problem is None and counts.calls != counts.ended:
        growing = True
        problem = f"{counts.calls - counts.ended} of {counts.calls} calls have no end: "
        problem += "the writer was stopped, or still writes"
    return QuickLook(size, header, counts.calls, counts.ended, counts.events, problem, growing)


def _read_header(descriptor: int) -> tuple[dict[str, Any], str | None]:
    os.lseek(descriptor, 0, os.SEEK_SET)
    first, newline, _ = os.read(descriptor, HEADER_BYTES).partition(b"\n")
    if not first and not newline:
        return {}, "the file is empty"
    try:
        header = json.loads(first)
    except (ValueError, RecursionError):
        header = None
    if not isinstance(header, dict) or header.get("type") != "header":
        return {}, "line 1: it is no recording header"
    version = header.get("format_version")
    if type(version) is not int:
        return header, "line 1: the header has no format_version"
    if version != RECORDING_FORMAT_VERSION:
        return header, (
            f"line 1: format version {version}, and this version of openprogram-core reads "
            f"{RECORDING_FORMAT_VERSION} only"
        )
    return header, None


def _count(descriptor: int, size: int, progress: Callable[[int], None]) -> tuple[_Counts | None, bool]:
    """Count the rows, None when a line does not begin as the writer's do; and whether the last is torn."""
    os.lseek(descriptor, 0, os.SEEK_SET)
    counts = dict.fromkeys(_PATTERNS, 0)
    overlap = max(map(len, _PATTERNS)) - 1
    done, tail = 0, b""
    while done < size and (chunk := os.read(descriptor, min(CHUNK_BYTES, size - done))):
        done += len(chunk)
        window = tail + chunk
        for pattern in _PATTERNS:
            # What lies in the overlap alone was counted with the piece before.
            counts[pattern] += window.count(pattern) - tail.count(pattern)
        tail = window[-overlap:]
        progress(done)
    torn = not tail.endswith(b"\n")
    lines_after_header = counts[_NEWLINE] - (0 if torn else 1)
    found = _Counts(counts[_REQUEST], counts[_EVENT], counts[_END])
    unknown = lines_after_header - found.calls - found.events - found.ended
    return (found if unknown <= int(torn) else None), torn


def _count_line_by_line(descriptor: int) -> _Counts:
    os.lseek(descriptor, 0, os.SEEK_SET)
    kinds = {"request": 0, "event": 0, "call_end": 0}
    problem = None
    with os.fdopen(os.dup(descriptor), "rb") as file:
        for number, (_, line) in enumerate(read_lines(file, MAX_ROW_BYTES), start=1):
            if number == 1 or (line is not None and not line.endswith(b"\n")):
                continue
            problem = _fault(line, kinds)
            if problem is not None:
                problem = f"line {number}: {problem}"
                break
    return _Counts(kinds["request"], kinds["event"], kinds["call_end"], problem)


def _fault(line: bytes | None, kinds: dict[str, int]) -> str | None:
    """Count the row in ``kinds``, or say what is wrong with it."""
    if line is None:
        return f"it is longer than {MAX_ROW_BYTES:,} bytes"
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        return "it is no JSON"
    kind = row.get("type") if isinstance(row, dict) else None
    if kind not in kinds:
        return "it is no row of a recording"
    kinds[kind] += 1
    return None
