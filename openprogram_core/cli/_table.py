"""Rows for people: in columns where they fit, in blocks where the terminal is too narrow."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from openprogram_core.cli._output import data, is_terminal, printable, styled

GAP = "  "


def write_table(headings: Sequence[str], rows: Sequence[Sequence[str]], *, right: Sequence[int] = ()) -> None:
    """Write rows to stdout under their headings; what stands in them is made printable.

    ``right`` names the columns set flush right. On a terminal too narrow for the columns every row becomes a
    block of ``heading: value`` lines. Into a pipe the columns are written whatever their width.
    """
    cells = [[printable(cell) for cell in row] for row in rows]
    widths = [max(_width(row[column]) for row in ([*headings], *cells)) for column in range(len(headings))]
    total = sum(widths) + len(GAP) * (len(widths) - 1)
    if is_terminal(sys.stdout) and total > _columns():
        _write_blocks(headings, cells)
        return
    data(styled(_line(headings, widths, right), "bold"))
    for row in cells:
        data(_line(row, widths, right))


def write_fields(fields: Sequence[tuple[str, str]]) -> None:
    """Write ``name: value`` lines to stdout, values aligned; what stands in them is made printable."""
    width = max((len(name) for name, _ in fields), default=0) + 1
    for name, value in fields:
        data(f"{name + ':':<{width}} {printable(value)}")


def _write_blocks(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    for number, row in enumerate(rows):
        if number:
            data()
        for heading, cell in zip(headings, row, strict=True):
            if cell:
                data(f"{styled(heading.lower() + ':', 'bold')} {cell}")


def _line(row: Sequence[str], widths: Sequence[int], right: Sequence[int]) -> str:
    cells = []
    for column, (cell, width) in enumerate(zip(row, widths, strict=True)):
        padding = " " * (width - _width(cell))
        cells.append(padding + cell if column in right else cell + padding)
    return GAP.join(cells).rstrip()


def _columns() -> int:
    import shutil

    return shutil.get_terminal_size().columns


def _width(text: str) -> int:
    if text.isascii():
        return len(text)
    from unicodedata import combining, east_asian_width

    return sum(0 if combining(one) else 2 if east_asian_width(one) in "WF" else 1 for one in text)
