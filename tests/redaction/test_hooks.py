"""The hook ``redact_value``: asked for every string left, and a plugin that fails leaks nothing."""

from __future__ import annotations

import traceback
from typing import Any

import pytest

import openprogram_core
from openprogram_core.errors import RedactionError
from openprogram_core.providers import Context, DoneEvent, StreamOptions, UserMessage
from openprogram_core.redaction import PLACEHOLDER
from tests.redaction.support import BODY, MODEL, RecordedStream, redactor_with, stream_events


class StaffNumbers:
    """Takes staff numbers away and remembers what it was asked."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str]] = []

    @openprogram_core.hookimpl
    def redact_value(self, field_path: str, value: str) -> str | None:
        self.asked.append((field_path, value))
        return value.replace("E-1234", PLACEHOLDER) if "E-1234" in value else None


class Faulty:
    """Raises with the value in its message, or answers nonsense."""

    def __init__(self, answer: Any = None) -> None:
        self.answer = answer

    @openprogram_core.hookimpl
    def redact_value(self, value: str) -> Any:
        if self.answer is None:
            raise ValueError(f"cannot read {value}")
        return self.answer


def test_the_hook_is_asked_with_the_fields_path_for_what_the_rules_left() -> None:
    plugin = StaffNumbers()
    key = "ghp_" + BODY + "abcd"
    value = {"note": [f"E-1234 has {key}"], "password": "E-1234", "odd name": "E-1234"}
    assert redactor_with(plugin).remove_secret_values(value) == {
        "note": [f"{PLACEHOLDER} has {PLACEHOLDER}"],
        "password": PLACEHOLDER,
        "odd name": PLACEHOLDER,
    }
    assert ("note[0]", f"E-1234 has {PLACEHOLDER}") in plugin.asked
    assert {path for path, _ in plugin.asked} >= {"note[0]", '["odd name"]'} or "odd name" in dict(
        plugin.asked
    )
    assert not any(BODY in text for _, text in plugin.asked)


def test_the_hook_sees_strings_inside_json_text_and_not_our_own_names() -> None:
    plugin = StaffNumbers()
    context = Context(messages=[UserMessage(content='{"who": "E-1234", "n": 1}')])
    tree = redactor_with(plugin).open_call().request(MODEL, context, StreamOptions()).tree()
    assert tree["context"]["messages"][0]["content"] == f'{{"who": "{PLACEHOLDER}", "n": 1}}'
    assert "user" not in [text for _, text in plugin.asked]


def test_a_stream_is_written_in_one_piece_while_a_hook_is_installed() -> None:
    call = redactor_with(StaffNumbers()).open_call()
    stream = RecordedStream(stream_events(["ask E-", "1234", " now"]), call)
    assert stream.deltas == ["", "", "", f"ask {PLACEHOLDER} now"]
    last = stream.events[-1]
    assert isinstance(last, DoneEvent)
    assert last.message.content[0].model_dump()["text"] == f"ask {PLACEHOLDER} now"
    assert not stream.violations()


@pytest.mark.parametrize(("answer", "reason"), [(None, "raised ValueError"), (7, "returned int")])
def test_a_plugin_that_fails_is_named_and_the_value_is_not(answer: Any, reason: str) -> None:
    redactor, secret = redactor_with(Faulty(answer)), " ".join(("very", "private"))
    with pytest.raises(RedactionError, match=reason) as caught:
        redactor.remove_secret_values({"a": secret})
    assert caught.value.plugin == "Faulty"
    assert "at a" in str(caught.value)
    assert secret not in "".join(traceback.format_exception(caught.value))
    with pytest.raises(RedactionError):
        redactor.open_call().request(MODEL, Context(messages=[UserMessage(content="x")]), None)
    with pytest.raises(RedactionError):
        RecordedStream(stream_events([secret]), redactor.open_call())


def test_hooks_are_asked_in_the_order_of_their_plugins_names() -> None:
    class First:
        @openprogram_core.hookimpl
        def redact_value(self, value: str) -> str | None:
            return value.replace("one", "two") if "one" in value else None

    class Second:
        @openprogram_core.hookimpl
        def redact_value(self, value: str) -> str | None:
            return value.replace("two", PLACEHOLDER) if "two" in value else None

    for plugins in ([First(), Second()], [Second(), First()]):
        assert redactor_with(*plugins).remove_secret_values("one") == PLACEHOLDER
