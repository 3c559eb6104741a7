"""What goes back to the service on the next turn, against what a published client sent there."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from openprogram_core.providers import (
    AssistantMessage,
    Context,
    Message,
    Model,
    SimpleStreamOptions,
    StreamOptions,
    TextContent,
    ThinkingContent,
    Tool,
    ToolCall,
    ToolResultMessage,
    UserMessage,
)
from tests.support.adapter_runs import calls_of, final, run
from tests.support.shared import shared_path
from tests.support.wire_server import Reply, WireServer
from tests.wire_openai.bodies import message_item, responses
from tests.wire_openai.models import PROVIDERS, model_at
from tests.wire_openai.raw_reading import data_lines

CHAT = PROVIDERS["openai-completions"]
RESPONSES = PROVIDERS["openai-responses"]


def _differences(published: Any, ours: Any, path: str = "") -> Iterator[tuple[str, Any, Any]]:
    """Each place where two JSON values differ; None stands for a field that is not there."""
    if isinstance(published, dict) and isinstance(ours, dict):
        for name in sorted({*published, *ours}):
            yield from _differences(published.get(name), ours.get(name), f"{path}.{name}")
    elif isinstance(published, list) and isinstance(ours, list) and len(published) == len(ours):
        for index, (left, right) in enumerate(zip(published, ours, strict=True)):
            yield from _differences(left, right, f"{path}[{index}]")
    elif published != ours:
        yield path.lstrip("."), published, ours


def _tools(request: dict[str, Any]) -> list[Tool]:
    return [Tool(**tool["function"]) for tool in request["tools"]]


def _results(message: AssistantMessage, answers: dict[str, str]) -> list[Message]:
    return [
        ToolResultMessage(
            tool_call_id=call.id, tool_name=call.name, content=[TextContent(text=answers[call.name])]
        )
        for call in calls_of(message)
    ]


async def test_an_agent_run_of_three_calls_sends_what_was_published() -> None:
    folder = shared_path("streams") / "chat-agent-run"
    published = [json.loads((folder / f"{n}.request.json").read_text()) for n in range(3)]
    answers = {"get_country": "Mexico", "get_product_name": "Pydantic AI", "get_weather": "sunny"}
    context = Context(
        messages=[UserMessage(content=published[0]["messages"][0]["content"])], tools=_tools(published[0])
    )
    replies = [Reply((folder / f"{n}.response.sse").read_bytes()) for n in range(3)]
    with WireServer(*replies) as server:
        model = model_at(server, "openai-completions", id="gpt-4o")
        for _ in range(3):
            events = await run(CHAT, model, context, StreamOptions(tool_choice="required"))
            message = final(events)
            more = _results(message, {**answers, "final_result": ""})
            context = context.model_copy(update={"messages": [*context.messages, message, *more]})
        sent = [request.json() for request in server.requests]
    for ours, theirs in zip(sent, published, strict=True):
        assert list(_differences(theirs, ours)) == []


async def test_thinking_goes_back_in_tags_as_it_was_published() -> None:
    folder = shared_path("streams") / "chat-error-mid-stream"
    published = [json.loads((folder / f"{n}.request.json").read_text()) for n in (1, 2)]
    with WireServer(Reply((folder / "1.response.sse").read_bytes())) as server:
        server.add(Reply((folder / "2.response.sse").read_bytes()))
        model = model_at(
            server,
            "openai-completions",
            id="openai/gpt-oss-120b",
            compat={"thinking": "tags", "stream_usage": False},
        )
        context = Context(
            system_prompt=published[0]["messages"][0]["content"],
            messages=[
                UserMessage(content=published[0]["messages"][1]["content"]),
                *_failed_attempt(model, published[0]),
            ],
            tools=_tools(published[0]),
        )
        options = StreamOptions(tool_choice="auto", extra_body={"n": 1})
        message = final(await run(CHAT, model, context, options))
        answers = {"get_something_by_name": "Something with name: example"}
        context.messages += [message, *_results(message, answers)]
        await run(CHAT, model, context, options)
        sent = [request.json() for request in server.requests]
    for ours, theirs in zip(sent, published, strict=True):
        assert list(_differences(theirs, ours)) == []


def _failed_attempt(model: Model, request: dict[str, Any]) -> list[Message]:
    # The published client made this call out of the service's error; the service never streamed it.
    said, result = request["messages"][2:4]
    call = said["tool_calls"][0]
    thinking = said["content"].removeprefix("<think>\n").removesuffix("\n</think>")
    return [
        AssistantMessage(
            api=model.api,
            provider=model.provider,
            model=model.id,
            content=[
                ThinkingContent(thinking=thinking),
                ToolCall(
                    id=call["id"],
                    name=call["function"]["name"],
                    arguments=json.loads(call["function"]["arguments"]),
                ),
            ],
            stop_reason="toolUse",
        ),
        ToolResultMessage(
            tool_call_id=result["tool_call_id"],
            tool_name=call["function"]["name"],
            content=[TextContent(text=result["content"])],
        ),
    ]


async def test_responses_first_turn_and_the_items_that_go_back() -> None:
    folder = shared_path("streams") / "responses-usage"
    body = (folder / "0.response.sse").read_bytes()
    published = json.loads((folder / "0.request.json").read_text())
    with WireServer(Reply(body), Reply(responses())) as server:
        model = model_at(
            server, "openai-responses", id="gpt-5", reasoning=True, compat={"reasoning_summary": None}
        )
        tools = [
            Tool(**{name: value for name, value in tool.items() if name != "type"})
            for tool in published["tools"]
        ]
        context = Context(messages=[UserMessage(content=published["input"][0]["content"])], tools=tools)
        options = SimpleStreamOptions(reasoning="low", tool_choice="required", service_tier="flex")
        message = final(await run(RESPONSES, model, context, options))
        context.messages += [message, *_results(message, {"final_result": "done"})]
        await run(RESPONSES, model, context, options)
        first, second = [request.json() for request in server.requests]
    # Nothing is kept at the service, because every request carries the whole conversation.
    assert list(_differences(published, first)) == [("store", None, False)]
    items = [event["item"] for event in data_lines(body) if event["type"] == "response.output_item.done"]
    # `status` is the service's to say.
    expected = [{name: value for name, value in item.items() if name != "status"} for item in items]
    result = {"type": "function_call_output", "call_id": items[1]["call_id"], "output": "done"}
    assert second["input"] == [*first["input"], *expected, result]


async def test_every_item_of_a_response_goes_back_unchanged() -> None:
    items: list[dict[str, Any]] = [
        {
            "type": "reasoning",
            "id": "rs_1",
            "summary": [{"type": "summary_text", "text": "a"}, {"type": "summary_text", "text": "b"}],
            "encrypted_content": "OPAQUE1",
        },
        {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"type": "search"}},
        {"type": "reasoning", "id": "rs_2", "summary": [], "encrypted_content": "OPAQUE2"},
        message_item("one", "two", phase="commentary"),
        {
            "type": "message",
            "id": "msg_2",
            "role": "assistant",
            "status": "completed",
            "content": [{"type": "refusal", "refusal": "no"}],
        },
        {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "f", "arguments": '{"a":1}'},
    ]
    items[3]["content"][1]["annotations"] = [{"type": "url_citation", "url": "https://example.org"}]
    events = [
        {"type": "response.output_item.done", "output_index": index, "item": item}
        for index, item in enumerate(items)
    ]
    end = {"type": "response.completed", "response": {"id": "r", "status": "completed", "output": items}}
    with WireServer(Reply(responses(*events, end)), Reply(responses())) as server:
        model = model_at(server, "openai-responses", reasoning=True)
        message = final(await run(RESPONSES, model))
        context = Context(messages=[UserMessage(content="hello"), message])
        await run(RESPONSES, model, context)
        sent = server.requests[1].json()["input"]
    assert sent == [{"role": "user", "content": "hello"}, *items]
