"""Which items of two lists belong together, so that one insertion is one difference."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from typing import Any

from openprogram_core.comparison.digest import fingerprint
from openprogram_core.comparison.skips import SkipOrigin, SkipState

MAX_ITEMS = 5_000
"""Longer lists are paired by index: finding the longest common run costs the square of what differs."""


def align(
    left: Sequence[Any], right: Sequence[Any], names: Mapping[str, SkipOrigin], state: SkipState | None
) -> Iterator[tuple[int | None, int | None]]:
    """Yield ``(left index, right index)`` of the items that belong together; None for a missing partner.

    Items that are equal under the skips do, and between those the others in their order.
    """
    lefts, rights = _fingerprints(left, names, state), _fingerprints(right, names, state)
    start, shared = 0, min(len(lefts), len(rights))
    while start < shared and lefts[start] == rights[start]:
        start += 1
    end = 0
    while end < shared - start and lefts[-1 - end] == rights[-1 - end]:
        end += 1
    for index in range(start):
        yield index, index
    middle = lefts[start : len(lefts) - end], rights[start : len(rights) - end]
    for left_from, left_to, right_from, right_to in _blocks(*middle):
        paired = min(left_to - left_from, right_to - right_from)
        for offset in range(paired):
            yield start + left_from + offset, start + right_from + offset
        for index in range(left_from + paired, left_to):
            yield start + index, None
        for index in range(right_from + paired, right_to):
            yield None, start + index
    for back in range(end, 0, -1):
        yield len(lefts) - back, len(rights) - back


def _blocks(lefts: list[bytes], rights: list[bytes]) -> Iterator[tuple[int, int, int, int]]:
    if max(len(lefts), len(rights)) > MAX_ITEMS:
        yield 0, len(lefts), 0, len(rights)
        return
    for _, *block in SequenceMatcher(None, lefts, rights, autojunk=False).get_opcodes():
        yield block[0], block[1], block[2], block[3]


def _fingerprints(
    items: Sequence[Any], names: Mapping[str, SkipOrigin], state: SkipState | None
) -> list[bytes]:
    return [
        fingerprint(item, names, state.step(index) if state is not None else None)
        for index, item in enumerate(items)
    ]
