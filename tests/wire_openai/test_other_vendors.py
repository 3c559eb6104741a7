"""A conversation begun elsewhere: what these wire APIs can take goes on, the rest is left out knowingly."""

from __future__ import annotations

from typing import Any

import pytest

from openprogram_core.providers import (
    AssistantMessage,
    Context,
    OpaqueContent,
    TextContent,
    ThinkingContent,
    ToolCall,
    ToolResultMessage,
    UserMessage,
)
from tests.support.adapter_runs import run
from tests.support.wire_server import Reply, WireServer
from tests.wire_openai.bodies import TEXT_BODIES
from tests.wire_openai.models import PROVIDERS, model_at

CHAT = "openai-completions"
RESPONSES = "openai-responses"
LONG_ID = "toolu_" + "x" * 60 + "|fc+/="


def elsewhere(**fields: Any) -> AssistantMessage:
    defaults: dict[str, Any] = {
        "api": "anthropic-messages",
        "provider": "anthropic",
        "model": "claude",
        "content": [
            ThinkingContent(thinking="secret plan", signature="SIG"),
            ThinkingContent(thinking="", signature="HIDDEN", redacted=True),
            TextContent(text="Let me look.", signature="TEXTSIG", citations=[{"cited": "CITED"}]),
            OpaqueContent(kind="server_tool_use", data={"type": "server_tool_use", "id": "SERVERTOOL"}),
            ToolCall(id=LONG_ID, name="f", arguments={"a": 1}, signature="CALLSIG"),
        ],
    }
    return AssistantMessage(**{**defaults, **fields})


def conversation(message: AssistantMessage) -> Context:
    return Context(
        messages=[
            UserMessage(content="hello"),
            message,
            ToolResultMessage(tool_call_id=LONG_ID, tool_name="f", content=[TextContent(text="found")]),
            UserMessage(content="go on"),
        ]
    )


async def sent(api: str, context: Context) -> tuple[dict[str, Any], str]:
    answer = Reply(TEXT_BODIES[api]("ok"))
    with WireServer(answer, answer) as server:
        model = model_at(server, api, reasoning=True)
        for _ in range(2):
            await run(PROVIDERS[api], model, context)
        first, second = server.requests
    assert first.body == second.body
    return first.json(), first.body.decode()


async def test_from_another_vendor_to_chat() -> None:
    body, text = await sent(CHAT, conversation(elsewhere()))
    _, said, result, _ = body["messages"]
    (call,) = said["tool_calls"]
    assert said["content"] == "Let me look."
    assert call["function"] == {"name": "f", "arguments": '{"a":1}'}
    assert len(call["id"]) <= 40
    assert result == {"role": "tool", "tool_call_id": call["id"], "content": "found"}
    for left_out in ("plan", "SIG", "HIDDEN", "CITED", "SERVERTOOL"):
        assert left_out not in text


async def test_from_another_vendor_to_responses() -> None:
    body, text = await sent(RESPONSES, conversation(elsewhere()))
    _, said, call, result, _ = body["input"]
    assert said == {"role": "assistant", "content": "Let me look."}
    assert set(call) == {"type", "call_id", "name", "arguments"}
    assert len(call["call_id"]) <= 64
    assert result == {"type": "function_call_output", "call_id": call["call_id"], "output": "found"}
    for left_out in ("plan", "SIG", "HIDDEN", "CITED", "SERVERTOOL"):
        assert left_out not in text


@pytest.mark.parametrize(
    "fields",
    [
        {"api": RESPONSES, "provider": "local", "model": "m", "stop_reason": "error"},
        {"api": RESPONSES, "provider": "local", "model": "another"},
        {"api": CHAT, "provider": "local", "model": "m"},
    ],
    ids=["failed", "another-model", "another-wire-api"],
)
async def test_ids_and_signatures_count_only_for_whole_messages_of_the_same_model(
    fields: dict[str, Any],
) -> None:
    content = [
        ThinkingContent(thinking="plan", signature='{"id":"rs_1","encrypted_content":"HIDDEN"}'),
        TextContent(text="hi", signature='{"id":"msg_1"}'),
        ToolCall(id="call_1", name="f", arguments={}, signature='{"id":"fc_1"}'),
    ]
    message = elsewhere(content=content, **fields)
    context = Context(
        messages=[
            message,
            ToolResultMessage(tool_call_id="call_1", tool_name="f", content=[TextContent(text="found")]),
        ]
    )
    body, text = await sent(RESPONSES, context)
    assert [item.get("type", item.get("role")) for item in body["input"]] == [
        "assistant",
        "function_call",
        "function_call_output",
    ]
    for left_out in ("rs_1", "HIDDEN", "msg_1", "fc_1"):
        assert left_out not in text


@pytest.mark.parametrize("api", PROVIDERS)
async def test_a_message_of_which_nothing_can_be_sent_is_left_out(api: str) -> None:
    message = elsewhere(content=[ThinkingContent(thinking="plan")])
    body, _ = await sent(api, Context(messages=[UserMessage(content="a"), message, UserMessage(content="b")]))
    items = body["messages" if api == CHAT else "input"]
    assert [item["role"] for item in items] == ["user", "user"]


async def test_foreign_ids_stay_apart_when_they_look_alike() -> None:
    calls = [ToolCall(id=f"call/{letter}", name="f", arguments={}) for letter in ":;/"]
    results = [
        ToolResultMessage(tool_call_id=call.id, tool_name="f", content=[TextContent(text=call.id)])
        for call in calls
    ]
    body, _ = await sent(CHAT, Context(messages=[elsewhere(content=calls), *results]))
    said, *answers = body["messages"]
    ids = [call["id"] for call in said["tool_calls"]]
    assert len(set(ids)) == 3
    assert [answer["tool_call_id"] for answer in answers] == ids
