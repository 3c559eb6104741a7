"""The events of one streamed assistant message.

``start``, then per content block its start, deltas and end, then exactly one of ``done`` and ``error``.
Blocks may overlap; ``content_index`` ties a block's events together and is its place in the message. The
ends carry the authoritative content. No event carries the message so far: that would make a stream cost
the square of its length. `MessageBuilder` rebuilds it for whoever wants it.
"""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from pydantic import ConfigDict, Field, TypeAdapter

from openprogram_core.providers.messages import (
    AssistantMessage,
    InvalidToolCall,
    OpaqueContent,
    TextContent,
    ThinkingContent,
    ToolCall,
    WireModel,
)


class StartEvent(WireModel):
    """The stream began. ``message`` has everything known so far and no content."""

    type: Literal["start"] = "start"
    message: AssistantMessage


class TextStartEvent(WireModel):
    """A text block begins."""

    type: Literal["text_start"] = "text_start"
    content_index: int


class TextDeltaEvent(WireModel):
    """A piece of a text block."""

    type: Literal["text_delta"] = "text_delta"
    content_index: int
    delta: str


class TextEndEvent(WireModel):
    """A text block is complete; ``content`` is the whole of it."""

    type: Literal["text_end"] = "text_end"
    content_index: int
    content: TextContent


class ThinkingStartEvent(WireModel):
    """A thinking block begins."""

    type: Literal["thinking_start"] = "thinking_start"
    content_index: int


class ThinkingDeltaEvent(WireModel):
    """A piece of a thinking block."""

    type: Literal["thinking_delta"] = "thinking_delta"
    content_index: int
    delta: str


class ThinkingEndEvent(WireModel):
    """A thinking block is complete; ``content`` is the whole of it."""

    type: Literal["thinking_end"] = "thinking_end"
    content_index: int
    content: ThinkingContent


class ToolCallStartEvent(WireModel):
    """A tool call begins."""

    type: Literal["toolcall_start"] = "toolcall_start"
    content_index: int
    id: str
    name: str


class ToolCallDeltaEvent(WireModel):
    """A piece of the JSON text of a tool call's arguments."""

    type: Literal["toolcall_delta"] = "toolcall_delta"
    content_index: int
    delta: str


class ToolCallEndEvent(WireModel):
    """A tool call ended: a `ToolCall` when it may be run, an `InvalidToolCall` when not."""

    type: Literal["toolcall_end"] = "toolcall_end"
    content_index: int
    tool_call: Annotated[ToolCall | InvalidToolCall, Field(discriminator="type")]


class OpaqueEvent(WireModel):
    """A whole block of a kind that has no type here; it has no start and no deltas."""

    type: Literal["opaque"] = "opaque"
    content_index: int
    content: OpaqueContent


class DoneEvent(WireModel):
    """The stream ended well. ``message`` is the whole message."""

    type: Literal["done"] = "done"
    reason: Literal["stop", "length", "toolUse"]
    message: AssistantMessage


class ErrorEvent(WireModel):
    """The stream failed after it had begun. ``error`` is the message as far as it came, with the reason."""

    type: Literal["error"] = "error"
    reason: Literal["error", "aborted"]
    error: AssistantMessage


AssistantMessageEvent: TypeAlias = Annotated[
    StartEvent
    | TextStartEvent
    | TextDeltaEvent
    | TextEndEvent
    | ThinkingStartEvent
    | ThinkingDeltaEvent
    | ThinkingEndEvent
    | ToolCallStartEvent
    | ToolCallDeltaEvent
    | ToolCallEndEvent
    | OpaqueEvent
    | DoneEvent
    | ErrorEvent,
    Field(discriminator="type"),
]

EVENT_ADAPTER: TypeAdapter[AssistantMessageEvent] = TypeAdapter(
    AssistantMessageEvent, config=ConfigDict(defer_build=True)
)
"""Validates one event from its JSON form; ``type`` selects the class."""
