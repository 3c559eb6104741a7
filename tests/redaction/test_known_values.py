"""Values known to be secret in a call are removed wherever and however they turn up in it."""

from __future__ import annotations

import base64
import json
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from openprogram_core.providers import (
    AssistantMessage,
    Context,
    StreamOptions,
    TextContent,
    ToolCall,
    ToolResultMessage,
    UserMessage,
)
from openprogram_core.redaction import PLACEHOLDER
from tests.redaction.support import MODEL, RecordedStream, as_text, built_in, cut, recorded, stream_events

ODD_KEY = 'Zk/9+=weird"key\\with word'


def spellings(value: str) -> dict[str, str]:
    data = value.encode()
    return {
        "plain": value,
        "json": json.dumps(value)[1:-1],
        "json in json": json.dumps(json.dumps(value))[3:-3],
        "json text": json.dumps({"a": json.dumps({"b": value})}),
        "url": quote(value, safe=""),
        "url small": quote(value, safe="").lower() if value.islower() else quote(value, safe=""),
        "form": quote_plus(value),
        "base64": base64.b64encode(data).decode(),
        "base64 within": base64.b64encode(b"u:" + data + b"xyz").decode(),
        "base64 within, shifted": base64.b64encode(b"u" + data).decode(),
        "base64 url": base64.urlsafe_b64encode(b"??>" + data).decode(),
        "masked": value[:6] + "********" + value[-4:],
        "masked by dots": value[:6] + "..." + value[-4:],
        "masked to its tail": "***" + value[-4:],
    }


@pytest.mark.parametrize("spelling", spellings(ODD_KEY))
def test_the_key_goes_in_every_spelling(spelling: str) -> None:
    text = spellings(ODD_KEY)[spelling]
    call = built_in().open_call()
    context = Context(messages=[UserMessage(content=f"see {text} ok")])
    tree = call.request(MODEL, context, StreamOptions(api_key=ODD_KEY)).tree()
    content = tree["context"]["messages"][0]["content"]
    assert text not in content
    assert PLACEHOLDER in content
    assert content.startswith("see ")
    assert content.endswith(" ok")
    assert text not in call.value({"message": f"401: {text}"})["message"]


def test_what_stands_under_secret_fields_goes_everywhere_in_the_call() -> None:
    options = StreamOptions(
        headers={"Authorization": "Bearer opaque-token-77", "Cookie": "sid=cookieval9; theme=dark"},
        extra_body={"nested": {"password": "extra-pw-9"}},
    )
    arguments = {"password": "tool-pw-zz", "user": "kim"}
    messages = [
        UserMessage(content="opaque-token-77 cookieval9 extra-pw-9 tool-pw-zz dark kim"),
        AssistantMessage(
            api="a", provider="p", model="m", content=[ToolCall(id="1", name="login", arguments=arguments)]
        ),
        ToolResultMessage(
            tool_call_id="1",
            tool_name="login",
            content=[TextContent(text='{"echo":"tool-pw-zz", "n": 1.50}')],
        ),
    ]
    call = built_in().open_call()
    tree = call.request(MODEL, Context(messages=messages), options).tree()
    said, _, result = tree["context"]["messages"]
    assert said["content"] == f"{PLACEHOLDER} {PLACEHOLDER} {PLACEHOLDER} {PLACEHOLDER} dark kim"
    assert result["content"][0]["text"] == f'{{"echo":"{PLACEHOLDER}", "n": 1.50}}'
    stream = RecordedStream(stream_events(["the answer: opaque-", "token-77 and tool-pw", "-zz"]), call)
    assert stream.joined == f"the answer: {PLACEHOLDER} and {PLACEHOLDER}"


def test_a_number_known_to_be_secret_goes_as_number_and_as_text() -> None:
    options = StreamOptions(extra_body={"api_key": 12345678901234, "again": 12345678901234, "n": 7})
    context = Context(messages=[UserMessage(content="is 12345678901234")])
    tree = built_in().open_call().request(MODEL, context, options).tree()
    assert tree["options"]["extra_body"] == {"api_key": PLACEHOLDER, "again": PLACEHOLDER, "n": 7}
    assert tree["context"]["messages"][0]["content"] == f"is {PLACEHOLDER}"


@pytest.mark.parametrize("value", ["", "short", "1234567", "password", "required", "${API_KEY}", "********"])
def test_what_is_short_or_no_value_is_removed_from_its_field_only(value: str) -> None:
    context = Context(
        messages=[UserMessage(content=f"an empty one must not match everywhere, {value} neither")]
    )
    options = StreamOptions(extra_body={"client_secret": value})
    tree = built_in().open_call().request(MODEL, context, options).tree()
    assert tree["options"]["extra_body"] == {"client_secret": PLACEHOLDER}
    assert tree["context"] == context.model_dump(mode="json")


def test_words_deep_inside_a_secret_object_are_not_taken_for_secrets() -> None:
    options = StreamOptions(extra_body={"credentials": {"source": "identifier", "key": "opaque-value-1"}})
    context = Context(messages=[UserMessage(content="an identifier, not opaque-value-1")])
    tree = built_in().open_call().request(MODEL, context, options).tree()
    assert tree["context"]["messages"][0]["content"] == f"an identifier, not {PLACEHOLDER}"


def test_a_key_of_letters_only_is_known_too() -> None:
    call = built_in().open_call(["correcthorsebattery"])
    assert call.value("bad key correcthorsebattery") == f"bad key {PLACEHOLDER}"


def test_values_of_one_call_mean_nothing_to_the_next() -> None:
    context = Context(messages=[UserMessage(content="say opaque-value-1")])
    redactor = built_in()
    first = redactor.open_call(["opaque-value-1"]).request(MODEL, context, None).tree()
    second = redactor.open_call().request(MODEL, context, None).tree()
    assert first["context"]["messages"][0]["content"] == f"say {PLACEHOLDER}"
    assert second["context"]["messages"][0]["content"] == "say opaque-value-1"


def test_an_error_that_echoes_the_key_is_redacted() -> None:
    call = built_in().open_call()
    call.request(MODEL, Context(), StreamOptions(api_key="opaque-value-1"))
    error = {"type": "AuthError", "message": "bad key opaque-value-1 (opaque***ue-1)", "retryable": False}
    assert call.value(error, "error") == {
        "type": "AuthError",
        "message": f"bad key {PLACEHOLDER} ({PLACEHOLDER})",
        "retryable": False,
    }


@settings(max_examples=150, deadline=None)
@given(
    value=st.text(st.characters(codec="utf-8", exclude_characters=" "), min_size=8, max_size=24).filter(
        lambda text: text == text.strip() and len(set(text)) > 5 and any(map(str.isdigit, text))
    ),
    before=st.text(max_size=10),
    after=st.text(max_size=10),
    places=st.lists(st.integers(0, 60), max_size=8),
)
def test_a_known_value_is_in_no_row_however_the_stream_is_cut(
    value: str, before: str, after: str, places: list[int]
) -> None:
    stream = recorded(cut(before + value + after, places), "text", [value])
    assert value not in stream.joined
    assert json.dumps(value)[1:-1].encode() not in stream.file
    assert not stream.violations()


def test_a_stream_that_breaks_off_within_the_key_keeps_no_part_of_it() -> None:
    key = "Kq7/opaque-value-1"
    for length in range(4, len(key)):
        call = built_in().open_call([key])
        stream = RecordedStream(stream_events(["the key is ", key[:length]])[:-2], call)
        assert stream.joined == f"the key is {PLACEHOLDER}"
        assert key[:4] not in as_text(stream.rows)
