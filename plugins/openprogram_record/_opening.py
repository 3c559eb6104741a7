"""Opens the file that is to be recorded into, or says clearly why not; what is not ours stays untouched."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

from openprogram_core.recordings import (
    HeaderRow,
    RecordingFileError,
    RecordingWriteError,
    RowFaultError,
    header_row,
    parse_row,
)

_FLAGS = os.O_RDWR | os.O_APPEND | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
_LONGEST_HEADER = 1 << 20


def open_for_appending(path: Path) -> tuple[int, bool]:
    """Return a descriptor, and whether the file is new. Raises `RecordingWriteError`."""
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
        raise RecordingWriteError(path, f"cannot be opened for writing: {words(error)}") from error
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise RecordingWriteError(path, "is no regular file (a pipe, socket or device)")
    return fd, False


def reopen(path: Path) -> int:
    """Return a descriptor of a file that was open before. Raises OSError."""
    return os.open(path, _FLAGS)


def read_at(fd: int, offset: int, count: int) -> bytes:
    """Read without moving anything. The caller excludes other readers of the descriptor."""
    if hasattr(os, "pread"):
        return os.pread(fd, count, offset)
    os.lseek(fd, offset, os.SEEK_SET)
    return os.read(fd, count)


def header_size(fd: int, path: Path, size: int) -> int:
    """Return the size of the header row; 0 when there is none yet, or its writing was cut short.

    Raises `RecordingFileError` when the file is no recording.
    """
    head = read_at(fd, 0, _LONGEST_HEADER) if size else b""
    line, newline, _ = head.partition(b"\n")
    torn = size == len(line) and line.startswith(b'{"type":"header",')
    if size == 0 or torn:
        return 0
    try:
        row = parse_row(line + newline)
    except RowFaultError as fault:
        raise RecordingFileError(path, f"is no recording: {fault.reason}", line_number=1) from None
    if not isinstance(row, HeaderRow):
        raise RecordingFileError(path, "is no recording: the first line is no header", line_number=1)
    return len(line) + 1


def renewed_header(old: bytes, new: bytes) -> bytes:
    """Return the header row ``new`` with the id and the time of ``old``, and what else only that one has."""
    kept, fields = json.loads(old), json.loads(new)
    return header_row(
        recording_id=kept.get("recording_id", fields["recording_id"]),
        created_at=kept.get("created_at", fields["created_at"]),
        generator=fields["generator"],
        redaction=fields["redaction"],
        facts={**kept, **fields},
    )


def identity(found: os.stat_result) -> tuple[int, int]:
    """Return what tells one file from another, whatever their names."""
    return found.st_dev, found.st_ino


def words(error: OSError) -> str:
    """Return the system's words for an error, without the path."""
    return error.strerror or type(error).__name__
