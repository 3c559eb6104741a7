"""Strategies for JSON values, and a way to apply differences."""

from __future__ import annotations

import copy
import json
from typing import Any

from hypothesis import strategies as st

from openprogram_core.comparison import MISSING, Difference
from openprogram_core.comparison.paths import parse_path

KEYS = st.sampled_from(["a", "b", "c", "timestamp", "a.b", "", "[0]", '"', "x-id", "é", "\ud800"])
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.sampled_from([0, 1, 2, 10**30]),
    st.sampled_from([0.0, -0.0, 1.0, float("nan"), float("inf")]),
    st.sampled_from(["", "1", "a", "b", "\ud800", "\u2028"]),
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(KEYS, inner, max_size=4)),
    max_leaves=20,
)


@st.composite
def pairs(draw: st.DrawFn) -> tuple[Any, Any]:
    """Two values that often have much in common."""
    first = draw(VALUES)
    if draw(st.booleans()):
        return first, draw(VALUES)
    second = copy.deepcopy(first)
    for _ in range(draw(st.integers(0, 3))):
        second = change_somewhere(draw, second)
    return first, second


def change_somewhere(draw: st.DrawFn, value: Any) -> Any:
    """Replace, add or drop one value at a place drawn."""
    if isinstance(value, dict) and value:
        key = draw(st.sampled_from(sorted(value)))
        if draw(st.integers(0, 3)) == 0:
            del value[key]
            value[draw(KEYS)] = draw(SCALARS)
        else:
            value[key] = change_somewhere(draw, value[key])
        return value
    if isinstance(value, list) and value:
        index = draw(st.integers(0, len(value) - 1))
        match draw(st.integers(0, 3)):
            case 0:
                del value[index]
            case 1:
                value.insert(index, draw(SCALARS))
            case _:
                value[index] = change_somewhere(draw, value[index])
        return value
    return draw(VALUES)


def canonical(value: Any) -> str:
    """JSON text that is the same for equal values only."""
    return json.dumps(value, sort_keys=True)


def apply_differences(value: Any, differences: list[Difference]) -> Any:
    """Return ``value`` with each difference's incoming side put in its place."""
    root = {"root": copy.deepcopy(value)}
    # From the last to the first, so that removing an item moves none that is still to come; what is added
    # at the end of a list goes in order.
    removals = [one for one in differences if one.incoming is MISSING]
    others = [one for one in differences if one.incoming is not MISSING]
    for difference in [*others, *reversed(removals)]:
        target: Any = root
        steps = ["root", *parse_path(difference.field_path)]
        for step in steps[:-1]:
            target = target[step]
        if difference.incoming is MISSING:
            del target[steps[-1]]
        elif isinstance(target, list) and steps[-1] == len(target):
            target.append(difference.incoming)
        else:
            target[steps[-1]] = difference.incoming
    return root["root"]
