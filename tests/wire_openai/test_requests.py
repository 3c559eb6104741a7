"""What is sent: every option, every kind of content, the same bytes on every run."""

from __future__ import annotations

from typing import Any

import pytest

from openprogram_core.providers import (
    AssistantMessage,
    Context,
    ImageContent,
    InvalidToolCall,
    Model,
    OpaqueContent,
    ProviderError,
    SimpleStreamOptions,
    StreamOptions,
    TextContent,
    ThinkingContent,
    Tool,
    ToolCall,
    ToolResultMessage,
    UserMessage,
)
from tests.support.adapter_runs import HELLO, run
from tests.support.wire_server import ReceivedRequest, Reply, WireServer
from tests.wire_openai.bodies import TEXT_BODIES
from tests.wire_openai.models import PROVIDERS, model_at

CHAT = "openai-completions"
RESPONSES = "openai-responses"
PIXEL = ImageContent(data="aGk=", mime_type="image/png")
URL = "data:image/png;base64,aGk="
SCHEMA = {"type": "object", "properties": {"a": {"type": "integer"}}}


async def request(
    api: str, context: Context = HELLO, options: StreamOptions | None = None, **fields: Any
) -> ReceivedRequest:
    """Return the request of a call; a second run sends the same bytes."""
    answer = Reply(TEXT_BODIES[api]("ok"))
    with WireServer(answer, answer) as server:
        model = model_at(server, api, **fields)
        for _ in range(2):
            await run(PROVIDERS[api], model, context, options)
        first, second = server.requests
    assert first.body == second.body
    assert first.headers == second.headers
    return first


async def sent(
    api: str, context: Context = HELLO, options: StreamOptions | None = None, **fields: Any
) -> dict[str, Any]:
    """Return the body of a request."""
    body: dict[str, Any] = (await request(api, context, options, **fields)).json()
    return body


def assistant(model: Model | None = None, **fields: Any) -> AssistantMessage:
    """Return a message of the model the requests here go to."""
    defaults = {"api": CHAT, "provider": "local", "model": "m"}
    return AssistantMessage(**{**defaults, **fields})


async def test_the_least_request() -> None:
    assert await sent(CHAT) == {
        "model": "m",
        "messages": [{"role": "user", "content": "hello"}],
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    assert await sent(RESPONSES) == {
        "model": "m",
        "input": [{"role": "user", "content": "hello"}],
        "stream": True,
        "store": False,
    }


async def test_paths_and_headers() -> None:
    for api, path in ((CHAT, "/v1/chat/completions"), (RESPONSES, "/v1/responses")):
        options = StreamOptions(api_key="k" * 20, headers={"x-Mine": "call", "X-More": "1"})
        got = await request(api, HELLO, options, headers={"X-mine": "model", "X-Model": "2"})
        assert (got.method, got.path) == ("POST", path)
        assert got.headers["authorization"] == "Bearer " + "k" * 20
        assert (got.headers["x-mine"], got.headers["x-more"], got.headers["x-model"]) == ("call", "1", "2")
        assert "authorization" not in (await request(api)).headers
        own = await request(api, HELLO, StreamOptions(headers={"AUTHORIZATION": "Custom abc"}))
        assert own.headers["authorization"] == "Custom abc"


async def test_the_key_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ACME_API_KEY", "from-the-environment")
    for api in PROVIDERS:
        got = await request(api, provider="acme")
        assert got.headers["authorization"] == "Bearer from-the-environment"


ALL_OPTIONS = SimpleStreamOptions(
    temperature=0.5,
    top_p=0.9,
    max_tokens=100,
    tool_choice={"type": "function", "name": "f"},
    parallel_tool_calls=False,
    response_format={"type": "json_schema", "name": "s", "schema": SCHEMA, "strict": True},
    prompt_cache_key="cache-1",
    service_tier="flex",
    metadata={"run": "1"},
    reasoning="high",
    extra_body={"user": "u", "text": {"verbosity": "low"}},
)


async def test_every_option_in_chat() -> None:
    options = ALL_OPTIONS.model_copy(update={"stop": ["END"], "seed": 7})
    body = await sent(CHAT, HELLO, options, reasoning=True)
    assert {name: body[name] for name in body if name not in ("model", "messages", "stream")} == {
        "stream_options": {"include_usage": True},
        "temperature": 0.5,
        "top_p": 0.9,
        "max_tokens": 100,
        "stop": ["END"],
        "seed": 7,
        "tool_choice": {"type": "function", "function": {"name": "f"}},
        "parallel_tool_calls": False,
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "s", "schema": SCHEMA, "strict": True},
        },
        "prompt_cache_key": "cache-1",
        "service_tier": "flex",
        "metadata": {"run": "1"},
        "reasoning_effort": "high",
        "user": "u",
        "text": {"verbosity": "low"},
    }


async def test_every_option_in_responses() -> None:
    body = await sent(RESPONSES, HELLO, ALL_OPTIONS, reasoning=True)
    text_format = {"type": "json_schema", "name": "s", "schema": SCHEMA, "strict": True}
    assert {name: body[name] for name in body if name not in ("model", "input", "stream")} == {
        "store": False,
        "temperature": 0.5,
        "top_p": 0.9,
        "max_output_tokens": 100,
        "tool_choice": {"type": "function", "name": "f"},
        "parallel_tool_calls": False,
        "text": {"format": text_format, "verbosity": "low"},
        "prompt_cache_key": "cache-1",
        "service_tier": "flex",
        "metadata": {"run": "1"},
        "include": ["reasoning.encrypted_content"],
        "reasoning": {"effort": "high", "summary": "auto"},
        "user": "u",
    }


@pytest.mark.parametrize("field", ["stop", "seed"])
async def test_responses_says_what_it_has_no_field_for(field: str) -> None:
    options = StreamOptions(stop=["x"]) if field == "stop" else StreamOptions(seed=1)
    with WireServer() as server:
        with pytest.raises(ProviderError, match=f"options.{field}") as caught:
            await run(PROVIDERS[RESPONSES], model_at(server, RESPONSES), options=options)
        assert server.requests == []
    assert caught.value.kind == "invalid_request"


@pytest.mark.parametrize("nested", [True, False])
async def test_both_forms_of_a_choice_and_a_format_are_understood(nested: bool) -> None:
    choice: dict[str, Any] = {"type": "function", "name": "f"}
    wanted: dict[str, Any] = {"type": "json_schema", "name": "s", "schema": SCHEMA}
    chat_choice = {"type": "function", "function": {"name": "f"}}
    chat_wanted = {"type": "json_schema", "json_schema": {"name": "s", "schema": SCHEMA}}
    given = (chat_choice, chat_wanted) if nested else (choice, wanted)
    options = StreamOptions(tool_choice=given[0], response_format=given[1])
    chat, answer = await sent(CHAT, HELLO, options), await sent(RESPONSES, HELLO, options)
    assert (chat["tool_choice"], chat["response_format"]) == (chat_choice, chat_wanted)
    assert (answer["tool_choice"], answer["text"]["format"]) == (choice, wanted)


async def test_tools() -> None:
    context = Context(
        messages=HELLO.messages,
        tools=[Tool(name="f", description="d", parameters=SCHEMA, strict=True), Tool(name="g")],
    )
    plain = {"type": "object", "properties": {}}
    chat, answer = await sent(CHAT, context), await sent(RESPONSES, context)
    assert [tool["function"] for tool in chat["tools"]] == [
        {"name": "f", "description": "d", "parameters": SCHEMA, "strict": True},
        {"name": "g", "description": "", "parameters": plain},
    ]
    assert answer["tools"] == [
        {"type": "function", "name": "f", "description": "d", "parameters": SCHEMA, "strict": True},
        {"type": "function", "name": "g", "description": "", "parameters": plain, "strict": False},
    ]
    extra = StreamOptions(extra_body={"tools": [{"type": "web_search"}]})
    assert (await sent(RESPONSES, context, extra))["tools"][2] == {"type": "web_search"}


@pytest.mark.parametrize("api", PROVIDERS)
@pytest.mark.parametrize(
    ("fields", "role"),
    [
        ({}, "system"),
        ({"reasoning": True}, "system"),
        ({"reasoning": True, "compat": {"system_role": "developer"}}, "developer"),
    ],
)
async def test_the_system_prompt(api: str, fields: dict[str, Any], role: str) -> None:
    context = Context(system_prompt="be brief", messages=HELLO.messages)
    body = await sent(api, context, **fields)
    assert body["messages" if api == CHAT else "input"][0] == {"role": role, "content": "be brief"}


async def test_images_from_the_user_and_from_tools() -> None:
    call = ToolCall(id="call_1", name="look", arguments={})
    context = Context(
        messages=[
            UserMessage(content=[TextContent(text="see"), PIXEL]),
            assistant(content=[call, call.model_copy(update={"id": "call_2"})]),
            ToolResultMessage(
                tool_call_id="call_1", tool_name="look", content=[TextContent(text="here"), PIXEL]
            ),
            ToolResultMessage(tool_call_id="call_2", tool_name="look", content=[PIXEL]),
            UserMessage(content="and?"),
        ]
    )
    sees: Any = {"input": ["text", "image"]}
    picture = {"type": "image_url", "image_url": {"url": URL}}
    chat = (await sent(CHAT, context, **sees))["messages"]
    assert chat[0]["content"] == [{"type": "text", "text": "see"}, picture]
    assert [message["role"] for message in chat] == ["user", "assistant", "tool", "tool", "user", "user"]
    assert (chat[2]["content"], chat[3]["content"]) == ("here", "The image follows.")
    assert [part for part in chat[4]["content"] if part["type"] == "image_url"] == [picture, picture]
    inline = (await sent(CHAT, context, compat={"tool_images": "tool"}, **sees))["messages"]
    assert inline[2]["content"] == [{"type": "text", "text": "here"}, picture]

    answer = (await sent(RESPONSES, context, **sees))["input"]
    image = {"type": "input_image", "image_url": URL, "detail": "auto"}
    assert answer[0]["content"] == [{"type": "input_text", "text": "see"}, image]
    outputs = [item["output"] for item in answer if item.get("type") == "function_call_output"]
    assert outputs == [[{"type": "input_text", "text": "here"}, image], [image]]


@pytest.mark.parametrize("api", PROVIDERS)
async def test_a_model_without_eyes_is_told_what_it_does_not_see(api: str) -> None:
    body = await sent(api, Context(messages=[UserMessage(content=[PIXEL])]))
    assert URL not in str(body)
    assert "image/png left out" in str(body)


@pytest.mark.parametrize("api", PROVIDERS)
async def test_unreadable_calls_go_back_readable_with_their_result(api: str) -> None:
    context = Context(
        messages=[
            UserMessage(content="go"),
            assistant(
                api=api,
                content=[
                    InvalidToolCall(id="call_1", name="f", arguments_text='{"a": ', reason="invalid"),
                    InvalidToolCall(id="call_2", name="g", arguments_text='{"b": ', reason="incomplete"),
                ],
            ),
            ToolResultMessage(
                tool_call_id="call_1", tool_name="f", content=[TextContent(text="bad JSON")], is_error=True
            ),
        ]
    )
    text = (await request(api, context)).body.decode()
    assert "INVALID_JSON" in text
    assert "call_1" in text
    assert "call_2" not in text


@pytest.mark.parametrize("api", PROVIDERS)
async def test_a_call_nobody_answered_is_answered(api: str) -> None:
    call = ToolCall(id="call_1", name="f", arguments={})
    context = Context(messages=[assistant(api=api, content=[call]), UserMessage(content="never mind")])
    assert "was not run" in (await request(api, context)).body.decode()


async def test_thinking_goes_back_where_the_server_wants_it() -> None:
    context = Context(
        messages=[
            assistant(content=[ThinkingContent(thinking="hm"), TextContent(text="ok")]),
            *HELLO.messages,
        ]
    )
    forms: dict[str, dict[str, Any]] = {
        "drop": {"content": "ok"},
        "tags": {"content": "<think>\nhm\n</think>\nok"},
        "reasoning": {"content": "ok", "reasoning": "hm"},
        "reasoning_content": {"content": "ok", "reasoning_content": "hm"},
    }
    for word, form in forms.items():
        body = await sent(CHAT, context, compat={"thinking": word})
        assert body["messages"][0] == {"role": "assistant", **form}


@pytest.mark.parametrize("api", PROVIDERS)
@pytest.mark.parametrize(
    ("model", "options", "expected"),
    [
        ({"reasoning": False}, {"reasoning": "high"}, None),
        ({"reasoning": True}, {}, None),
        ({"reasoning": True}, {"reasoning": "minimal"}, "minimal"),
        ({"reasoning": True}, {"reasoning": "off"}, "none"),
        ({"reasoning": True, "compat": {"efforts": {"off": None}}}, {"reasoning": "off"}, None),
        ({"reasoning": True, "compat": {"efforts": {"xhigh": "max"}}}, {"reasoning": "xhigh"}, "max"),
    ],
)
async def test_levels_of_reasoning(
    api: str, model: dict[str, Any], options: dict[str, Any], expected: str | None
) -> None:
    body = await sent(api, HELLO, SimpleStreamOptions(**options), **model)
    seen = body.get("reasoning_effort") or body.get("reasoning", {}).get("effort")
    assert seen == expected


@pytest.mark.parametrize(
    ("form", "options", "expected"),
    [
        ("openrouter", {"reasoning": "low"}, {"reasoning": {"effort": "low"}}),
        (
            "openrouter",
            {"reasoning": "low", "thinking_budgets": {"low": 512}},
            {"reasoning": {"max_tokens": 512}},
        ),
        ("openrouter", {"reasoning": "off"}, {"reasoning": {"enabled": False}}),
        (
            "qwen",
            {"reasoning": "low", "thinking_budgets": {"low": 512}},
            {"enable_thinking": True, "thinking_budget": 512},
        ),
        ("qwen", {"reasoning": "off"}, {"enable_thinking": False}),
        ("none", {"reasoning": "high"}, {}),
    ],
)
async def test_servers_with_words_of_their_own(
    form: str, options: dict[str, Any], expected: dict[str, Any]
) -> None:
    plain = await sent(CHAT)
    body = await sent(CHAT, HELLO, SimpleStreamOptions(**options), reasoning=True, compat={"reasoning": form})
    assert {name: body[name] for name in body if name not in plain} == expected


async def test_ids_of_an_exact_length() -> None:
    call = ToolCall(id="toolu_01A09q90qw90lq917835lq9", name="f", arguments={})
    context = Context(
        messages=[
            assistant(api="anthropic-messages", content=[call]),
            ToolResultMessage(tool_call_id=call.id, tool_name="f", content=[TextContent(text="r")]),
        ]
    )
    said, result = (await sent(CHAT, context, compat={"call_id_length": 9}))["messages"]
    call_id = said["tool_calls"][0]["id"]
    assert len(call_id) == 9
    assert call_id.isalnum()
    assert result["tool_call_id"] == call_id


@pytest.mark.parametrize("api", PROVIDERS)
async def test_a_misspelt_compat_is_an_error_that_names_what_is_known(api: str) -> None:
    with WireServer() as server:
        model = model_at(server, api, compat={"system_rule": "x"})
        with pytest.raises(ProviderError, match=r"compat\.system_rule.*system_role"):
            await run(PROVIDERS[api], model)
        assert server.requests == []


@pytest.mark.parametrize("api", PROVIDERS)
async def test_what_has_no_utf8_form_is_mended_before_it_is_sent(api: str) -> None:
    body = (await request(api, Context(messages=[UserMessage(content="a\ud83d b\ud83d\ude00")]))).body
    assert "a\ufffd b😀" in body.decode()


@pytest.mark.parametrize("api", PROVIDERS)
async def test_server_side_objects_go_back_only_as_items(api: str) -> None:
    item = {"type": "web_search_call", "id": "ws_1", "status": "completed"}
    event = {"type": "response.news", "sequence_number": 3}
    message = assistant(
        api=api,
        content=[
            OpaqueContent(kind="web_search_call", data=item),
            OpaqueContent(kind="event:response.news", data=event),
            TextContent(text="ok"),
        ],
    )
    text = (await request(api, Context(messages=[message, *HELLO.messages]))).body.decode()
    assert ("ws_1" in text) == (api == RESPONSES)
    assert "response.news" not in text
