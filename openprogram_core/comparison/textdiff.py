"""What changed in a long text, to the character."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from openprogram_core.comparison.editscript import edit_blocks
from openprogram_core.comparison.texts import ELLIPSIS, escape, shared_prefix, shared_suffix

MAX_EDITS = 300
"""Texts that differ in more words than this are shown as one change."""

MAX_PIECES = 50_000
"""Texts of more words are matched by lines."""

CLOSE = 8
"""Changes with at most this many equal characters between them are shown as one."""

_WORDS = re.compile(r"\w+|\s+|[^\w\s]")
_LINES = re.compile(r"[^\n]*\n|[^\n]+")


class TextChange(NamedTuple):
    """One place where two texts differ: offsets in characters, and what stands there on each side."""

    recorded_at: int
    incoming_at: int
    recorded: str
    incoming: str


def text_changes(recorded: str, incoming: str) -> list[TextChange]:
    """Return the places where two texts differ, in order; putting them right makes the texts equal."""
    start = shared_prefix(recorded, incoming)
    shorter = min(len(recorded), len(incoming))
    end = shared_suffix(recorded, incoming, shorter - start)
    left, right = recorded[start : len(recorded) - end], incoming[start : len(incoming) - end]
    if not left and not right:
        return []
    pattern = _WORDS if max(len(left), len(right)) <= 4 * MAX_PIECES else _LINES
    changes = [_trimmed(change) for change in _matched(pattern.findall(left), pattern.findall(right), start)]
    return _merged(changes, recorded, incoming)


def _matched(lefts: list[str], rights: list[str], start: int) -> Iterator[TextChange]:
    left_at = right_at = start
    left_done = right_done = 0
    for block in edit_blocks(lefts, rights, MAX_EDITS):
        left_at += sum(map(len, lefts[left_done : block.left_from]))
        right_at += sum(map(len, rights[right_done : block.right_from]))
        left = "".join(lefts[block.left_from : block.left_to])
        right = "".join(rights[block.right_from : block.right_to])
        yield TextChange(left_at, right_at, left, right)
        left_at += len(left)
        right_at += len(right)
        left_done, right_done = block.left_to, block.right_to


def _trimmed(change: TextChange) -> TextChange:
    same = shared_prefix(change.recorded, change.incoming)
    left, right = change.recorded[same:], change.incoming[same:]
    end = shared_suffix(left, right, min(len(left), len(right)))
    return TextChange(
        change.recorded_at + same,
        change.incoming_at + same,
        left[: len(left) - end],
        right[: len(right) - end],
    )


def _merged(changes: list[TextChange], recorded: str, incoming: str) -> list[TextChange]:
    """Join changes with next to nothing between them: a reader sees one."""
    merged: list[TextChange] = []
    for change in changes:
        if merged and change.recorded_at - (merged[-1].recorded_at + len(merged[-1].recorded)) <= CLOSE:
            first = merged.pop()
            change = TextChange(
                first.recorded_at,
                first.incoming_at,
                recorded[first.recorded_at : change.recorded_at + len(change.recorded)],
                incoming[first.incoming_at : change.incoming_at + len(change.incoming)],
            )
        merged.append(change)
    return merged


def render_changes(
    recorded: str,
    incoming: str,
    *,
    width: int = 30,
    limit: int = 5,
    sides: tuple[str, str] = ("recorded", "incoming"),
) -> list[str]:
    """Return lines that show each change with ``width`` characters around it, and carets under it."""
    changes = text_changes(recorded, incoming)
    lines: list[str] = []
    for change in changes[:limit]:
        # People count from 1; what was added behind the last character stands at the last.
        place = min(change.recorded_at + 1, max(1, len(recorded)))
        lines.append(f"at character {place} of {len(recorded)}:")
        lines += _window(sides[0], recorded, change.recorded_at, change.recorded, width)
        lines += _window(sides[1], incoming, change.incoming_at, change.incoming, width)
    if len(changes) > limit:
        lines.append(f"and {len(changes) - limit} more changes in this text")
    return lines


def _window(side: str, text: str, at: int, changed: str, width: int) -> list[str]:
    first, last = max(at - width, 0), at + len(changed) + width
    before = (ELLIPSIS if first > 0 else "") + escape(text[first:at])
    shown = escape(changed if len(changed) <= 2 * width else changed[:width] + ELLIPSIS + changed[-width:])
    after = escape(text[at + len(changed) : last]) + (ELLIPSIS if last < len(text) else "")
    carets = "^" * len(shown) if shown else "^"
    return [f"  {side} {before}{shown}{after}", f"  {' ' * (len(side) + 1 + len(before))}{carets}"]
