from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from openprogram_core.comparison.editscript import Block, edit_blocks

ITEMS = st.lists(st.integers(0, 3), max_size=12)


def longest_common(left: list[int], right: list[int]) -> int:
    row = [0] * (len(right) + 1)
    for one in left:
        before = 0
        for index, other in enumerate(right):
            before, row[index + 1] = (
                row[index + 1],
                before + 1 if one == other else max(row[index + 1], row[index]),
            )
    return row[-1]


@given(ITEMS, ITEMS)
@settings(deadline=None, max_examples=200)
def test_the_blocks_are_the_fewest_edits(left: list[int], right: list[int]) -> None:
    blocks = edit_blocks(left, right, 100)
    made: list[int] = []
    done = edits = 0
    for block in blocks:
        made += left[done : block.left_from] + right[block.right_from : block.right_to]
        edits += block.left_to - block.left_from + block.right_to - block.right_from
        done = block.left_to
    assert made + left[done:] == right
    assert edits == len(left) + len(right) - 2 * longest_common(left, right)


def test_too_many_edits_are_one_block_between_the_equal_ends() -> None:
    left, right = [0, *range(100, 150), 9], [0, *range(200, 250), 9]
    assert edit_blocks(left, right, 10) == [Block(1, 51, 1, 51)]
    assert edit_blocks(left, right, 100) == [Block(1, 51, 1, 51)]


def test_long_and_full_of_repetition() -> None:
    left = ["a", "b"] * 50_000
    right = [*left[:30_000], "c", *left[30_000:70_001], *left[70_003:]]
    blocks = edit_blocks(left, right, 50)
    assert sum(block.left_to - block.left_from + block.right_to - block.right_from for block in blocks) == 3
