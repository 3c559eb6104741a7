"""Edits of a text: what is cut out, what takes its place, and whose rule said so."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from typing import NamedTuple

PLACEHOLDER = "[secret removed]"
"""What stands where a secret stood. It holds no part of the value."""


class Source(NamedTuple):
    """Who says that something is secret: the plugin and the name of its rule.

    ``kind`` is ``field``, ``shape``, ``value`` (known from elsewhere in the call) or ``hook``.
    """

    kind: str
    plugin: str
    rule: str


class Edit(NamedTuple):
    """Replace ``start:end`` of a text by ``text``. Offsets count characters."""

    start: int
    end: int
    text: str
    source: Source


def merge_edits(edits: Iterable[Edit], text: str) -> list[Edit]:
    """Return the edits by place, overlapping ones made one; placeholders that stand are left whole."""
    found = [edit for edit in edits if edit.end > edit.start]
    if found and PLACEHOLDER in text:
        found = _around_placeholders(found, text)
    merged: list[Edit] = []
    for edit in sorted(found, key=lambda one: (one.start, -one.end)):
        if merged and edit.start < merged[-1].end:
            last = merged[-1]
            if edit.end > last.end:
                merged[-1] = Edit(last.start, edit.end, PLACEHOLDER, last.source)
        else:
            merged.append(edit)
    return [edit for edit in merged if text[edit.start : edit.end] != edit.text]


def _around_placeholders(edits: Iterable[Edit], text: str) -> list[Edit]:
    """Drop edits inside a placeholder, and widen those that cut into one."""
    places = []
    place = text.find(PLACEHOLDER)
    while place >= 0:
        places.append(place)
        place = text.find(PLACEHOLDER, place + len(PLACEHOLDER))
    kept = []
    for edit in edits:
        start, end = edit.start, edit.end
        before = bisect_right(places, start) - 1
        if before >= 0 and start < places[before] + len(PLACEHOLDER):
            start = places[before]
        last = bisect_right(places, end - 1) - 1
        if last >= 0 and end < places[last] + len(PLACEHOLDER):
            end = places[last] + len(PLACEHOLDER)
        if text[start:end] != PLACEHOLDER:
            kept.append(
                edit if (start, end) == (edit.start, edit.end) else Edit(start, end, PLACEHOLDER, edit.source)
            )
    return kept


def apply_edits(text: str, edits: Sequence[Edit]) -> str:
    """Return ``text`` with merged edits made."""
    pieces: list[str] = []
    position = 0
    for edit in edits:
        pieces += (text[position : edit.start], edit.text)
        position = edit.end
    pieces.append(text[position:])
    return "".join(pieces)


def to_characters(data: bytes, length: int, spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Turn byte offsets into character offsets of a text of ``length`` characters, widened to whole ones."""
    found = list(spans)
    if len(data) == length:
        return found
    offsets = sorted({offset for span in found for offset in span})
    places: dict[int, int] = {}
    position = characters = 0
    for offset in offsets:
        whole = offset
        while 0 < whole < len(data) and data[whole] & 0xC0 == 0x80:
            whole -= 1
        if whole > position:
            characters += len(data[position:whole].decode("utf-8", "surrogatepass"))
            position = whole
        places[offset] = characters
    return [(places[start], places[end]) for start, end in found]
