"""Structures: fields, pairs, lists, keys, JSON in strings, and what is exempt by its place."""

from __future__ import annotations

import json
from typing import Any

import pytest

from openprogram_core.providers import (
    AssistantMessage,
    Context,
    ImageContent,
    OpaqueContent,
    StreamOptions,
    TextContent,
    ThinkingContent,
    Tool,
    ToolCall,
    UserMessage,
)
from openprogram_core.redaction import PLACEHOLDER
from tests.redaction.support import BODY, MODEL, as_text, built_in, redact

KEY = "ghp_" + BODY + "abcd"
OTHER_KEY = "ghp_" + "abcd" + BODY


@pytest.mark.parametrize(
    ("value", "secret"),
    [
        ({"apiKey": "x1y2"}, "x1y2"),
        ({"nested": [{"OPENAI_API_KEY": "x1y2"}]}, "x1y2"),
        ({"password": ["p-1", "p-2"]}, "p-1"),
        ({"credentials": {"type": "basic", "description": "prod", "value": "hunter2"}}, "hunter2"),
        ({"api_key": 12345678901234}, "12345678901234"),
        ({"api_key_2": "x1y2"}, "x1y2"),
        ([["Authorization", "opaque"], ["Accept", "a"]], "opaque"),
        ([("Authorization", "opaque"), ("Accept", "a")], "opaque"),
        (["authorization", "opaque-1", "accept", "*/*"], "opaque-1"),
        ([b"x-api-key", b"opaque1"], "opaque1"),
        ({"OPENAI_KEY": "opaque1", "azureOpenaiKey": "opaque1"}, "opaque1"),
        (["--password", "hunter2", "-v"], "hunter2"),
        ({"args": ["-e", "DB_PASSWORD=Db1"]}, "Db1"),
        ([{"name": "X-Api-Key", "value": "zzz"}, {"name": "accept", "value": "*/*"}], "zzz"),
        ({"value": "zzzq", "name": "DB_PASSWORD"}, "zzzq"),
        (b"password=hunter2", "hunter2"),
        (b'{"password": "hunter2"}', "hunter2"),
        ({"a": json.dumps({"b": json.dumps({"c": json.dumps({"password": 'z"z'})})})}, "z\\"),
        ({"a": json.dumps([{"name": "cookie", "value": "sid=zzz"}])}, "zzz"),
        ({"a": '{"\\u0070assword": "hunter2"}'}, "hunter2"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_goes(value: Any, secret: str) -> None:
    result = redact(value)
    assert secret not in as_text(result)
    assert redact(result) == result


@pytest.mark.parametrize(
    "value",
    [
        {"required": ["password", "api_key"]},
        {"fields": ["username", "password", "email", "token"]},
        {
            "logprobs": {
                "content": [
                    {"token": "Hello", "logprob": -0.1, "top_logprobs": [{"token": "H", "logprob": -2}]}
                ]
            }
        },
        {
            "max_tokens": 4096,
            "max_completion_tokens": "512",
            "usage": {"input_tokens": 1, "output_tokens": "2"},
        },
        {
            "tokenizer": "cl100k",
            "input_cost_per_token": 0.1,
            "secretary": "Ann",
            "author": "x",
            "token_type": "Bearer",
        },
        {
            "next_page_token": "cursor-1",
            "prompt_cache_key": "user-7",
            "primary_key": "id",
            "key": "ArrowDown",
        },
        {"embedding": "AACAPwAAAEAAAEBA" * 8, "system_fingerprint": "fp_1"},
        {
            "source": {
                "type": "base64",
                "media_type": "image/png",
                "data": "iVBORw0KGgoAKIA" + "A2B3C4D5E6F7G2H3AA",
            }
        },
        {"name": "get_token", "content": "hello"},
        {"name": "password", "type": "string", "in": "query", "required": True},
        [["x", "y"], ["token count", "5"]],
        {"arguments": '{ "a" :1,\n  "b": [1.50e3, "x\\u00e9\\/"] }'},
    ],
    ids=lambda value: str(value)[:30],
)
def test_stays(value: Any) -> None:
    assert redact(value) is value


def test_a_secret_field_goes_whatever_stands_in_it() -> None:
    values: tuple[Any, ...] = (None, "", True, 0, 1.5, [], {}, {"a": {"b": 1}})
    for value in values:
        assert redact({"token": value}) == {"token": PLACEHOLDER}


def test_names_may_be_bytes() -> None:
    assert redact({b"authorization": b"opaque1", b"accept": b"*/*"}) == {
        b"authorization": PLACEHOLDER.encode(),
        b"accept": b"*/*",
    }


def test_secret_keys_do_not_collide() -> None:
    other = KEY[:-1] + "z"
    assert redact({KEY: 1, other: 2, "x": 3}) == {PLACEHOLDER: 1, f"{PLACEHOLDER} #2": 2, "x": 3}
    assert redact(json.dumps({KEY: 1, other: 2})) == json.dumps({PLACEHOLDER: 1, f"{PLACEHOLDER} #2": 2})


def test_a_key_that_was_redacted_is_no_secret_field() -> None:
    label = "RSA PRIVATE " + "KEY-----"
    value = {f"-----BEGIN {label}\n{BODY}{BODY}\n{BODY}{BODY}\n-----END {label}": True}
    assert redact(redact(value)) == redact(value)
    assert list(redact(value).values()) == [True]


def test_json_text_keeps_every_byte_that_is_not_secret() -> None:
    text = (
        '{ "a" :1.50e3,\n\t"token" : "x1", "b": ["\\u00e9\\/", {"password":null}], "c": "k \\n'
        + KEY
        + '\\t!"  }'
    )
    expected = (
        text.replace('"x1"', f'"{PLACEHOLDER}"').replace("null", f'"{PLACEHOLDER}"').replace(KEY, PLACEHOLDER)
    )
    assert redact(text) == expected


def test_json_text_with_a_key_twice_loses_both_values() -> None:
    assert "hunter" not in redact('{"password": "hunter2", "password": "hunter3"}')


def test_what_is_nested_too_deep_is_replaced_and_not_let_through() -> None:
    value: Any = {"password": "hunter2"}
    for _ in range(200):
        value = [value]
    assert "hunter2" not in as_text(redact(value))
    text = "[" * 500 + '{"password": "hunter2"}' + "]" * 500
    assert "hunter2" not in redact(text)


def test_the_schema_of_a_tool_is_no_secret_and_what_is_pasted_into_it_is() -> None:
    schema = {
        "type": "object",
        "properties": {
            "password": {"type": "string", "description": "the user password", "default": KEY},
            "token": {"enum": ["a", "b"]},
            "creds": {"type": "object", "properties": {"api_key": {"type": "string", "minLength": 8}}},
        },
        "required": ["password", "token"],
    }
    expected = json.loads(json.dumps(schema).replace(KEY, PLACEHOLDER))
    context = Context(tools=[Tool(name="login", parameters=schema)])
    request = built_in().open_call().request(MODEL, context, None)
    assert request.tree()["context"]["tools"][0]["parameters"] == expected
    for tools in (
        [{"type": "function", "function": {"name": "login", "parameters": schema}}],
        [{"name": "login", "input_schema": schema}],
        [{"functionDeclarations": [{"name": "login", "parameters_json_schema": schema}]}],
    ):
        assert json.loads(json.dumps(tools).replace(KEY, PLACEHOLDER)) == redact({"tools": tools})["tools"]


def test_what_only_looks_like_a_schema_goes() -> None:
    arguments = {"parameters": {"password": {"type": "string", "value": "hunter2"}}}
    call = ToolCall(id="1", name="x", arguments=arguments)
    message = AssistantMessage(api="a", provider="p", model="m", content=[call])
    tree = built_in().open_call().request(MODEL, Context(messages=[message]), None).tree()
    assert "hunter2" not in as_text(tree)


def test_our_own_types_keep_ids_roles_images_and_opaque_data() -> None:
    message = AssistantMessage(
        api="a",
        provider="p",
        model="m",
        response_id=KEY,
        content=[
            ThinkingContent(thinking="fine", signature=KEY),
            TextContent(text="fine", signature=KEY),
            ToolCall(id=KEY, name="get_token", arguments={"key": "ArrowDown", "token": "x"}, signature=KEY),
            OpaqueContent(kind="search", data={"encrypted_content": KEY, "title": f"see {OTHER_KEY}"}),
        ],
    )
    image = UserMessage(content=[ImageContent(data="AKIA" + "A2B3C4D5E6F7G2H3", mime_type="image/png")])
    context = Context(messages=[message, image])
    tree = built_in().open_call().request(MODEL, context, StreamOptions()).tree()
    expected = context.model_dump(mode="json")
    expected["messages"][0]["content"][2]["arguments"]["token"] = PLACEHOLDER
    expected["messages"][0]["content"][3]["data"]["title"] = f"see {PLACEHOLDER}"
    assert tree["context"] == expected


def test_the_value_given_is_not_changed() -> None:
    value = {"password": "hunter2", "list": [{"token": "x"}, KEY]}
    before = json.dumps(value)
    redact(value)
    assert json.dumps(value) == before


def test_what_is_no_json_value_is_an_error_that_names_its_place() -> None:
    with pytest.raises(TypeError, match=r"a\[0\]: object"):
        redact({"a": [object()]})
