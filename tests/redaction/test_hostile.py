"""Hostile texts and patterns: nothing hangs, nothing planted is left. The long run is a script."""

from __future__ import annotations

import random

import pytest

from tests.benchmarks.fuzz_redaction import check_hostile_patterns, check_text, fixed_texts, hostile_text
from tests.redaction.support import built_in, recorded


@pytest.mark.parametrize("number", range(6))
def test_texts_that_froze_others(number: int) -> None:
    text = fixed_texts()[number]
    check_text(built_in(), text, len(text) // 3)
    assert built_in().remove_secret_values(text) is text


@pytest.mark.parametrize("seed", range(12))
def test_hostile_texts(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(4):
        text = hostile_text(rng, 6_000)
        check_text(built_in(), text, rng.randrange(len(text)))


def test_patterns_that_hang_a_backtracking_engine() -> None:
    check_hostile_patterns(random.Random(1), 20_000)


@pytest.mark.parametrize("seed", range(6))
def test_hostile_streams(seed: int) -> None:
    rng = random.Random(seed)
    text = hostile_text(rng, 3_000)
    pieces = [text[start : start + 3] for start in range(0, len(text), 3)]
    for kind in ("text", "arguments"):
        stream = recorded(pieces, kind)
        assert not stream.violations()
