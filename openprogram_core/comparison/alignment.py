"""Which items of two lists belong together, so that one insertion is one difference."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from openprogram_core.comparison.digest import fingerprint
from openprogram_core.comparison.editscript import edit_blocks
from openprogram_core.comparison.skips import Skips, SkipState

MAX_EDITS = 200
"""Lists further apart than this are paired by index between their equal ends."""


def align(
    left: Sequence[Any], right: Sequence[Any], skips: Skips, state: SkipState | None
) -> Iterator[tuple[int | None, int | None]]:
    """Yield ``(left index, right index)`` of the items that belong together; None for a missing partner.

    Items that are equal under the skips do, and between those the others in their order.
    """
    done = 0
    for block in edit_blocks(
        _fingerprints(left, skips, state), _fingerprints(right, skips, state), MAX_EDITS
    ):
        shift = block.right_from - block.left_from
        for index in range(done, block.left_from):
            yield index, index + shift
        paired = min(block.left_to - block.left_from, block.right_to - block.right_from)
        for index in range(block.left_from, block.left_from + paired):
            yield index, index + shift
        for index in range(block.left_from + paired, block.left_to):
            yield index, None
        for index in range(block.right_from + paired, block.right_to):
            yield None, index
        done = block.left_to
    for index in range(done, len(left)):
        yield index, index + len(right) - len(left)


def _fingerprints(items: Sequence[Any], skips: Skips, state: SkipState | None) -> list[bytes]:
    return [
        fingerprint(item, skips, state.step(index) if state is not None else None)
        for index, item in enumerate(items)
    ]
