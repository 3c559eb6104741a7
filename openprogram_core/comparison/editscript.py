"""The fewest edits between two sequences, found in time proportional to their length times the edits.

Myers' greedy algorithm: what is long and nearly the same costs little, whatever repeats in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

_NOWHERE = -1


class Block(NamedTuple):
    """Items ``[left_from:left_to]`` of the one became ``[right_from:right_to]`` of the other."""

    left_from: int
    left_to: int
    right_from: int
    right_to: int


def edit_blocks(left: Sequence[object], right: Sequence[object], most: int) -> list[Block]:
    """Return the blocks that differ, in order; what lies between them is equal.

    One block for everything that is not the same at both ends, when more than ``most`` single edits would be
    needed.
    """
    start, shared = 0, min(len(left), len(right))
    while start < shared and left[start] == right[start]:
        start += 1
    end = 0
    while end < shared - start and left[-1 - end] == right[-1 - end]:
        end += 1
    left_end, right_end = len(left) - end, len(right) - end
    if start == left_end and start == right_end:
        return []
    steps = _furthest(left[start:left_end], right[start:right_end], most)
    if steps is None:
        return [Block(start, left_end, start, right_end)]
    return _blocks(steps, left_end - start, right_end - start, start)


def _step(ends: dict[int, int], diagonal: int, lefts: int, rights: int) -> tuple[int, bool]:
    """The furthest left position on a diagonal with one more edit, and whether that was an insertion."""
    inserted = ends.get(diagonal + 1, _NOWHERE)
    if inserted - diagonal > rights:
        inserted = _NOWHERE
    removed = ends.get(diagonal - 1, _NOWHERE) + 1
    if removed > lefts or removed == 0:
        removed = _NOWHERE
    return (inserted, True) if inserted > removed else (removed, False)


def _furthest(left: Sequence[object], right: Sequence[object], most: int) -> list[dict[int, int]] | None:
    """The positions reached with 0, 1, 2, … edits by diagonal (left minus right); None beyond ``most``."""
    lefts, rights = len(left), len(right)
    history: list[dict[int, int]] = []
    ends: dict[int, int] = {1: 0}
    for edits in range(most + 1):
        reached: dict[int, int] = {}
        for diagonal in range(-edits, edits + 1, 2):
            x, _ = _step(ends, diagonal, lefts, rights)
            if x == _NOWHERE:
                continue
            y = x - diagonal
            while x < lefts and y < rights and left[x] == right[y]:
                x += 1
                y += 1
            reached[diagonal] = x
            if x == lefts and y == rights:
                history.append(ends)
                return history
        history.append(ends)
        ends = reached
    return None


def _blocks(history: list[dict[int, int]], x: int, y: int, offset: int) -> list[Block]:
    """Walk back from the end, joining edits that have nothing equal between them."""
    lefts, rights = x, y
    blocks: list[Block] = []
    for edits in range(len(history) - 1, 0, -1):
        diagonal = x - y
        x, was_insertion = _step(history[edits], diagonal, lefts, rights)
        y = x - diagonal
        before_x, before_y = (x, y - 1) if was_insertion else (x - 1, y)
        end_x, end_y = x + offset, y + offset
        if blocks and (blocks[-1].left_from, blocks[-1].right_from) == (end_x, end_y):
            last = blocks.pop()
            end_x, end_y = last.left_to, last.right_to
        blocks.append(Block(before_x + offset, end_x, before_y + offset, end_y))
        x, y = before_x, before_y
    return blocks[::-1]
