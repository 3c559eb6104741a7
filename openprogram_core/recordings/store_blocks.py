"""Reads a recording in blocks of whole rows, so that most rows need not be looked at one by one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO, NamedTuple

from openprogram_core.recordings.limits import MAX_ROW_BYTES

BLOCK_BYTES = 1 << 20

# With fewer rows than this in a block, looking at each costs less than searching the block.
FEW_ROWS = 64

_ROW = b'\n{"type":"'


class Block(NamedTuple):
    """Some rows that follow each other.

    ``rows`` is a newline, then the rows with a newline between them and none at the end. ``number`` is the
    line number of the first, ``offset`` where it begins, ``size`` how many there are. ``torn``: the last
    one had no newline. ``too_long``: it is one row that was longer than allowed, and is left out.
    """

    rows: bytes
    number: int
    offset: int
    size: int
    torn: bool = False
    too_long: bool = False

    def lines(self) -> Iterator[tuple[int, bytes | None]]:
        """Yield each row's line number and its bytes with the newline it had; None for one too long."""
        if self.too_long:
            yield self.number, None
            return
        rows, number, begin = self.rows, self.number, 1
        while (end := rows.find(b"\n", begin)) >= 0:
            yield number, rows[begin : end + 1]
            number, begin = number + 1, end + 1
        yield number, rows[begin:] if self.torn else rows[begin:] + b"\n"

    def is_plain(self) -> bool:
        """Whether it is many rows, all whole, that begin as the recorder's do: worth searching."""
        many = self.number > 1 and self.size >= FEW_ROWS
        return many and not self.torn and self.rows.count(_ROW) == self.size


def read_blocks(file: BinaryIO, max_bytes: int = MAX_ROW_BYTES) -> Iterator[Block]:
    """Yield the rows of an open recording from its start, in blocks; the header is a block of its own.

    Memory holds a few megabytes, or one row of up to ``max_bytes``. Raises `OSError`.
    """
    header = file.readline(max_bytes + 1)
    if not header:
        return
    yield Block(b"\n" + header.rstrip(b"\n"), 1, 0, 1, torn=not header.endswith(b"\n"))
    number, offset, pieces = 2, len(header), [b"\n"]
    held = 1
    while piece := file.read(BLOCK_BYTES):
        rows, newline, rest = piece.rpartition(b"\n")
        if newline:
            block = b"".join([*pieces, rows])
            count = block.count(b"\n")
            yield Block(block, number, offset, count)
            number, offset = number + count, offset + len(block)
            pieces, held = [b"\n", rest], 1 + len(rest)
            continue
        pieces.append(rest)
        held += len(rest)
        if held > max_bytes:
            yield Block(b"", number, offset, 1, too_long=True)
            return
    if held > 1:
        yield Block(b"".join(pieces), number, offset, 1, torn=True)
