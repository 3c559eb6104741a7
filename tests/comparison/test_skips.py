from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import Any, get_args, get_origin

import pytest
from hypothesis import given, settings
from pydantic import BaseModel

from openprogram_core import default_plugin_set, hookimpl
from openprogram_core._plugins import PluginSet
from openprogram_core.comparison import (
    MISSING,
    ComparisonPolicy,
    FieldPathError,
    FieldSkip,
    FieldVerdict,
    compare,
    find_differences,
    find_first_difference,
)
from openprogram_core.comparison.paths import parse_path
from openprogram_core.errors import PluginError
from openprogram_core.providers import Context, Model, SimpleStreamOptions
from openprogram_field_skips import NON_DETERMINISTIC_FIELD_NAMES
from tests.comparison.json_values import canonical, pairs


class DeclareSkips:
    """Declares fields to skip, and says how often it was asked."""

    def __init__(self, *skips: Any) -> None:
        self.skips = skips
        self.asked = 0

    @hookimpl
    def field_skips(self) -> Any:
        self.asked += 1
        return self.skips


class Judge:
    """Answers ``compare_field`` from a function, and remembers what it was asked."""

    def __init__(self, answer: Callable[[str], Any]) -> None:
        self.answer = answer
        self.asked: list[tuple[str, Any, Any]] = []

    @hookimpl
    def compare_field(self, field_path: str, recorded: Any, incoming: Any) -> Any:
        self.asked.append((field_path, recorded, incoming))
        return self.answer(field_path)


def policy(*plugins: object, skip: Any = ()) -> ComparisonPolicy:
    return ComparisonPolicy.from_plugins(PluginSet((), {}).with_plugins(plugins), skip)


def without_names(value: Any, names: frozenset[str]) -> Any:
    if isinstance(value, dict):
        return {key: without_names(inner, names) for key, inner in value.items() if key not in names}
    if isinstance(value, list):
        return [without_names(inner, names) for inner in value]
    return value


@given(pairs())
@settings(deadline=None, max_examples=200)
def test_none_exactly_when_equal_without_the_skipped_names(pair: tuple[Any, Any]) -> None:
    rules = ComparisonPolicy.exact(["timestamp", "a"])
    names = frozenset({"timestamp", "a"})
    equal = canonical(without_names(pair[0], names)) == canonical(without_names(pair[1], names))
    assert (find_first_difference(*pair, policy=rules) is None) == equal
    there = find_differences(*pair, policy=rules)
    back = find_differences(*reversed(pair), policy=rules)
    assert [one.field_path for one in there] == [one.field_path for one in back]


def test_the_built_in_names_are_skipped_anywhere_with_all_below() -> None:
    assert "timestamp" in NON_DETERMINISTIC_FIELD_NAMES
    recorded = {"messages": [{"timestamp": 1, "deep": {"timestamp": {"s": 1, "ns": [2]}}, "text": "a"}]}
    incoming = copy.deepcopy(recorded)
    incoming["messages"][0] |= {"timestamp": 2, "deep": {"timestamp": {"s": 5}}}
    assert find_first_difference(recorded, incoming) is None
    del incoming["messages"][0]["timestamp"]
    assert find_first_difference(recorded, incoming) is None
    incoming["messages"][0]["text"] = "b"
    assert find_first_difference(recorded, incoming) == ("messages[0].text", "a", "b")


def test_declared_paths_hold_only_at_their_place() -> None:
    recorded = {"context": {"messages": [{"id": 1, "of": {"id": 1}}, {"id": 2, "of": {"id": 2}}]}, "id": 9}
    incoming = {"context": {"messages": [{"id": 3, "of": {"id": 1}}, {"id": 4, "of": {"id": 7}}]}, "id": 8}
    rules = policy(skip=["context.messages[*].id"])
    assert [one.field_path for one in find_differences(recorded, incoming, policy=rules)] == [
        "context.messages[1].of.id",
        "id",
    ]
    by_index = policy(skip=["context.messages[1]"])
    assert [one.field_path for one in find_differences(recorded, incoming, policy=by_index)] == [
        "context.messages[0].id",
        "id",
    ]
    assert find_first_difference([{"id": 1}], [{"id": 2}], "context.messages", policy=rules) is None
    assert find_first_difference(1, 2, "context.messages[4].id.below", policy=rules) is None


def test_quoted_and_dashed_keys_can_be_skipped() -> None:
    recorded = {"options": {"headers": {"x-request-id": "1", "a.b": "1", "keep": "1"}}}
    incoming = {"options": {"headers": {"x-request-id": "2", "a.b": "2", "keep": "2"}}}
    for skip in (
        ["x-request-id", '["options"].headers["a.b"]'],
        ['options.headers["x-request-id"]', 'options.headers["a.b"]'],
    ):
        found = find_differences(recorded, incoming, policy=policy(skip=skip))
        assert [one.field_path for one in found] == ["options.headers.keep"]


@pytest.mark.parametrize("skip", ["", "a[", "a..b", ".a", "a[x]", "a]b", 'a["x"', "[*]x"])
def test_a_skip_that_cannot_be_read_is_refused(skip: str) -> None:
    with pytest.raises(FieldPathError):
        policy(skip=[skip])
    with pytest.raises(PluginError, match="plugin 'DeclareSkips', hook field_skips"):
        policy(DeclareSkips(FieldSkip(skip)))


def test_one_string_is_no_list_of_skips() -> None:
    with pytest.raises(TypeError, match=r"skip=\['timestamp'\]"):
        policy(skip="timestamp")


def test_plugins_declare_once_and_are_named_in_what_was_skipped() -> None:
    plugin = DeclareSkips(FieldSkip("trace", reason="new on every run"), FieldSkip("ids[*].n"))
    plugins = PluginSet((), {}).with_plugins([plugin])
    for _ in range(3):
        rules = ComparisonPolicy.from_plugins(plugins, skip=["mine"])
    assert plugin.asked == 1
    recorded = {"trace": 1, "ids": [{"n": 1, "m": 0}, {"n": 2}], "mine": [1], "same": 1}
    incoming = {"trace": 2, "ids": [{"n": 1, "m": 0}, {"n": 9}], "same": 1}
    comparison = compare(recorded, incoming, policy=rules)
    assert comparison.differences == ()
    assert sorted(comparison.skipped) == [
        ("ids[1].n", "DeclareSkips", "ids[*].n", ""),
        ("mine", "skip argument", "mine", ""),
        ("trace", "DeclareSkips", "trace", "new on every run"),
    ]


def test_hooks_are_asked_from_the_top_down_only_where_values_differ() -> None:
    judge = Judge(lambda path: None)
    recorded = {"same": {"x": 1}, "a": [{"b": 1, "c": 1}, 2], "z": 1}
    incoming = {"same": {"x": 1}, "a": [{"b": 2, "c": 2}, 2]}
    found = find_differences(recorded, incoming, policy=policy(judge))
    assert [one.field_path for one in found] == ["a[0].b", "a[0].c", "z"]
    assert [path for path, _, _ in judge.asked] == ["", "a", "a[0]", "a[0].b", "a[0].c", "z"]
    assert judge.asked[0] == ("", recorded, incoming)
    assert judge.asked[-1] == ("z", 1, MISSING)


def test_a_hook_is_not_asked_about_what_is_skipped_or_equal() -> None:
    judge = Judge(lambda path: None)
    rules = policy(judge, skip=["timestamp"])
    assert find_first_difference({"timestamp": 1, "x": [1]}, {"timestamp": 2, "x": [1]}, policy=rules) is None
    assert judge.asked == []


def test_skip_covers_what_is_below_and_different_stops_there() -> None:
    answers = {"a": FieldVerdict.SKIP, "b": FieldVerdict.DIFFERENT}
    judge = Judge(answers.get)
    recorded = {"a": {"x": [1, 2]}, "b": {"x": [1, 2]}, "c": {"x": [1, 2]}}
    incoming = {"a": {"x": [3, 4]}, "b": {"x": [3, 4]}, "c": {"x": [3, 4]}}
    comparison = compare(recorded, incoming, policy=policy(judge))
    assert comparison.differences == (
        ("b", {"x": [1, 2]}, {"x": [3, 4]}),
        ("c.x[0]", 1, 3),
        ("c.x[1]", 2, 4),
    )
    assert [one.field_path for one in comparison.skipped] == ["a"]
    assert comparison.skipped[0].plugin == "Judge"
    assert not any(path.startswith(("a.", "b.")) for path, _, _ in judge.asked)


def test_the_first_answer_by_plugin_name_wins() -> None:
    class Aaa(Judge):
        pass

    class Zzz(Judge):
        pass

    last, first = Zzz(lambda path: FieldVerdict.SKIP), Aaa(lambda path: FieldVerdict.DIFFERENT)
    assert find_first_difference(1, 2, policy=policy(last, first)) == ("", 1, 2)
    assert last.asked == []


def test_a_hook_that_fails_is_named_without_the_values() -> None:
    def fail(path: str) -> Any:
        raise ValueError("saw hunter2")

    with pytest.raises(
        PluginError, match="plugin 'Judge', hook compare_field: raised ValueError at field a"
    ) as caught:
        find_first_difference(
            {"a": "hunter2"}, {"a": "x"}, policy=policy(Judge(lambda p: fail(p) if p else None))
        )
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize("answer", [True, "skip", 0])
def test_a_hook_that_returns_no_verdict_is_named(answer: Any) -> None:
    with pytest.raises(
        PluginError, match=r"plugin 'Judge', hook compare_field: returned .* FieldVerdict\.SKIP"
    ):
        find_first_difference(1, 2, policy=policy(Judge(lambda path: answer)))


OTHERS_NAMES = [
    "context.tools[0].parameters",
    "context.messages[0].content[1].arguments",
    "context.messages[0].content[0].data",
    "context.messages[0].content[0].citations[0]",
    "context.messages[0].service_details",
    "model.compat",
    "options.metadata",
    "options.extra_body",
    "options.response_format",
    "options.tool_choice",
    "options.of_a_vendor",
]
OUR_FIELDS = [
    "",
    "model",
    "model.headers",
    "context",
    "context.messages[3]",
    "context.messages[3].usage.cost",
    "context.messages[0].content[2]",
    "context.tools[1]",
    "options",
    "options.headers",
    "anything.at[0].all",
]


def placed(path: str, value: Any) -> Any:
    """Put a value at a path; lists are filled up with nulls."""
    for step in reversed(parse_path(path)):
        value = [None] * step + [value] if isinstance(step, int) else {step: value}
    return value


def differ(path: str, rules: ComparisonPolicy | None, name: str = "timestamp") -> bool:
    """Whether a change of a name below a path is found, the same by every way of comparing."""
    rules = rules or ComparisonPolicy.from_plugins(default_plugin_set())
    found: list[bool] = []
    for recorded, incoming in (({name: 1}, {name: 2}), ({name: 1}, {}), ({name: [1]}, {name: {}})):
        one, other = placed(path, recorded), placed(path, incoming)
        found.append(find_first_difference(one, other, policy=rules) is not None)
        found.append(find_first_difference(recorded, incoming, path, policy=rules) is not None)
        found.append(compare(one, other, policy=rules, aligned=True).differences != ())
        found.append(rules.fingerprint(one) != rules.fingerprint(other))
    assert len(set(found)) == 1, found
    return found[0]


@pytest.mark.parametrize("path", OUR_FIELDS)
def test_a_plugins_name_reaches_the_fields_of_our_types(path: str) -> None:
    assert not differ(path, None)


@pytest.mark.parametrize("path", OTHERS_NAMES)
def test_a_plugins_name_does_not_reach_what_others_name(path: str) -> None:
    assert differ(path, None)
    assert differ(f"{path}.deeper[3].still", None)
    plugin = DeclareSkips(FieldSkip("nonce"))
    assert differ(path, policy(plugin), "nonce")
    assert not differ(path, policy(plugin, skip=["nonce"]), "nonce")
    assert differ(path, policy(plugin, skip=["timestamp"]), "nonce")
    by_path = policy(DeclareSkips(FieldSkip("nonce"), FieldSkip(f"{path}.nonce")))
    assert not differ(path, by_path, "nonce")


def test_no_free_form_field_of_our_types_is_forgotten() -> None:
    """Every field that takes any names is either out of reach of a plugin's name, or holds headers."""
    rules = policy(DeclareSkips(FieldSkip("nonce")))
    roots = {"model": Model, "context": Context, "options": SimpleStreamOptions}
    open_fields = {path for root, model in roots.items() for path in free_form(model, root)}
    assert "context.messages[0].content[0].arguments" in open_fields
    for path in open_fields:
        reached = find_first_difference({"nonce": 1}, {"nonce": 2}, path, policy=rules) is None
        assert reached == path.endswith(".headers"), path


def free_form(annotation: Any, path: str) -> Iterator[str]:
    """Yield the places below a type whose names are not the type's."""
    if annotation is Any or get_origin(annotation) is dict:
        yield path
    elif isinstance(annotation, type) and issubclass(annotation, BaseModel):
        for name, field in annotation.model_fields.items():
            if not field.exclude:
                yield from free_form(field.annotation, f"{path}.{name}")
    else:
        below = f"{path}[0]" if get_origin(annotation) is list else path
        for argument in get_args(annotation):
            yield from free_form(argument, below)
