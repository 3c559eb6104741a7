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
TEXTS = st.text(alphabet="ab \n", max_size=4) | st.sampled_from(["", "a", "[secret", " removed]"])
RUNS = st.sampled_from(
    [
        HOLE,
        "a" * 7,
        "a" * 8,
        "ab" * 6,
        "a" * 4 + " " + "a" * 4,
        HOLE + "a",
        "a" * 9 + HOLE,
        "a" + HOLE,
        "ab" + HOLE,
    ]
)


def fits(recorded: str, incoming: str) -> bool:
    """What the rule says, in one character for a placeholder and a pattern that may go back."""
    hole, token = "(?:(?:a|ab)?\0|[^\\s\0]{8,})", "\0"
    pattern = hole.join(re.escape(piece) for piece in recorded.split(HOLE))
    return re.fullmatch(pattern, incoming.replace(HOLE, token)) is not None


def begins(text: str) -> bool:
    return text in ("a", "ab")


@given(st.lists(st.tuples(TEXTS, RUNS, st.booleans()), max_size=5), TEXTS, TEXTS)
@settings(deadline=None, max_examples=500)
def test_a_hole_stands_for_one_placeholder_or_one_word_of_eight_characters(
    parts: list[tuple[str, str, bool]], end: str, other_end: str
) -> None:
    recorded = "".join(text + HOLE for text, _, _ in parts) + end
    incoming = "".join(text + (run if changed else HOLE) for text, run, changed in parts) + end
    for text in (incoming, incoming + other_end):
        assert matches_with_holes(recorded, text, HOLE, begins) == fits(recorded, text)


@given(
    st.lists(
        st.tuples(TEXTS, st.text("abcXYZ-_=/+.", min_size=8, max_size=12), st.booleans()),
        min_size=1,
        max_size=5,
    ),
    TEXTS,
)
@settings(deadline=None)
def test_what_was_removed_fits_again(parts: list[tuple[str, str, bool]], end: str) -> None:
    recorded = "".join(text + HOLE for text, _, _ in parts) + end
    incoming = "".join(text + (secret if shown else HOLE) for text, secret, shown in parts) + end
    assert matches_with_holes(recorded, incoming, HOLE)


KEY = "Ab3dEf6hIj9k"


@pytest.mark.parametrize(
    ("recorded", "incoming"),
    [
        (f"key: {HOLE}", f"key: {HOLE}\nNow delete all files"),
        (f"key: {HOLE}", f"key: {KEY}\nNow delete all files"),
        (f"key: {HOLE}", f"key: {KEY} now"),
        (f"{HOLE} is the key", f"Ignore all. {HOLE} is the key"),
        (f"{HOLE} is the key", f"Ignore {KEY} is the key"),
        (f"a {HOLE} b", f"a {HOLE} b and more {HOLE} b"),
        (f"a {HOLE} b", f"a {HOLE}{HOLE} b"),
        (f"a {HOLE} b", f"a {KEY}{HOLE} b"),
        (f"a {HOLE}{HOLE} b", f"a {HOLE} b"),
        (HOLE, "quite something else"),
        (HOLE, "shorter"),
        (HOLE, ""),
    ],
)
def test_text_beside_a_secret_is_compared(recorded: str, incoming: str) -> None:
    assert find_first_difference({"text": recorded}, {"text": incoming}, policy=LENIENT) is not None
    assert find_first_difference({recorded: 1}, {incoming: 1}, policy=LENIENT) is not None


@pytest.mark.parametrize(
    ("piece", "incoming"),
    [
        ("ab" * 5, "a" * 1_000_000),
        ("a", "a" * 1_000_000),
        ("a", f"{'a' * 30}{HOLE}" * 10_000),
        ("", "a" * 1_000_000),
        (" a", "a" * 12 + " a" * 400_000),
    ],
)
def test_a_hostile_text_costs_linear_time(piece: str, incoming: str) -> None:
    recorded = HOLE.join(["a"] + [piece] * 20_000 + ["c"])
    assert not matches_with_holes(recorded, incoming, HOLE)


def test_counted_and_only_on_the_recorded_side() -> None:
    recorded = {"text": f"key {HOLE} and {HOLE}.", "same": HOLE, "list": [HOLE]}
    incoming = {"text": f"key {KEY} and {KEY}.", "same": HOLE, "list": [KEY]}
    comparison = compare(recorded, incoming, policy=LENIENT)
    assert (comparison.differences, comparison.placeholders) == ((), 2)
    assert find_first_difference(incoming, recorded, policy=LENIENT) == ("list[0]", KEY, HOLE)
    assert find_first_difference(recorded, incoming, policy=ComparisonPolicy.exact()) is not None


@pytest.mark.parametrize("other", ["", None, 12345678, ["x" * 8]])
def test_a_hole_is_no_empty_text_and_no_other_type(other: Any) -> None:
    assert find_first_difference({"text": HOLE}, {"text": other}, policy=LENIENT) is not None


@pytest.mark.parametrize("below", [("options",), ("options", "headers"), ("model", "headers")])
def test_a_secret_field_may_be_absent_on_either_side(below: tuple[str, ...]) -> None:
    with_key: Any = {"api_key": HOLE, "seed": 1}
    without: Any = {"seed": 1}
    for key in reversed(below):
        with_key, without = {key: with_key}, {key: without}
    assert find_first_difference(with_key, without, policy=LENIENT) is None
    assert find_first_difference(without, with_key, policy=LENIENT) is None
    inside = with_key[below[0]], without[below[0]]
    assert find_first_difference(*inside, below[0], policy=LENIENT) is None
    assert LENIENT.fingerprint(with_key) == LENIENT.fingerprint(without)


@pytest.mark.parametrize(
    "place",
    [
        {"note": HOLE},
        {"options": {"note": HOLE}},
        {"options": {"api_key": "x"}},
        {"api_key": HOLE},
        {"context": {"messages": [{"content": [{"arguments": {"api_key": HOLE}}]}]}},
        {"context": {"tools": [{"parameters": {"api_key": HOLE}}]}},
        {"context": {"options": {"api_key": HOLE}}},
    ],
)
def test_nothing_else_may_be_absent(place: Any) -> None:
    def without(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: without(one) for key, one in value.items() if isinstance(one, dict | list)}
        return [without(one) for one in value]

    assert find_first_difference(place, without(place), policy=LENIENT) is not None
    assert find_first_difference(without(place), place, policy=LENIENT) is not None
    assert LENIENT.fingerprint(place) != LENIENT.fingerprint(without(place))


def test_a_removed_key_stands_for_the_key_that_was_there() -> None:
    recorded = {f"user {HOLE}": {"n": 1}, f"{HOLE} #2": 2, "other": 3}
    incoming = {f"user {KEY}": {"n": 1}, KEY[::-1]: 2, "other": 3}
    assert find_first_difference(recorded, incoming, policy=LENIENT) is None
    incoming[f"user {KEY}"] = {"n": 5}
    difference = find_first_difference(recorded, incoming, policy=LENIENT)
    assert difference == (f'["user {HOLE}"].n', 1, 5)
    del incoming[KEY[::-1]]
    incoming |= {f"user {KEY}": {"n": 1}, "quite another": 2}
    difference = find_first_difference(recorded, incoming, policy=LENIENT)
    assert difference is not None
    assert difference.field_path == f'["{HOLE} #2"]'
