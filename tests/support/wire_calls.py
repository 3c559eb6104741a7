"""Calls through a wire API's provider, and what tests look at in their events."""

from __future__ import annotations

import random
from collections.abc import Sequence
from contextlib import aclosing
from typing import Any

from openprogram_core.providers import (
    ApiProvider,
    AssistantMessage,
    AssistantMessageEvent,
    Context,
    DoneEvent,
    ErrorEvent,
    InvalidToolCall,
    Model,
    StreamOptions,
    TextContent,
    ThinkingContent,
    ToolCall,
    UserMessage,
    check_event_protocol,
)

HELLO = Context(messages=[UserMessage(content="hello")])


async def collect(
    provider: ApiProvider, model: Model, context: Context = HELLO, options: StreamOptions | None = None
) -> list[AssistantMessageEvent]:
    """Return all events of one call, which must obey the protocol."""
    async with aclosing(provider.stream(model, context, options)) as stream:
        events = [event async for event in stream]
    assert check_event_protocol(events) == []
    return events


def final(events: Sequence[AssistantMessageEvent]) -> AssistantMessage:
    """Return the message a stream ended with, well or badly."""
    last = events[-1]
    assert isinstance(last, DoneEvent | ErrorEvent)
    return last.message if isinstance(last, DoneEvent) else last.error


def timeless(events: Sequence[AssistantMessageEvent]) -> list[dict[str, Any]]:
    """Return events as JSON values without the time, which differs from call to call."""
    return [without_time(event.model_dump(mode="json")) for event in events]


def without_time(value: Any) -> Any:
    """Return a JSON value without any ``timestamp``."""
    if isinstance(value, dict):
        return {name: without_time(item) for name, item in value.items() if name != "timestamp"}
    return [without_time(item) for item in value] if isinstance(value, list) else value


def text_of(message: AssistantMessage) -> str:
    """Return a message's text, its blocks joined."""
    return "".join(block.text for block in message.content if isinstance(block, TextContent))


def thinking_of(message: AssistantMessage) -> str:
    """Return a message's thinking, its blocks joined."""
    return "".join(block.thinking for block in message.content if isinstance(block, ThinkingContent))


def calls_of(message: AssistantMessage) -> list[ToolCall]:
    """Return the calls that may be run."""
    return [block for block in message.content if isinstance(block, ToolCall)]


def bad_calls_of(message: AssistantMessage) -> list[InvalidToolCall]:
    """Return the calls that must not be run."""
    return [block for block in message.content if isinstance(block, InvalidToolCall)]


def check_expectation(case: dict[str, Any], events: Sequence[AssistantMessageEvent]) -> None:
    """Assert that ``events`` are what a case of ``stream-shapes.json`` expects."""
    expected = case["expect"]
    message = final(events)
    assert text_of(message) == expected["text"]
    if expected["error"]:
        assert isinstance(events[-1], ErrorEvent)
        assert message.stop_reason == "error"
        assert message.error_details is not None
        assert message.error_details.kind == expected["kind"]
        assert message.error_message
        return
    assert thinking_of(message) == expected["thinking"]
    assert message.stop_reason == expected["stop_reason"]
    found = calls_of(message)
    wanted = expected["tool_calls"]
    assert [(call.name, call.arguments) for call in found] == [
        (one["name"], one["arguments"]) for one in wanted
    ]
    assert all(one["id"] in (None, call.id) for call, one in zip(found, wanted, strict=True))
    assert all(call.id for call in found)
    assert len({call.id for call in found}) == len(found)
    assert [call.name for call in bad_calls_of(message)] == expected.get("incomplete_tool_calls", [])
    for name, count in expected.get("usage", {}).items():
        assert getattr(message.usage, name) == count


def mangled(value: Any, chance: random.Random) -> Any:
    """Return a JSON value with some of its parts replaced or missing, as a broken service would send it."""
    if chance.random() < 0.04:
        odd: list[Any] = [None, 1, -1, 1.5, True, "x", [], {}, [None], {"type": "text"}]
        return chance.choice(odd)
    if isinstance(value, dict):
        return {name: mangled(item, chance) for name, item in value.items() if chance.random() > 0.02}
    return [mangled(item, chance) for item in value] if isinstance(value, list) else value
