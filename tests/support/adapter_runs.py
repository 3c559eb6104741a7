"""Runs a provider against a scripted server and looks at what came out."""

from __future__ import annotations

from collections.abc import Iterable
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


async def run(
    provider: ApiProvider,
    model: Model,
    context: Context = HELLO,
    options: StreamOptions | None = None,
) -> list[AssistantMessageEvent]:
    """Return the events of one call; they keep the protocol, or this raises AssertionError."""
    async with aclosing(provider.stream(model, context, options)) as stream:
        events = [event async for event in stream]
    violations = check_event_protocol(events)
    assert violations == [], violations
    return events


def final(events: Iterable[AssistantMessageEvent]) -> AssistantMessage:
    """Return the message of the last event."""
    last = list(events)[-1]
    assert isinstance(last, DoneEvent | ErrorEvent), last
    return last.message if isinstance(last, DoneEvent) else last.error


def comparable(events: Iterable[AssistantMessageEvent]) -> list[dict[str, Any]]:
    """Return the events as JSON values without the time, which differs from run to run."""
    dumped = [event.model_dump(mode="json") for event in events]
    for event in dumped:
        for message in (event.get("message"), event.get("error")):
            if message:
                message["timestamp"] = 0
    return dumped


def text_of(message: AssistantMessage) -> str:
    """Return the joined text."""
    return "".join(block.text for block in message.content if isinstance(block, TextContent))


def thinking_of(message: AssistantMessage) -> str:
    """Return the joined thinking."""
    return "".join(block.thinking for block in message.content if isinstance(block, ThinkingContent))


def calls_of(message: AssistantMessage) -> list[ToolCall]:
    """Return the calls that may be run."""
    return [block for block in message.content if isinstance(block, ToolCall)]


def invalid_calls_of(message: AssistantMessage) -> list[InvalidToolCall]:
    """Return the calls that may not be run."""
    return [block for block in message.content if isinstance(block, InvalidToolCall)]
