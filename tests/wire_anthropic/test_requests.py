"""What goes out: every option, and the second turn of a real session field by field."""

from __future__ import annotations

import json
from typing import Any

import pytest

from openprogram_core.comparison import find_differences
from openprogram_core.providers import (
    AssistantMessage,
    Context,
    ImageContent,
    InvalidToolCall,
    MissingCredentialsError,
    ProviderError,
    StreamOptions,
    TextContent,
    ThinkingContent,
    Tool,
    ToolCall,
    ToolResultMessage,
    UserMessage,
)
from tests.support.shared import shared_path
from tests.support.wire_calls import HELLO, collect, final
from tests.support.wire_server import Reply, WireServer
from tests.wire_anthropic.wire import PROVIDER, answer, begin, claude, end, sent, text

TOOL = Tool(name="f", description="does f", parameters={"type": "object", "properties": {"a": {}}})


async def test_the_second_turn_carries_what_the_real_client_sent() -> None:
    first, second = (
        json.loads(shared_path(f"streams/anthropic-tool-call/{n}.request.json").read_text("utf-8"))
        for n in (0, 1)
    )
    body = shared_path("streams/anthropic-tool-call/0.response.sse").read_bytes()
    tools = [
        Tool(name=tool["name"], description=tool["description"], parameters=tool["input_schema"])
        for tool in first["tools"]
    ]
    question = UserMessage(content=first["messages"][0]["content"][0]["text"])
    context = Context(
        system_prompt="\n\n".join(part["text"] for part in first["system"]), messages=[question], tools=tools
    )
    options = StreamOptions(max_tokens=64000, cache_retention="short")
    with WireServer(Reply(body), answer(begin(), *text(0, "1"), *end())) as server:
        message = final(await collect(PROVIDER, claude(server), context, options))
        (call,) = (part for part in message.content if isinstance(part, ToolCall))
        result = ToolResultMessage(
            tool_call_id=call.id, tool_name=call.name, content=[TextContent(text="FILE README.me")]
        )
        more = context.model_copy(update={"messages": [question, message, result]})
        await collect(PROVIDER, claude(server), more, options)
        requests = [request.json() for request in server.requests]

    marker = {"type": "ephemeral"}
    # That client gives its system prompt in two blocks; here it is one string, so it is one block.
    system = [{"type": "text", "text": context.system_prompt, "cache_control": marker}]
    assert requests[0]["system"] == requests[1]["system"] == system
    differences = [
        (str(path), recorded, incoming)
        for sent_body, real in zip(requests, (first, second), strict=True)
        for path, recorded, incoming in find_differences(
            {name: value for name, value in real.items() if name != "system"},
            {name: value for name, value in sent_body.items() if name != "system"},
        )
    ]
    # That client marks the last two messages for the cache. One marker at the end is enough: the service
    # looks back from it, and finds what the marker of the request before had written.
    missing = [
        (path, recorded)
        for path, recorded, _ in differences
        if path != "messages[1].content[0].cache_control"
    ]
    assert missing == []
    assert len(differences) == 1


async def test_the_same_call_sends_the_same_bytes() -> None:
    context = Context(
        system_prompt="s",
        messages=[
            UserMessage(content="a"),
            said(ToolCall(id="toolu_1", name="f", arguments={"b": 1, "a": 2})),
        ],
        tools=[TOOL],
    )
    replies = [answer(begin(), *text(0, "ok"), *end()) for _ in range(2)]
    with WireServer(*replies) as server:
        for _ in replies:
            await collect(PROVIDER, claude(server), context, StreamOptions(metadata={"user_id": "u"}))
        assert server.requests[0].body == server.requests[1].body
        assert server.requests[0].path == "/v1/messages"


def said(*content: Any, **fields: Any) -> AssistantMessage:
    return AssistantMessage(
        content=list(content),
        **{"api": "anthropic-messages", "provider": "anthropic", "model": "claude-sonnet-4-0", **fields},
    )


@pytest.mark.parametrize(
    ("options", "fields"),
    [
        ({"temperature": 0.5, "top_p": 0.9}, {"temperature": 0.5, "top_p": 0.9}),
        ({"max_tokens": 7}, {"max_tokens": 7}),
        ({"stop": ["END"]}, {"stop_sequences": ["END"]}),
        ({"service_tier": "standard_only"}, {"service_tier": "standard_only"}),
        ({"metadata": {"user_id": "u"}}, {"metadata": {"user_id": "u"}}),
        ({"tool_choice": "auto"}, {"tool_choice": {"type": "auto"}}),
        ({"tool_choice": "none"}, {"tool_choice": {"type": "none"}}),
        ({"tool_choice": "required"}, {"tool_choice": {"type": "any"}}),
        ({"tool_choice": {"type": "tool", "name": "f"}}, {"tool_choice": {"type": "tool", "name": "f"}}),
        (
            {"tool_choice": {"type": "function", "function": {"name": "f"}}},
            {"tool_choice": {"type": "tool", "name": "f"}},
        ),
        (
            {"tool_choice": {"type": "function", "name": "f"}},
            {"tool_choice": {"type": "tool", "name": "f"}},
        ),
        (
            {"parallel_tool_calls": False},
            {"tool_choice": {"type": "auto", "disable_parallel_tool_use": True}},
        ),
        (
            {"parallel_tool_calls": False, "tool_choice": "required"},
            {"tool_choice": {"type": "any", "disable_parallel_tool_use": True}},
        ),
        ({"parallel_tool_calls": False, "tool_choice": "none"}, {"tool_choice": {"type": "none"}}),
        (
            {
                "response_format": {
                    "type": "json_schema",
                    "json_schema": {"name": "n", "schema": {"type": "object"}},
                }
            },
            {"output_config": {"format": {"type": "json_schema", "schema": {"type": "object"}}}},
        ),
        ({"extra_body": {"container": "c", "max_tokens": 9}}, {"container": "c", "max_tokens": 9}),
        ({"prompt_cache_key": "k", "response_format": {"type": "text"}}, {}),
    ],
)
async def test_option(options: dict[str, Any], fields: dict[str, Any]) -> None:
    context = Context(messages=[UserMessage(content="hello")], tools=[TOOL])
    plain = await sent(context)
    assert await sent(context, StreamOptions(**options)) == {**plain, **fields}


async def test_a_seed_cannot_be_asked_for() -> None:
    with pytest.raises(ProviderError, match="no seed"):
        await sent(options=StreamOptions(seed=1))


@pytest.mark.parametrize("compat", [{"thinkng": "budget"}, {"thinking": "often"}])
async def test_a_departure_nobody_knows_is_an_error_that_names_it(compat: dict[str, Any]) -> None:
    with pytest.raises(ProviderError, match=f"compat.{next(iter(compat))}.*unsigned_thinking") as raised:
        await sent(Context(messages=[UserMessage(content="a"), said(TextContent(text="b"))]), compat=compat)
    assert raised.value.kind == "invalid_request"


async def test_an_answer_in_json_without_a_schema_cannot_be_asked_for() -> None:
    with pytest.raises(ProviderError, match="json_schema") as raised:
        await sent(options=StreamOptions(response_format={"type": "json_object"}))
    assert raised.value.kind == "invalid_request"


async def test_server_side_tools_join_the_tools_of_the_context() -> None:
    search = {"type": "web_search_20260318", "name": "web_search"}
    body = await sent(
        Context(messages=[UserMessage(content="a")], tools=[TOOL.model_copy(update={"strict": True})]),
        StreamOptions(extra_body={"tools": [search]}),
    )
    described = {"name": "f", "description": "does f", "input_schema": TOOL.parameters, "strict": True}
    assert body["tools"] == [described, search]


async def test_the_least_a_request_holds() -> None:
    assert await sent() == {
        "model": "claude-sonnet-4-0",
        "max_tokens": 4096,
        "messages": [{"role": "user", "content": [{"type": "text", "text": "hello"}]}],
        "stream": True,
    }


async def test_the_models_limit_is_the_default() -> None:
    assert (await sent(max_tokens=1234))["max_tokens"] == 1234


@pytest.mark.parametrize(
    ("retention", "marker"),
    [("short", {"type": "ephemeral"}), ("long", {"type": "ephemeral", "ttl": "1h"})],
)
async def test_cache_markers_stand_at_the_end_of_what_the_next_request_repeats(
    retention: Any, marker: dict[str, str]
) -> None:
    context = Context(
        system_prompt="s",
        messages=[
            UserMessage(content="a"),
            said(ToolCall(id="toolu_1", name="f", arguments={})),
            ToolResultMessage(tool_call_id="toolu_1", tool_name="f", content=[TextContent(text="r")]),
        ],
        tools=[TOOL],
    )
    body = await sent(context, StreamOptions(cache_retention=retention))
    assert body["system"][-1]["cache_control"] == marker
    assert body["messages"][-1]["content"][-1]["cache_control"] == marker
    assert json.dumps(body).count("cache_control") == 2
    without = await sent(
        context.model_copy(update={"system_prompt": None}), StreamOptions(cache_retention=retention)
    )
    assert without["tools"][-1]["cache_control"] == marker
    assert "cache_control" not in json.dumps(await sent(context, StreamOptions(cache_retention="none")))
    assert "cache_control" not in json.dumps(await sent(context))


async def test_thinking_takes_no_cache_marker() -> None:
    context = Context(
        messages=[UserMessage(content="a"), said(ThinkingContent(thinking="hm", signature="SIG"))]
    )
    body = await sent(context, StreamOptions(cache_retention="short"))
    assert "cache_control" in body["messages"][0]["content"][0]
    assert "cache_control" not in body["messages"][1]["content"][0]


async def test_images_in_questions_and_in_results() -> None:
    image = ImageContent(data="aGk=", mime_type="image/png")
    wire = {
        "type": "image",
        "source": {"type": "base64", "media_type": "image/png", "data": "aGk="},
    }
    context = Context(
        messages=[
            UserMessage(content=[TextContent(text="look"), image]),
            said(ToolCall(id="toolu_1", name="f", arguments={})),
            ToolResultMessage(tool_call_id="toolu_1", tool_name="f", content=[image], is_error=True),
        ]
    )
    body = await sent(context, input=["text", "image"])
    assert body["messages"][0]["content"] == [{"type": "text", "text": "look"}, wire]
    assert body["messages"][2]["content"] == [
        {"type": "tool_result", "tool_use_id": "toolu_1", "is_error": True, "content": [wire]}
    ]
    blind = await sent(context)
    assert blind["messages"][0]["content"][1]["text"] == "[image/png left out: this model takes text only]"


async def test_results_of_one_turn_stand_in_one_message_in_the_order_of_the_calls() -> None:
    results = [
        ToolResultMessage(tool_call_id=f"toolu_{n}", tool_name="f", content=[TextContent(text=str(n))])
        for n in (2, 1)
    ]
    calls = [ToolCall(id=f"toolu_{n}", name="f", arguments={}) for n in (1, 2)]
    context = Context(messages=[UserMessage(content="a"), said(*calls), *results, UserMessage(content="b")])
    messages = (await sent(context))["messages"]
    assert [message["role"] for message in messages] == ["user", "assistant", "user", "user"]
    assert [block["tool_use_id"] for block in messages[2]["content"]] == ["toolu_1", "toolu_2"]


async def test_a_call_nobody_answered_is_answered_for_the_service() -> None:
    context = Context(
        messages=[
            UserMessage(content="a"),
            said(ToolCall(id="toolu_1", name="f", arguments={})),
            UserMessage(content="never mind"),
        ]
    )
    (result,) = (await sent(context))["messages"][2]["content"]
    assert (result["tool_use_id"], result["is_error"]) == ("toolu_1", True)


async def test_calls_that_were_cut_go_back_only_with_an_answer() -> None:
    cut = InvalidToolCall(id="toolu_1", name="f", arguments_text='{"a": [1', reason="incomplete")
    answered = ToolResultMessage(
        tool_call_id="toolu_1", tool_name="f", content=[TextContent(text="cut")], is_error=True
    )
    with_answer = Context(messages=[UserMessage(content="a"), said(cut), answered])
    body = await sent(with_answer)
    assert body["messages"][1]["content"][0]["input"] == {"INVALID_JSON": '{"a": [1'}
    without = Context(messages=[UserMessage(content="a"), said(cut), UserMessage(content="b")])
    assert [message["role"] for message in (await sent(without))["messages"]] == ["user", "user"]


async def test_blank_text_and_results_without_a_call_are_left_out() -> None:
    stray = ToolResultMessage(tool_call_id="toolu_x", tool_name="f", content=[])
    context = Context(
        messages=[UserMessage(content=" \n"), said(TextContent(text="")), stray, UserMessage(content="b")]
    )
    assert (await sent(context))["messages"] == [{"role": "user", "content": [{"type": "text", "text": "b"}]}]


async def test_half_a_character_does_not_spoil_the_request() -> None:
    body = await sent(Context(messages=[UserMessage(content="cut \ud83d and joined \ud83d\ude00")]))
    assert body["messages"][0]["content"][0]["text"] == "cut \ufffd and joined 😀"


async def test_thinking_without_a_signature_goes_back_only_where_the_server_wants_it() -> None:
    context = Context(
        messages=[UserMessage(content="a"), said(ThinkingContent(thinking="hm"), TextContent(text="b"))]
    )
    assert [b["type"] for b in (await sent(context))["messages"][1]["content"]] == ["text"]
    wanted = (await sent(context, compat={"unsigned_thinking": True}))["messages"][1]["content"]
    assert wanted[0] == {"type": "thinking", "thinking": "hm", "signature": ""}


async def test_what_a_failed_message_held_beside_text_and_calls_stays_behind() -> None:
    failed = said(
        ThinkingContent(thinking="hm", signature="SIG"), TextContent(text="par"), stop_reason="error"
    )
    body = await sent(Context(messages=[UserMessage(content="a"), failed, UserMessage(content="b")]))
    assert body["messages"][1]["content"] == [{"type": "text", "text": "par"}]


async def test_the_key_and_the_headers() -> None:
    key = "sk-ant-" + "api03-test"
    reply = answer(begin(), *text(0, "ok"), *end())
    with WireServer(reply, reply, reply) as server:
        model = claude(server, headers={"x-team": "a", "X-Both": "model"})
        options = StreamOptions(api_key=key, headers={"anthropic-beta": "b-1", "x-both": "call"})
        await collect(PROVIDER, model, HELLO, options)
        await collect(PROVIDER, model, HELLO)
        await collect(PROVIDER, model, HELLO, StreamOptions(headers={"x-api-key": "mine"}))
        keyed, keyless, own = (request.headers for request in server.requests)
    assert key in keyed.get("authorization", "") + keyed.get("x-api-key", "")
    assert (keyed["x-team"], keyed["anthropic-beta"], keyed["x-both"]) == ("a", "b-1", "call")
    assert keyed["anthropic-version"]
    assert not {"authorization", "x-api-key"} & set(keyless)
    assert own["x-api-key"] == "mine"
    assert "authorization" not in own


async def test_a_key_of_the_environment_is_used_and_no_other_providers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "from-the-environment")
    reply = answer(begin(), *text(0, "ok"), *end())
    with WireServer(reply, reply) as server:
        await collect(PROVIDER, claude(server))
        await collect(PROVIDER, claude(server).model_copy(update={"provider": "elsewhere"}))
        own, other = (request.headers for request in server.requests)
    assert "from-the-environment" in own["authorization"]
    assert "authorization" not in other


async def test_a_remote_address_wants_a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"):
        monkeypatch.delenv(variable, raising=False)
    with WireServer() as server:
        remote = claude(server).model_copy(update={"base_url": "https://gateway.example"})
        with pytest.raises(MissingCredentialsError, match="ANTHROPIC_API_KEY"):
            await collect(PROVIDER, remote)


async def test_an_address_may_be_given_with_the_version() -> None:
    with WireServer(answer(begin(), *text(0, "ok"), *end())) as server:
        model = claude(server).model_copy(update={"base_url": f"{server.url}/proxy/v1/"})
        await collect(PROVIDER, model)
        assert server.requests[0].path == "/proxy/v1/messages"
