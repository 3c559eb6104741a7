"""Opens what is surely a file, and reads it line by line without trusting its lines to be short."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from openprogram_core.errors import RecordingFileError

BUFFER_BYTES = 1 << 18


def repair_advice(path: Path) -> str:
    """Return the command that saves the complete calls of a broken recording, and what it does."""
    import shlex

    # A bare name would be taken for the id of a managed recording.
    shown = str(path) if path.is_absolute() else f"./{path}"
    return f"'openprogram recordings check --repair {shlex.quote(shown)}' keeps the complete calls"


def open_regular(path: Path) -> int:
    """Open ``path`` for reading and return the descriptor.

    Raises `RecordingFileError` for what is missing, unreadable, or no regular file; never waits for a fifo.
    """
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    flags |= getattr(os, "O_NOCTTY", 0)
    try:
        fd = os.open(path, flags)
    except IsADirectoryError:
        raise RecordingFileError(path, "is a folder, not a recording file") from None
    except FileNotFoundError:
        raise RecordingFileError(path, "there is no such file") from None
    except OSError as error:
        raise RecordingFileError(path, f"cannot be opened: {error.strerror}") from error
    try:
        mode = os.fstat(fd).st_mode
    except OSError as error:
        os.close(fd)
        raise RecordingFileError(path, f"cannot be read: {error.strerror}") from error
    if not stat.S_ISREG(mode):
        os.close(fd)
        kind = "a folder" if stat.S_ISDIR(mode) else "no regular file (a pipe, socket or device)"
        raise RecordingFileError(path, f"is {kind}, not a recording file")
    return fd


def read_lines(file: BinaryIO, max_bytes: int) -> Iterator[tuple[int, bytes | None]]:
    """Yield each line's offset and bytes with the newline, None for a line longer than ``max_bytes``."""
    offset = 0
    readline = file.readline
    limit = max_bytes + 1
    while line := readline(limit):
        if len(line) < limit:
            yield offset, line
            offset += len(line)
            continue
        start, ended = offset, line.endswith(b"\n")
        offset += len(line)
        line = b""
        yield start, None
        while not ended and (piece := readline(BUFFER_BYTES)):
            offset += len(piece)
            ended = piece.endswith(b"\n")
