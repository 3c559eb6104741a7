from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from openprogram_core.comparison import ComparisonPolicy, compare, find_first_difference
from openprogram_core.comparison.placeholders import matches_with_holes

HOLE = "[secret removed]"
LENIENT = replace(ComparisonPolicy.exact(), placeholder=HOLE, secret_field=lambda key: key == "api_key")
TEXTS = st.text(alphabet="ab", max_size=6)


@given(st.lists(TEXTS, min_size=1, max_size=4), TEXTS)
@settings(deadline=None, max_examples=200)
def test_a_hole_stands_for_any_non_empty_text(pieces: list[str], incoming: str) -> None:
    pattern = ".+".join(re.escape(piece) for piece in pieces)
    expected = re.fullmatch(pattern, incoming, re.DOTALL) is not None
    assert matches_with_holes(HOLE.join(pieces), incoming, HOLE) == expected


@given(st.lists(st.tuples(TEXTS, st.text(min_size=1, max_size=4)), min_size=1, max_size=5), TEXTS)
@settings(deadline=None)
def test_what_was_removed_fits_again(parts: list[tuple[str, str]], end: str) -> None:
    recorded = "".join(text + HOLE for text, _ in parts) + end
    incoming = "".join(text + secret for text, secret in parts) + end
    assert matches_with_holes(recorded, incoming, HOLE)


def test_a_hostile_text_costs_linear_time() -> None:
    recorded = HOLE.join(["a"] + ["ab" * 5] * 20_000 + ["c"])
    assert not matches_with_holes(recorded, "a" * 1_000_000, HOLE)


def test_counted_and_only_on_the_recorded_side() -> None:
    recorded = {"text": f"key {HOLE} and {HOLE}.", "same": HOLE, "list": [HOLE]}
    incoming = {"text": "key abc and def.", "same": HOLE, "list": ["ghi"]}
    comparison = compare(recorded, incoming, policy=LENIENT)
    assert (comparison.differences, comparison.placeholders) == ((), 2)
    assert find_first_difference(incoming, recorded, policy=LENIENT) == ("list[0]", "ghi", HOLE)
    assert find_first_difference(recorded, incoming, policy=ComparisonPolicy.exact()) is not None


@pytest.mark.parametrize("other", ["", None, 1, ["x"]])
def test_a_hole_is_no_empty_text_and_no_other_type(other: Any) -> None:
    assert find_first_difference({"text": HOLE}, {"text": other}, policy=LENIENT) is not None


def test_a_secret_field_may_be_absent_on_either_side() -> None:
    with_key: dict[str, Any] = {"options": {"api_key": HOLE, "seed": 1}}
    without: dict[str, Any] = {"options": {"seed": 1}}
    assert find_first_difference(with_key, without, policy=LENIENT) is None
    assert find_first_difference(without, with_key, policy=LENIENT) is None
    assert LENIENT.fingerprint(with_key) == LENIENT.fingerprint(without)
    assert LENIENT.fingerprint({"note": HOLE}) != LENIENT.fingerprint({})
    assert find_first_difference({"api_key": "x"}, {}, policy=LENIENT) is not None
    assert find_first_difference({"note": HOLE}, {}, policy=LENIENT) is not None


def test_a_removed_key_stands_for_the_key_that_was_there() -> None:
    recorded = {f"user {HOLE}": {"n": 1}, f"{HOLE} #2": 2, "other": 3}
    incoming = {"user abc": {"n": 1}, "def": 2, "other": 3}
    assert find_first_difference(recorded, incoming, policy=LENIENT) is None
    incoming["user abc"] = {"n": 5}
    difference = find_first_difference(recorded, incoming, policy=LENIENT)
    assert difference == (f'["user {HOLE}"].n', 1, 5)
