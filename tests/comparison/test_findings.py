from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any

from hypothesis import given, settings

from openprogram_core.comparison import ComparisonPolicy, explain, render_findings, render_skipped
from openprogram_core.comparison.alignment import MAX_EDITS
from tests.comparison.json_values import canonical, pairs

EXACT = ComparisonPolicy.exact()


@given(pairs())
@settings(deadline=None, max_examples=200)
def test_something_is_found_exactly_when_the_values_differ(pair: tuple[Any, Any]) -> None:
    findings = explain(*pair, policy=EXACT)
    assert bool(findings.found) == (canonical(pair[0]) != canonical(pair[1]))
    assert all(line.isprintable() for line in render_findings(findings))


@given(pairs())
@settings(deadline=None, max_examples=100)
def test_equal_under_the_skips_means_the_same_fingerprint(pair: tuple[Any, Any]) -> None:
    policy = ComparisonPolicy.exact(["timestamp", "a.b[*].c", "a"])
    same = policy.fingerprint(pair[0]) == policy.fingerprint(pair[1])
    assert same == (not explain(*pair, policy=policy).found)


def messages(count: int) -> list[dict[str, Any]]:
    return [{"role": "user", "content": f"message {number}", "timestamp": number} for number in range(count)]


def lines(recorded: Any, incoming: Any, policy: ComparisonPolicy = EXACT) -> list[str]:
    return render_findings(explain(recorded, incoming, "messages", policy=policy))


def test_one_insertion_is_one_finding_before_the_fifty_it_shifts() -> None:
    recorded = messages(60)
    incoming = copy.deepcopy(recorded)
    incoming.insert(10, {"role": "user", "content": "new", "timestamp": 1})
    assert lines(recorded, incoming) == ["messages[10] inserted: user message 'new'"]
    assert lines(incoming, recorded) == ["messages[10] removed: user message 'new'"]


def test_skipped_fields_do_not_disturb_the_pairing() -> None:
    recorded = messages(60)
    incoming = [{**one, "timestamp": one["timestamp"] + 7} for one in recorded]
    del incoming[3]
    policy = ComparisonPolicy.exact(["timestamp"])
    assert lines(recorded, incoming, policy) == ["messages[3] removed: user message 'message 3'"]


def test_moved_and_swapped() -> None:
    recorded = messages(6)
    assert lines(recorded, [*recorded[1:4], recorded[0], *recorded[4:]]) == [
        "messages[0] moved to messages[3]: user message 'message 0'"
    ]
    incoming = copy.deepcopy(recorded)
    incoming[1]["content"], incoming[4]["content"] = incoming[4]["content"], incoming[1]["content"]
    assert lines(recorded, incoming) == [
        "messages[1].content and messages[4].content changed places",
        "  recorded 'message 1'",
        "  incoming 'message 4'",
    ]


def test_a_limit_counts_the_rest() -> None:
    findings = explain({str(n): 1 for n in range(50)}, {str(n): 2 for n in range(50)}, policy=EXACT, limit=3)
    assert (len(findings.found), findings.more) == (3, 47)
    assert render_findings(findings)[-1] == "and 47 more"


def test_types_are_named_where_they_differ() -> None:
    assert lines({"a": 1}, {"a": 1.0}) == ["messages.a", "  recorded 1 (integer)", "  incoming 1.0 (float)"]
    assert lines({"a": None}, {"a": {}})[1:] == ["  recorded None (null)", "  incoming {} (object)"]
    assert lines({}, {"a": None}) == ["messages.a added: None"]


def test_lists_too_long_to_match_are_paired_by_index() -> None:
    recorded = list(range(MAX_EDITS + 10))
    findings = explain(recorded, [-number - 1 for number in recorded], policy=EXACT)
    assert len(findings.found) + findings.more == len(recorded)


def test_nesting_has_no_limit() -> None:
    def nested(end: int) -> Any:
        value: Any = end
        for _ in range(20_000):
            value = [value]
        return value

    assert [(one.recorded, one.incoming) for one in explain(nested(1), nested(2), policy=EXACT).found] == [
        (1, 2)
    ]


def test_what_was_skipped_is_told_by_plugin_and_place() -> None:
    policy = replace(ComparisonPolicy.exact(["timestamp"]), placeholder="[secret removed]")
    recorded = {"list": [{"timestamp": n} for n in range(9)], "text": "key [secret removed]"}
    incoming = {"list": [{"timestamp": -1} for n in range(9)], "text": "key of-my-own"}
    findings = explain(recorded, incoming, policy=policy)
    assert findings.found == ()
    assert render_skipped(findings.skipped, findings.placeholders) == [
        "skipped timestamp at 9 places (skip argument): list[0].timestamp, list[1].timestamp, "
        "list[2].timestamp, …",
        "a placeholder stood for a removed secret once",
    ]
