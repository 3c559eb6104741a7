"""A small agent run, and recordings written row by row, as any recorder would write them."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from openprogram_core.providers import (
    AssistantMessage,
    AssistantMessageEvent,
    Context,
    DoneEvent,
    Message,
    Model,
    SimpleStreamOptions,
    StartEvent,
    StreamOptions,
    TextContent,
    TextDeltaEvent,
    TextEndEvent,
    TextStartEvent,
    Tool,
    ToolCall,
    ToolCallDeltaEvent,
    ToolCallEndEvent,
    ToolCallStartEvent,
    ToolResultMessage,
    UserMessage,
)
from openprogram_core.redaction import PLACEHOLDER

MODEL = Model(id="small-1", api="test-chat", provider="test")
TOOL = Tool(
    name="weather",
    description="Weather of a city",
    parameters={
        "type": "object",
        "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
        "required": ["city", "days"],
    },
)


@dataclass
class Call:
    """One call as it is to be recorded."""

    context: Context
    events: Sequence[AssistantMessageEvent]
    model: Model = field(default_factory=lambda: MODEL)
    options: StreamOptions | None = field(default_factory=StreamOptions)
    lane: str | None = None
    outcome: str | None = None
    error: dict[str, Any] | None = None


def ask(text: str, *, system: str | None = None) -> Context:
    """A context with one question."""
    return Context(system_prompt=system, messages=[UserMessage(content=text)])


def message(content: list[Any], reason: Any = "stop") -> AssistantMessage:
    """An assistant message of the test model."""
    return AssistantMessage(
        api=MODEL.api, provider=MODEL.provider, model=MODEL.id, content=content, stop_reason=reason
    )


def say(text: str, pieces: int = 2) -> list[AssistantMessageEvent]:
    """The events of an answer."""
    size = max(-(-len(text) // pieces), 1)
    deltas = [text[start : start + size] for start in range(0, len(text), size)]
    content = TextContent(text=text)
    return [
        StartEvent(message=message([])),
        TextStartEvent(content_index=0),
        *(TextDeltaEvent(content_index=0, delta=delta) for delta in deltas),
        TextEndEvent(content_index=0, content=content),
        DoneEvent(reason="stop", message=message([content])),
    ]


def use_tools(*calls: ToolCall) -> list[AssistantMessageEvent]:
    """The events of an answer that calls tools."""
    events: list[AssistantMessageEvent] = [StartEvent(message=message([]))]
    for index, call in enumerate(calls):
        events += [
            ToolCallStartEvent(content_index=index, id=call.id, name=call.name),
            ToolCallDeltaEvent(content_index=index, delta=json.dumps(call.arguments)),
            ToolCallEndEvent(content_index=index, tool_call=call),
        ]
    return [*events, DoneEvent(reason="toolUse", message=message(list(calls), "toolUse"))]


def without_secrets(value: Any) -> Any:
    """What a recorder does to the one secret field these tests have."""
    if isinstance(value, dict):
        return {
            key: PLACEHOLDER if key in ("api_key", "authorization") else without_secrets(inner)
            for key, inner in value.items()
        }
    return [without_secrets(inner) for inner in value] if isinstance(value, list) else value


def request_rows(call_index: int, call: Call) -> list[dict[str, Any]]:
    """The rows of one call, in order."""
    request: dict[str, Any] = {"type": "request", "call_index": call_index}
    if call.lane is not None:
        request["lane"] = call.lane
    options = call.options.model_dump(mode="json") if call.options is not None else {}
    request |= without_secrets(
        {
            "model": call.model.model_dump(mode="json"),
            "context": call.context.model_dump(mode="json"),
            "options": options,
        }
    )
    end: dict[str, Any] = {"type": "call_end", "call_index": call_index, "event_count": len(call.events)}
    if call.outcome is not None:
        end["outcome"] = call.outcome
    if call.error is not None:
        end["error"] = call.error
    events = [
        {
            "type": "event",
            "call_index": call_index,
            "event_index": index,
            "event": event.model_dump(mode="json"),
        }
        for index, event in enumerate(call.events)
    ]
    return [request, *events, end]


def write_recording(path: Path, calls: Iterable[Call]) -> Path:
    """Write a recording, one call after the other."""
    rows: list[dict[str, Any]] = [{"type": "header", "format_version": 1}]
    for call_index, call in enumerate(calls):
        rows += request_rows(call_index, call)
    path.write_text(
        "".join(json.dumps(row, ensure_ascii=False, separators=(",", ":")) + "\n" for row in rows),
        encoding="utf-8",
    )
    return path


def agent_run() -> list[Call]:
    """A recorded run of four calls: a question, two parallel tool calls, one more, the answer."""
    options = SimpleStreamOptions(temperature=0.0, max_tokens=500, headers={"x-team": "blue"})
    first = ToolCall(id="call_1", name="weather", arguments={"city": "Oslo", "days": 1})
    second = ToolCall(id="call_2", name="weather", arguments={"city": "Rome", "days": 1})
    third = ToolCall(id="call_3", name="weather", arguments={"city": "Rome", "days": 7})
    messages: list[Message] = [UserMessage(content="Where is it warmer?", timestamp=1)]
    calls: list[Call] = []

    def turn(events: list[AssistantMessageEvent], *answers: Message) -> None:
        system = "You are a helpful assistant. Use the tools. " + "Be brief and exact. " * 1000
        context = Context(system_prompt=system, messages=copy.deepcopy(messages), tools=[TOOL])
        calls.append(Call(context, events, options=options))
        final = events[-1]
        assert isinstance(final, DoneEvent)
        messages.extend([final.message, *answers])

    turn(
        use_tools(first, second),
        tool_result(first, "4 degrees, rain"),
        tool_result(second, "21 degrees, sun"),
    )
    turn(use_tools(third), tool_result(third, "19 to 24 degrees"))
    turn(say("Rome is warmer."), UserMessage(content="And in winter?", timestamp=9))
    turn(say("Rome too."))
    return calls


def tool_result(call: ToolCall, text: str) -> ToolResultMessage:
    """A tool's answer."""
    return ToolResultMessage(
        tool_call_id=call.id, tool_name=call.name, content=[TextContent(text=text)], timestamp=5
    )
