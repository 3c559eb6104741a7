from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from openprogram_core.comparison import MISSING, one_line_difference
from openprogram_core.comparison.textdiff import render_changes, text_changes
from openprogram_core.comparison.texts import shared_prefix, shared_suffix, show

TEXTS = st.text(alphabet="ab \n\x1b\ud800é", max_size=60)


@given(TEXTS, TEXTS)
@settings(deadline=None, max_examples=150)
def test_putting_the_changes_right_makes_the_texts_equal(recorded: str, incoming: str) -> None:
    text = recorded
    for change in reversed(text_changes(recorded, incoming)):
        end = change.recorded_at + len(change.recorded)
        assert text[change.recorded_at : end] == change.recorded
        text = text[: change.recorded_at] + change.incoming + text[end:]
    assert text == incoming


@given(TEXTS, TEXTS)
@settings(deadline=None, max_examples=150)
def test_what_two_texts_share(one: str, other: str) -> None:
    prefix = shared_prefix(one, other)
    assert one[:prefix] == other[:prefix]
    assert one[prefix : prefix + 1] != other[prefix : prefix + 1] or prefix in (len(one), len(other))
    suffix = shared_suffix(one, other, min(len(one), len(other)))
    assert one[len(one) - suffix :] == other[len(other) - suffix :]


@given(st.recursive(TEXTS | st.integers() | st.none(), lambda inner: st.lists(inner, max_size=20)), TEXTS)
@settings(deadline=None)
def test_one_line_within_the_limit_whatever_the_values(recorded: object, incoming: str) -> None:
    line = one_line_difference("a.b", recorded, incoming * 20, 120)
    assert len(line) <= 120
    assert line.isprintable()
    assert line.startswith("field a.b: recorded ")
    assert ", incoming " in line


def test_one_changed_word_in_a_long_text_is_shown() -> None:
    recorded = "lorem ipsum " * 2000
    incoming = recorded[:12_000] + "LOREM" + recorded[12_005:]
    line = one_line_difference("context.system_prompt", recorded, incoming, 300)
    assert "LOREM" in line
    assert "lorem" in line
    carets = " " * len("  recorded …ipsum lorem ipsum lorem ipsum ") + "^^^^^"
    assert render_changes(recorded, incoming) == [
        "at character 12001 of 24000:",
        "  recorded …ipsum lorem ipsum lorem ipsum lorem ipsum lorem ipsum lorem ipsum…",
        carets,
        "  incoming …ipsum lorem ipsum lorem ipsum LOREM ipsum lorem ipsum lorem ipsum…",
        carets,
    ]


def test_two_changes_far_apart_are_two_and_the_rest_is_counted() -> None:
    words = ["word"] * 500
    changed = list(words)
    for place in range(0, 500, 50):
        changed[place] = "WORD"
    lines = render_changes(" ".join(words), " ".join(changed), limit=3)
    assert [line for line in lines if line.startswith("at ")] == [
        f"at character {place * 5 + 1} of 2499:" for place in (0, 50, 100)
    ]
    assert lines[-1] == "and 7 more changes in this text"


def test_control_characters_are_escaped_in_the_diff() -> None:
    lines = render_changes("a\x1b[31m\nb\u202e" * 10, "a\x1b[32m\nb\u202e" * 10)
    assert all(line.isprintable() for line in lines)


def test_an_enormous_rewrite_is_one_change() -> None:
    recorded = "".join(f"a{n} b\n" for n in range(30_000))
    incoming = "".join(f"c{n} d\n" for n in range(30_000))
    assert len(text_changes(recorded, incoming)) == 1


def test_values_are_shown_on_one_bounded_line() -> None:
    deep: list[object] = []
    for _ in range(100_000):
        deep = [deep]
    assert show(deep) == "[[[[[...]]]]]"
    assert show(MISSING) == "missing"
    assert show("x" * 500, 20).startswith("'xxxx")
    assert show("x" * 500, 20).endswith("…")
    assert show(10**100_000) == "<integer of 332193 bits>"
    assert show("\ud800\n") == repr("\ud800\n")
