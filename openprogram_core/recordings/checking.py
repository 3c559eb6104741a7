"""Says everything that is wrong with a recording, and saves the complete calls of a broken one."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple

from openprogram_core._json import dump_json, parse_json
from openprogram_core.errors import RecordingFileError, RecordingWriteError
from openprogram_core.recordings.lines import BUFFER_BYTES, open_regular, read_lines
from openprogram_core.recordings.parsing import RowFaultError
from openprogram_core.recordings.rows import MAX_ROW_BYTES
from openprogram_core.recordings.scanning import RecordingScanner

_MOST_PROBLEMS = 1_000


class CheckReport(NamedTuple):
    """What `check_recording_file` found.

    ``problems`` in the order of the file, at most a thousand of ``problem_count``; ``complete_calls`` are
    the call_indexes that are whole, ``incomplete_calls`` those that begin and are not, as they began.
    ``repairable`` is False when the header cannot be read: then nothing says that this is a recording.
    """

    path: Path
    problems: tuple[RecordingFileError, ...]
    problem_count: int
    complete_calls: tuple[int, ...]
    incomplete_calls: tuple[int, ...]
    repairable: bool

    @property
    def ok(self) -> bool:
        """Whether the strict reader opens it."""
        return self.problem_count == 0


class RepairReport(NamedTuple):
    """What `repair_recording_file` did: the file it wrote, and what it found in the broken one.

    In the new file the calls of ``found.complete_calls`` have the indexes 0, 1, 2 and so on.
    """

    path: Path
    found: CheckReport


class _Collector:
    def __init__(self, path: Path) -> None:
        self.path = path
        self.problems: list[RecordingFileError] = []
        self.count = 0

    def add(self, fault: RowFaultError, line_number: int | None) -> None:
        self.count += 1
        if len(self.problems) < _MOST_PROBLEMS:
            self.problems.append(
                RecordingFileError(
                    self.path, fault.reason, line_number=line_number, call_index=fault.call_index
                )
            )


def check_recording_file(path: str | os.PathLike[str], *, max_row_bytes: int = MAX_ROW_BYTES) -> CheckReport:
    """Return everything that is wrong with a recording; the strict reader stops at the first of it.

    Raises `RecordingFileError` when the file cannot be read at all.
    """
    where = Path(path)
    collector = _Collector(where)
    scanner = RecordingScanner(collector.add, strict=False)
    for line, offset in _lines(where, max_row_bytes):
        scanner.feed(line, offset, max_row_bytes)
        if scanner.header is None:
            # No recording: what its other lines are not is of no use to anybody.
            break
    scanner.finish()
    calls = scanner.calls or {}
    return CheckReport(
        where,
        tuple(collector.problems),
        collector.count,
        tuple(call_index for call_index, complete in calls.items() if complete),
        tuple(call_index for call_index, complete in calls.items() if not complete),
        scanner.header is not None,
    )


def repair_recording_file(
    path: str | os.PathLike[str],
    target: str | os.PathLike[str] | None = None,
    *,
    max_row_bytes: int = MAX_ROW_BYTES,
) -> RepairReport:
    """Write the complete calls of a broken recording into a new file, numbered anew; keep the broken one.

    The new file is ``target``, by default ``NAME.repaired.jsonl`` beside it, or the next free
    ``NAME.repaired-2.jsonl``; nothing is ever overwritten. Raises `RecordingFileError` when the file cannot
    be read or is no recording, `RecordingWriteError` when the new one cannot be written.
    """
    where = Path(path)
    found = check_recording_file(where, max_row_bytes=max_row_bytes)
    if not found.repairable:
        first = found.problems[0]
        raise RecordingFileError(
            where, f"is no recording, nothing can be kept: {first.reason}", line_number=first.line_number
        )
    numbers = {old: new for new, old in enumerate(found.complete_calls)}
    goal, file = _create(where, None if target is None else Path(target))
    try:
        with file:
            for row in _kept_rows(where, numbers, max_row_bytes):
                file.write(row)
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        goal.unlink(missing_ok=True)
        raise RecordingWriteError(goal, f"cannot be written: {error.strerror}") from error
    except BaseException:
        goal.unlink(missing_ok=True)
        raise
    return RepairReport(goal, found)


def _lines(path: Path, max_row_bytes: int) -> Iterator[tuple[bytes | None, int]]:
    fd = open_regular(path)
    with os.fdopen(fd, "rb", buffering=BUFFER_BYTES) as file:
        try:
            for offset, line in read_lines(file, max_row_bytes):
                yield line, offset
        except OSError as error:
            raise RecordingFileError(path, f"cannot be read: {error.strerror}") from error


def _kept_rows(path: Path, numbers: dict[int, int], max_row_bytes: int) -> Iterator[bytes]:
    scanner = RecordingScanner(lambda fault, line_number: None, strict=False)
    for line, offset in _lines(path, max_row_bytes):
        call_index = scanner.feed(line, offset, max_row_bytes)
        if line is None or call_index is None:
            continue
        line = line if line.endswith(b"\n") else line + b"\n"
        if call_index < 0:
            yield line
        elif call_index in numbers:
            yield _renumbered(line, call_index, numbers[call_index])


def _renumbered(line: bytes, old: int, new: int) -> bytes:
    if old == new:
        return line
    for kind in (b"event", b"request", b"call_end"):
        head = b'{"type":"%b","call_index":%d,' % (kind, old)
        if line.startswith(head):
            return b'{"type":"%b","call_index":%d,%b' % (kind, new, line[len(head) :])
    fields = parse_json(line)
    fields["call_index"] = new
    return dump_json(fields) + b"\n"


def _create(broken: Path, target: Path | None) -> tuple[Path, BinaryIO]:
    number = 1
    while True:
        suffix = ".repaired" if number == 1 else f".repaired-{number}"
        goal = target or broken.with_name(f"{broken.stem}{suffix}{broken.suffix}")
        try:
            fd = os.open(goal, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o600)
            return goal, os.fdopen(fd, "wb", buffering=BUFFER_BYTES)
        except FileExistsError:
            if target is not None:
                raise RecordingWriteError(goal, "exists already; choose another path") from None
            number += 1
        except OSError as error:
            raise RecordingWriteError(goal, f"cannot be created: {error.strerror}") from error
