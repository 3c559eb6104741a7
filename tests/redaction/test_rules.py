"""Rules are checked when they are loaded: nothing is taken on trust, and the error says whose rule it is."""

from __future__ import annotations

from typing import Any

import pytest

import openprogram_core
from openprogram_core._plugins import PluginInfo, PluginSet
from openprogram_core.errors import PluginError, RedactionError
from openprogram_core.redaction import TOKEN_START, FieldRule, Redactor, SecretRule, ValueRule
from openprogram_core.redaction.beginnings import beginnings, begins_with
from tests.redaction.support import BODY, built_in, recorded, redactor_with, stream_events


class Acme:
    """A plugin with the rules it is given."""

    def __init__(self, *rules: SecretRule) -> None:
        self.rules = rules

    @openprogram_core.hookimpl
    def secret_rules(self) -> tuple[SecretRule, ...]:
        return self.rules


def value_rule(**changes: Any) -> ValueRule:
    settings: dict[str, Any] = {
        "name": "acme-token",
        "literals": ("acme_",),
        "pattern": r"\bacme_[a-z0-9]{12}\b",
        "matches": ("acme_" + "0123456789ab",),
        "rejects": ("acme_corp",),
    }
    return ValueRule(**(settings | changes))


def test_a_plugins_rules_count_like_the_built_in_ones() -> None:
    redactor = redactor_with(
        Acme(
            value_rule(),
            FieldRule(name="acme-pin", segments=("vault_pin",), matches=("acme_vault_pin_code",)),
        )
    )
    value = {"note": "see acme_0123456789ab", "vaultPinCode": 4711, "text": "vault-pin: 4711"}
    assert redactor.remove_secret_values(value) == {
        "note": "see [secret removed]",
        "vaultPinCode": "[secret removed]",
        "text": "vault-pin: [secret removed]",
    }
    assert redactor.header() != built_in().header()


@pytest.mark.parametrize(
    ("rule", "reason"),
    [
        (value_rule(pattern=r"acme_(?=x)"), "not RE2 syntax"),
        (value_rule(pattern=r"acme_(\w)\1"), "not RE2 syntax"),
        (value_rule(pattern=r"acme_["), "not RE2 syntax"),
        (value_rule(matches=("acme_short",)), "does not match one of its own `matches`"),
        (value_rule(matches=()), "needs at least one example"),
        (value_rule(literals=("akme_",)), "holds none of its `literals`"),
        (value_rule(rejects=("acme_0123456789ab",)), "matches one of its own `rejects`"),
        (value_rule(literals=("a",)), "too broad"),
        (value_rule(literals=(" ",)), "too broad"),
        (value_rule(literals=(), pattern=r"[a-z0-9_]*", rejects=()), "too broad"),
        (value_rule(literals=(), pattern=r"[a-z0-9_]{4,}", rejects=()), "too broad"),
        (FieldRule(name="x", names=("pin",), matches=("pin_code",)), "does not match its own example"),
        (
            FieldRule(name="x", segments=("pin",), matches=("pin",), rejects=("pin_code",)),
            "which its `rejects` names",
        ),
        (FieldRule(name="x", names=("pin",), matches=()), "needs at least one example"),
        (FieldRule(name="x", names=("type",), matches=("type",)), "too broad"),
        (FieldRule(name="x", endings=("tokens",), matches=("tokens",)), "too broad"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_rule_that_is_not_sound_is_an_error_that_names_it(rule: SecretRule, reason: str) -> None:
    with pytest.raises(RedactionError, match=reason) as caught:
        redactor_with(Acme(rule))
    assert caught.value.plugin == "Acme"
    assert caught.value.rule == rule.name
    assert "'Acme'" in str(caught.value)
    assert repr(rule.name) in str(caught.value)


def test_a_rule_name_used_twice_is_an_error_that_names_both_plugins() -> None:
    with pytest.raises(PluginError, match=r"openprogram_redaction"):
        redactor_with(Acme(value_rule(name="github-token")))


def test_without_the_built_in_rules_there_is_no_redactor() -> None:
    with pytest.raises(RedactionError, match="no recording without them"):
        Redactor.from_plugins(PluginSet([], {}))


def test_a_plugin_that_failed_to_load_might_hold_the_missing_rules() -> None:
    failed = PluginInfo("acme", "acme", "1", "failed", (), "ImportError: x")
    with pytest.raises(PluginError, match="acme"):
        Redactor.from_plugins(PluginSet([failed], {}))


def test_a_set_is_compiled_once() -> None:
    plugins = PluginSet([], {}).with_plugins([__import__("openprogram_redaction")])
    assert Redactor.from_plugins(plugins) is Redactor.from_plugins(plugins)


def test_a_rule_without_a_literal_counts_everywhere_and_sees_whole_blocks() -> None:
    rule = value_rule(
        literals=(), pattern=r"\b[a-z]{2}-[0-9]{6}-[A-Z]{3}\b", matches=("ab-123456-XYZ",), rejects=()
    )
    redactor = redactor_with(Acme(rule))
    assert redactor.remove_secret_values({"a": ["no ab-123456-XYZ"]}) == {"a": ["no [secret removed]"]}
    call = redactor.open_call()
    rows = [row for event in stream_events(["x ab-12", "3456-X", "YZ y"]) for row in call.event(event)]
    deltas = [row.delta for row in rows if not isinstance(row, dict) and hasattr(row, "delta")]
    assert deltas == ["", "", "", "x [secret removed] y"]


def test_a_rule_whose_secret_begins_before_its_literal_is_held_from_the_start() -> None:
    rule = value_rule(
        literals=("-acme-",),
        pattern=r"[a-z0-9]{8}-acme-[a-z]{8}",
        matches=("ab12cd34-acme-abcdefgh",),
        rejects=(),
    )
    call = redactor_with(Acme(rule)).open_call()
    rows = [
        row for event in stream_events(["x ab12", "cd34-acme-", "abcdefgh y"]) for row in call.event(event)
    ]
    assert "ab12" not in "".join(getattr(row, "delta", "") for row in rows)


def test_a_pattern_the_stream_cannot_follow_is_held_to_the_end() -> None:
    rule = value_rule(pattern=r"acme_\pL{4}[0-9]{4}", matches=("acme_abcd1234",), rejects=())
    call = redactor_with(Acme(rule)).open_call()
    rows = [
        row for event in stream_events(["x acme_", "ab", "cd12", "34 y", " z"]) for row in call.event(event)
    ]
    assert "".join(getattr(row, "delta", "") for row in rows) == "x [secret removed] y z"


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        (r"ab*c", "abbbc"),
        (r"x(?:ab|cd){2,3}y?", "xabcdab"),
        (r"(?i)a(?P<secret>[b-d]+)\.e", "ABCD.E"),
        (r"(?:a|b(?i:c))\bd", "bC"),
        (r"\Aa\\b\x41[[:alpha:]]{2}$", "a\\bAxy"),
    ],
)
def test_the_beginnings_of_a_pattern_match_every_beginning_of_its_matches(pattern: str, text: str) -> None:
    import re2  # type: ignore[import-untyped]  # google-re2 ships no types

    made = beginnings(pattern)
    assert made is not None
    compiled = re2.compile(rf"\A(?:{made})\z")
    for length in range(len(text) + 1):
        assert compiled.search(text[:length]), text[:length]
    assert not compiled.search("~")


@pytest.mark.parametrize("pattern", [r"\pN+", r"a(?i)b", r"a(", r"a)", r"*a", r"a[", r"(?Px)"])
def test_what_is_not_understood_has_no_answer(pattern: str) -> None:
    assert beginnings(pattern) is None


def test_whether_a_pattern_surely_begins_with_a_literal() -> None:
    assert begins_with(r"sk-[a-z]+", ["sk-"])
    assert begins_with(r"gh[pousr]_[A-Z]{3}", ["ghp_", "gho_", "ghu_", "ghs_", "ghr_"])
    assert begins_with(r"(?:AKIA|ASIA)x", ["akia", "asia"])
    assert not begins_with(r"(?:AKIA|xASIA)x", ["akia", "asia"])
    assert not begins_with(r"[a-z]*sk-", ["sk-"])
    assert not begins_with(r"s?k-", ["sk-"])
    assert not begins_with(r".sk-", ["sk-"])
    assert not begins_with(TOKEN_START + "[", ["sk-"])


def test_a_token_after_an_escape_goes_and_the_escape_stays() -> None:
    assert recorded([f"a\\nghp_{BODY}", "abcd b"]).joined == "a\\n[secret removed] b"
