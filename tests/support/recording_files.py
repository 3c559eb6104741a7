"""Small recordings made by hand, row by row, in the recorder's own spelling."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from openprogram_core._json import dump_json
from openprogram_core.providers import (
    AssistantMessage,
    AssistantMessageEvent,
    Context,
    DoneEvent,
    Model,
    StartEvent,
    TextContent,
    TextDeltaEvent,
    TextEndEvent,
    TextStartEvent,
    ToolCall,
    ToolCallEndEvent,
    ToolCallStartEvent,
    ToolResultMessage,
    Usage,
    UserMessage,
)
from openprogram_core.recordings.rows import call_end_row, event_row_head, header_row, request_row

MODEL = Model(id="made-up-1", api="made-up-api", provider="made-up")


def header(recording_id: str = "made") -> bytes:
    return header_row(
        recording_id=recording_id, created_at="2026-01-02T03:04:05Z", generator="tests", redaction={}
    )


def message(content: list[Any], reason: Any = "stop") -> AssistantMessage:
    return AssistantMessage(
        content=content,
        api=MODEL.api,
        provider=MODEL.provider,
        model=MODEL.id,
        usage=Usage(input=11, output=7, cache_read=5, total_tokens=23),
        stop_reason=reason,
    )


def text_events(text: str) -> list[AssistantMessageEvent]:
    content = TextContent(text=text)
    return [
        StartEvent(message=message([])),
        TextStartEvent(content_index=0),
        TextDeltaEvent(content_index=0, delta=text),
        TextEndEvent(content_index=0, content=content),
        DoneEvent(reason="stop", message=message([content])),
    ]


def tool_events(name: str, arguments: dict[str, Any]) -> list[AssistantMessageEvent]:
    call = ToolCall(id="call_0", name=name, arguments=arguments)
    return [
        StartEvent(message=message([])),
        ToolCallStartEvent(content_index=0, id=call.id, name=name),
        ToolCallEndEvent(content_index=0, tool_call=call),
        DoneEvent(reason="toolUse", message=message([call], "toolUse")),
    ]


def request(call_index: int, context: Context, lane: str | None = None) -> bytes:
    payload = dump_json(
        {"model": MODEL.model_dump(mode="json"), "context": context.model_dump(mode="json"), "options": {}}
    )
    return request_row(call_index, payload, at="2026-01-02T03:04:06.000Z", lane=lane)


def events(call_index: int, made: list[AssistantMessageEvent]) -> bytes:
    return b"".join(
        b'%b%d,"event":%b}\n' % (event_row_head(call_index), number, dump_json(event.model_dump(mode="json")))
        for number, event in enumerate(made)
    )


def call(call_index: int, context: Context, made: list[AssistantMessageEvent], **end: Any) -> bytes:
    """The rows of one whole call; ``end`` goes to its ``call_end``."""
    facts: dict[str, Any] = {"outcome": "complete", "duration_ms": 1500, **end}
    outcome = facts.pop("outcome")
    return (
        request(call_index, context)
        + events(call_index, made)
        + call_end_row(call_index, len(made), outcome, **facts)
    )


def conversation(text: str = "What is it like in Paris?", answer: str = "Mild.") -> bytes:
    """A recording of two calls: a tool call, and the answer after its result."""
    asked = UserMessage(content=text)
    first = tool_events("weather", {"city": "Paris"})
    end = first[-1]
    assert isinstance(end, DoneEvent)
    result = ToolResultMessage(
        tool_call_id="call_0", tool_name="weather", content=[TextContent(text="12 degrees")]
    )
    return (
        header()
        + call(0, Context(system_prompt="Be brief.", messages=[asked]), first)
        + call(1, Context(messages=[asked, end.message, result]), text_events(answer))
    )


def write(path: Path, content: bytes) -> Path:
    """Write a file with mode 0600, and the folders above it."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    path.write_bytes(content)
    path.chmod(0o600)
    return path
