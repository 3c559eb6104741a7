from __future__ import annotations

import copy
import math
import pickle
from typing import Any

import pytest
from hypothesis import given, settings

from openprogram_core.comparison import (
    MISSING,
    ComparisonPolicy,
    Difference,
    FieldPathError,
    find_differences,
    find_first_difference,
)
from tests.comparison.json_values import apply_differences, canonical, pairs

EXACT = ComparisonPolicy.exact()


@given(pairs())
@settings(deadline=None, max_examples=150)
def test_none_exactly_when_equal_and_the_first_of_all(pair: tuple[Any, Any]) -> None:
    first = find_first_difference(*pair, policy=EXACT)
    everything = find_differences(*pair, policy=EXACT)
    assert (first is None) == (canonical(pair[0]) == canonical(pair[1]))
    assert repr(everything[:1]) == repr([first] if first else [])


@given(pairs())
@settings(deadline=None, max_examples=150)
def test_swapping_the_arguments_swaps_the_values(pair: tuple[Any, Any]) -> None:
    there = find_differences(*pair, policy=EXACT)
    back = find_differences(*reversed(pair), policy=EXACT)
    assert [(one.field_path, one.incoming, one.recorded) for one in there].__repr__() == [
        tuple(one) for one in back
    ].__repr__()


@given(pairs())
@settings(deadline=None, max_examples=150)
def test_applying_the_differences_gives_the_other_value(pair: tuple[Any, Any]) -> None:
    applied = apply_differences(pair[0], find_differences(*pair, policy=EXACT))
    assert canonical(applied) == canonical(pair[1])


@pytest.mark.parametrize(
    ("recorded", "incoming"),
    [(1, 1.0), (1, True), (0, False), (0.0, -0.0), (None, False), ("1", 1), ([], {}), ([1], (1,))],
)
def test_types_count(recorded: Any, incoming: Any) -> None:
    assert find_first_difference({"x": recorded}, {"x": incoming}, policy=EXACT) == Difference(
        "x", recorded, incoming
    )


def test_nan_equals_nan_but_no_other_number() -> None:
    assert find_first_difference([math.nan], [float("nan")], policy=EXACT) is None
    assert find_first_difference([math.nan], [0.0], policy=EXACT) is not None


def test_missing_is_not_none() -> None:
    assert find_first_difference({"a": None}, {}, policy=EXACT) == ("a", None, MISSING)
    assert find_first_difference({}, {"a": None}, policy=EXACT) == ("a", MISSING, None)
    assert find_first_difference([1], [1, None], policy=EXACT) == ("[1]", MISSING, None)


def test_missing_stays_itself_through_pickle_and_copy() -> None:
    assert pickle.loads(pickle.dumps(MISSING)) is MISSING
    assert copy.deepcopy(MISSING) is MISSING
    assert repr(MISSING) == "MISSING"


def test_the_smallest_key_comes_first_whatever_the_order_of_insertion() -> None:
    recorded = {"b": 1, "a": 1, "c": [1]}
    incoming = {"c": [2], "b": 2, "a": 2}
    assert [one.field_path for one in find_differences(recorded, incoming, policy=EXACT)] == [
        "a",
        "b",
        "c[0]",
    ]


def test_keys_that_are_no_identifiers_are_quoted() -> None:
    recorded: dict[str, Any] = {"a.b": {"x-id": 1}, "": 1, 'q"': 1, "\x1b[31m": 1, "größe": 1}
    paths = [one.field_path for one in find_differences(recorded, dict.fromkeys(recorded, 2), policy=EXACT)]
    assert paths == ['[""]', '["\\u001b[31m"]', '["a.b"]', '["größe"]', '["q\\""]']


def test_the_path_given_is_put_before_what_is_found() -> None:
    difference = find_first_difference([{"id": 1}], [{"id": 2}], "context.messages", policy=EXACT)
    assert difference == ("context.messages[0].id", 1, 2)
    assert find_first_difference(1, 2, "options.seed", policy=EXACT) == ("options.seed", 1, 2)
    assert find_first_difference(1, 2, policy=EXACT) == ("", 1, 2)


def test_a_path_that_cannot_be_read_says_what_to_write() -> None:
    with pytest.raises(FieldPathError, match=r"not understood from character 7.*context\.messages\[\*\]\.id"):
        find_first_difference(1, 2, "context.[x]", policy=EXACT)


def test_nesting_has_no_limit() -> None:
    def nested(end: Any) -> Any:
        value = end
        for _ in range(30_000):
            value = {"n": [value]}
        return value

    assert find_first_difference(nested(1), nested(1), policy=EXACT) is None
    difference = find_first_difference(nested(1), nested(2), policy=EXACT)
    assert difference is not None
    assert (difference.recorded, difference.incoming) == (1, 2)
    assert difference.field_path.startswith("n[0].n[0].n[0]")


def test_a_limit_stops_early() -> None:
    differences = find_differences(list(range(1000)), list(range(1, 1001)), policy=EXACT, limit=3)
    assert [one.field_path for one in differences] == ["[0]", "[1]", "[2]"]


def test_called_bare_the_installed_plugins_take_part() -> None:
    assert find_first_difference({"timestamp": 1, "id": 1}, {"timestamp": 2, "id": 1}) is None
    assert find_first_difference({"text": "[secret removed]"}, {"text": "hello"}) is not None
