"""Laws: no example of any rule survives anywhere, twice is once, and what matches nothing is untouched."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import openprogram_redaction
from openprogram_core.redaction import FieldRule, ValueRule
from openprogram_core.redaction.patterns import CompiledValueRule
from tests.redaction.support import BODY, as_text, built_in, cut, recorded, redact

VALUE_RULES = [rule for rule in openprogram_redaction.secret_rules() if isinstance(rule, ValueRule)]
FIELD_RULES = [rule for rule in openprogram_redaction.secret_rules() if isinstance(rule, FieldRule)]
EXAMPLES = [(rule, text) for rule in VALUE_RULES for text in rule.matches]
LAW = settings(max_examples=150, deadline=None)

harmless = st.text(
    st.characters(codec="utf-8", exclude_characters="%\\&'\"`=:;,/@.+-_0123456789"), max_size=30
).map(lambda text: f" {text} " if text else "")


def secret_parts(rule: ValueRule, text: str) -> list[str]:
    """What is secret in an example, without the rule's literals, which anybody can read."""
    compiled = CompiledValueRule(0, "test", rule)
    data = text.encode()
    parts = []
    for start, end in compiled.spans(data):
        secret = data[start:end]
        lowered = secret.lower()
        for literal in sorted(compiled.literals, key=len, reverse=True):
            place = lowered.find(literal)
            if place >= 0:
                secret = secret[place + len(literal) :]
                break
        parts.append(secret.decode())
    assert parts
    return parts


def leftovers(part: str, found: str, elsewhere: str) -> list[str]:
    """Runs of four characters of a secret that stand in ``found`` and not in what was around it."""
    runs = {part[start : start + 4] for start in range(len(part) - 3)}
    return [run for run in runs if run in found and run not in elsewhere]


SURROUNDINGS = st.recursive(
    st.none(),
    lambda inner: st.one_of(
        st.tuples(st.just("list"), inner, harmless),
        st.tuples(st.just("dict"), inner, st.sampled_from(["text", "note", "content", "x"])),
        st.tuples(st.just("tuple"), inner, harmless),
        st.tuples(st.just("json"), inner, st.just("")),
        st.tuples(st.just("key"), inner, st.just("")),
    ),
    max_leaves=5,
)


def wrap(value: Any, surroundings: Any) -> Any:
    while surroundings is not None:
        kind, surroundings, extra = surroundings
        if kind == "list":
            value = [extra, value, 1]
        elif kind == "dict":
            value = {"id": 7, extra: value}
        elif kind == "tuple":
            value = (extra, value)
        elif kind == "json":
            value = json.dumps(value, ensure_ascii=False)
        elif kind == "key" and isinstance(value, str):
            value = {value: True}
    return value


@LAW
@given(example=st.sampled_from(EXAMPLES), before=harmless, after=harmless, surroundings=SURROUNDINGS)
def test_no_example_of_a_rule_survives_anywhere(
    example: tuple[ValueRule, str], before: str, after: str, surroundings: Any
) -> None:
    rule, text = example
    value = wrap(before + text + after, surroundings)
    result = redact(value)
    found = as_text(result)
    for part in secret_parts(rule, text):
        around = as_text(wrap(before + text.replace(part, "") + after, surroundings))
        assert not leftovers(part, found, around + text.replace(part, "") + "[secret removed]"), found
    assert redact(result) == result


@LAW
@given(
    example=st.sampled_from(EXAMPLES),
    before=harmless,
    after=harmless,
    places=st.lists(st.integers(0, 200), max_size=12),
    kind=st.sampled_from(["text", "thinking", "arguments"]),
)
def test_no_example_survives_any_cut_of_a_stream(
    example: tuple[ValueRule, str], before: str, after: str, places: list[int], kind: Any
) -> None:
    rule, text = example
    whole = before + text + after
    if kind == "arguments":
        whole = json.dumps({"note": whole}, ensure_ascii=False)
    stream = recorded(cut(whole, places), kind)
    file = stream.file.decode("utf-8", "surrogatepass")
    for part in secret_parts(rule, text):
        around = whole.replace(part, "") + text.replace(part, "") + "[secret removed]"
        for found in (file, stream.joined):
            rest = leftovers(part, found, around + '{"type":"text_delta","content_index":0,"delta":"')
            assert not rest, (rest, stream.deltas)
    assert not stream.violations()


@pytest.mark.parametrize("kind", ["text", "thinking", "arguments"])
@pytest.mark.parametrize("size", [1, 2, 3, 7])
def test_every_example_in_pieces_of_one_size(kind: Any, size: int) -> None:
    for rule, text in EXAMPLES:
        whole = f"see {text} there" if kind != "arguments" else json.dumps({"note": f"see {text} there"})
        stream = recorded([whole[start : start + size] for start in range(0, len(whole), size)], kind)
        for part in secret_parts(rule, text):
            around = whole.replace(part, "") + "[secret removed]"
            assert not leftovers(part, stream.joined, around), (rule.name, stream.deltas)
        assert not stream.violations(), rule.name


def odd_case(name: str, seed: int) -> str:
    rng = random.Random(seed)
    return "".join(rng.choice((character.lower(), character.upper())) for character in name)


@LAW
@given(
    rule=st.sampled_from(FIELD_RULES),
    pick=st.integers(0, 99),
    seed=st.integers(0, 1000),
    value=st.one_of(st.text(min_size=1), st.none(), st.integers(), st.lists(st.text(min_size=1), min_size=1)),
    surroundings=SURROUNDINGS,
)
def test_a_secret_field_loses_its_value_in_any_case_of_its_name(
    rule: FieldRule, pick: int, seed: int, value: Any, surroundings: Any
) -> None:
    name = rule.matches[pick % len(rule.matches)]
    separated = "_" in name or "-" in name or name.islower()
    field = odd_case(name, seed) if separated else name
    found = list(values_of(field, redact(wrap({field: value}, surroundings))))
    assert set(found) == {"[secret removed]"}


def values_of(field: str, value: Any) -> Iterator[Any]:
    """What stands under a field anywhere in a value, JSON texts and keys that are such included."""
    if isinstance(value, str) and value[:1] in ("{", "[", '"'):
        try:
            yield from values_of(field, json.loads(value))
        except ValueError:
            return
    elif isinstance(value, dict):
        for key, item in value.items():
            if key == field:
                yield item
            else:
                yield from values_of(field, key)
                yield from values_of(field, item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from values_of(field, item)


json_values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text(max_size=40)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.dictionaries(st.text(max_size=12), inner, max_size=4)
    ),
    max_leaves=12,
)
_SPICES = (
    "password",
    "token",
    "api_key",
    "Authorization",
    ": ",
    "=",
    '"',
    "'",
    "\\",
    "{",
    "}",
    "[",
    "]",
    ",",
    "&",
    "?",
    "Bearer ",
    "sk-",
    "hunter2x",
    BODY,
    "\n",
    "://",
    "@",
    "user:",
    "-u ",
    "--",
    "<",
    ">",
    "data:",
    "text/plain;base64,",
    "[secret removed]",
    "...",
    "***",
    " ",
    "é",
    "\ud800",
    "%22",
    "%3D",
    "cookie",
    "; ",
    "eyJ",
    ".",
    "-----BEGIN PRIVATE KEY-----",
    "-----END PRIVATE KEY-----",
    "AKIA",
    "value",
    "name",
    "curl ",
)  # fmt: skip
spicy = st.lists(st.sampled_from(_SPICES), max_size=14).map("".join)


@settings(max_examples=400, deadline=None)
@given(text=spicy)
def test_redacting_a_text_twice_changes_nothing(text: str) -> None:
    once = redact(text)
    assert redact(once) == once


@LAW
@given(value=st.one_of(json_values, st.dictionaries(spicy, spicy, max_size=4), st.lists(spicy, max_size=5)))
def test_redacting_a_value_twice_changes_nothing(value: Any) -> None:
    once = redact(value)
    assert redact(once) == once


@settings(max_examples=300, deadline=None)
@given(
    text=spicy,
    places=st.lists(st.integers(0, 120), max_size=10),
    known=st.sampled_from([(), ("hunter2x",), (BODY,)]),
)
def test_a_recorded_stream_obeys_the_protocol_whatever_it_carries(
    text: str, places: list[int], known: tuple[str, ...]
) -> None:
    stream = recorded(cut(text, places), "text", known)
    assert not stream.violations()
    for value in known:
        assert value not in stream.joined


@LAW
@given(value=json_values)
def test_what_matches_nothing_comes_back_as_the_same_object(value: Any) -> None:
    change, _ = built_in().find(value)
    result = redact(value)
    assert (result is value) == (change is None)
    if change is None and isinstance(value, str):
        assert result == value
