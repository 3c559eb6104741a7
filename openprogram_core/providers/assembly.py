"""Turns the pieces a wire API sends into events that obey the protocol.

What every adapter needs and none should write again: opening and closing blocks, joining deltas, deciding
whether a tool call may be run, inventing ids deterministically, pricing the usage, ending truthfully.
"""

from __future__ import annotations

import json
import time
from collections.abc import Hashable
from typing import Any

from openprogram_core.errors import ProviderError
from openprogram_core.providers.events import (
    AssistantMessageEvent,
    DoneEvent,
    ErrorEvent,
    OpaqueEvent,
    StartEvent,
    TextDeltaEvent,
    TextEndEvent,
    TextStartEvent,
    ThinkingDeltaEvent,
    ThinkingEndEvent,
    ThinkingStartEvent,
    ToolCallDeltaEvent,
    ToolCallEndEvent,
    ToolCallStartEvent,
)
from openprogram_core.providers.messages import (
    AssistantContent,
    AssistantMessage,
    Context,
    Cost,
    ErrorDetails,
    InvalidToolCall,
    Model,
    OpaqueContent,
    StopReason,
    TextContent,
    ThinkingContent,
    ToolCall,
    Usage,
)


def now_ms() -> int:
    """Milliseconds since 1970, the unit of every ``timestamp``."""
    return time.time_ns() // 1_000_000


def price(model: Model, usage: Usage) -> Usage:
    """Return ``usage`` with its cost at the model's prices; ``total_tokens`` is filled in when it is 0."""
    million = 1_000_000
    parts = {
        "input": usage.input * model.cost.input / million,
        "output": usage.output * model.cost.output / million,
        "cache_read": usage.cache_read * model.cost.cache_read / million,
        "cache_write": usage.cache_write * model.cost.cache_write / million,
    }
    total = usage.total_tokens or usage.input + usage.output + usage.cache_read + usage.cache_write
    cost = Cost(**parts, total=sum(parts.values()))
    return usage.model_copy(update={"cost": cost, "total_tokens": total})


def parse_arguments(text: str) -> dict[str, Any] | None:
    """Return a tool call's arguments, ``{}`` for no text at all, or None when they are no JSON object."""
    if not text.strip():
        return {}
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _tool_call_ids(context: Context) -> frozenset[str]:
    return frozenset(
        block.id
        for message in context.messages
        if isinstance(message, AssistantMessage)
        for block in message.content
        if isinstance(block, ToolCall | InvalidToolCall)
    )


def _string(value: object) -> str | None:
    """A service's id or word as a string: some send numbers."""
    return value if value is None or isinstance(value, str) else str(value)


def _require_text(piece: object) -> None:
    # Before anything is changed: a failure must leave what was said so far whole.
    if not isinstance(piece, str):
        raise TypeError(f"a piece of the stream is {type(piece).__name__}, not text")


class _Block:
    __slots__ = ("citations", "content_index", "id", "kind", "name", "pieces", "redacted", "signature")

    def __init__(self, kind: str, content_index: int) -> None:
        self.kind = kind
        self.content_index = content_index
        self.pieces: list[str] = []
        self.signature: str | None = None
        self.citations: list[dict[str, Any]] = []
        self.redacted = False
        self.id = ""
        self.name = ""


class StreamAssembler:
    """Builds the events of one message. Every method returns the events to yield, in order.

    A block is named by a ``key`` of the adapter's choice (the wire's own index or item id). Give text,
    thinking and arguments as they come; a block opens with its first piece. Methods may be called in any
    order the wire finds good: interleaved blocks, deltas after another block began, ends without deltas.
    Empty deltas open a block but make no event. ``timestamp`` is the message's, in milliseconds; now by
    default. ``context`` is the conversation so far: an invented id is none of those in it.
    """

    def __init__(self, model: Model, *, timestamp: int | None = None, context: Context | None = None) -> None:
        self._model = model
        self._blocks: dict[Hashable, _Block] = {}
        self._content: dict[int, AssistantContent] = {}
        self._next_index = 0
        self._started = False
        self._finished = False
        self._ids: set[str] = set()
        self._earlier_ids = _tool_call_ids(context) if context is not None else frozenset()
        self.usage = Usage()
        self.response_id: str | None = None
        self.service_stop_reason: str | None = None
        self.service_details: dict[str, Any] = {}
        self._timestamp = now_ms() if timestamp is None else timestamp

    @property
    def started(self) -> bool:
        """Whether ``start`` was made."""
        return self._started

    @property
    def finished(self) -> bool:
        """Whether ``done`` or ``error`` was made."""
        return self._finished

    def has_tool_calls(self) -> bool:
        """Whether the message has a tool call, runnable or not, open or ended."""
        return any(block.kind == "toolcall" for block in self._blocks.values()) or any(
            isinstance(content, ToolCall | InvalidToolCall) for content in self._content.values()
        )

    def start(self) -> list[AssistantMessageEvent]:
        """Make the ``start`` event, once; later calls give nothing."""
        if self._started:
            return []
        self._started = True
        return [StartEvent(message=self._message([], "stop"))]

    def text(self, key: Hashable, delta: str) -> list[AssistantMessageEvent]:
        """Add a piece of text. Raises TypeError when it is no string, as `thinking` and `tool_call` do."""
        _require_text(delta)
        events, block = self._open(key, "text")
        if delta:
            block.pieces.append(delta)
            events.append(TextDeltaEvent(content_index=block.content_index, delta=delta))
        return events

    def thinking(self, key: Hashable, delta: str, *, redacted: bool = False) -> list[AssistantMessageEvent]:
        """Add a piece of thinking; ``redacted`` marks a block whose text the service hides."""
        _require_text(delta)
        events, block = self._open(key, "thinking")
        block.redacted = block.redacted or redacted
        if delta:
            block.pieces.append(delta)
            events.append(ThinkingDeltaEvent(content_index=block.content_index, delta=delta))
        return events

    def tool_call(
        self, key: Hashable, delta: str, *, id: str | None = None, name: str | None = None
    ) -> list[AssistantMessageEvent]:
        """Add a piece of a tool call's arguments.

        ``id`` and ``name`` count the first time they are not empty, so a service may repeat them. A missing
        or repeated id becomes ``call_N`` with N the call's place in the message, or the next free number: the
        same on every run. The start event waits until the name is known.
        """
        _require_text(delta)
        events = self.start() + self._end_other(key, "toolcall")
        block = self._blocks.get(key)
        if block is None:
            block = _Block("toolcall", -1)
            self._blocks[key] = block
        block.id = block.id or _string(id) or ""
        block.name = block.name or _string(name) or ""
        if delta:
            block.pieces.append(delta)
        if block.content_index >= 0:
            if delta:
                events.append(ToolCallDeltaEvent(content_index=block.content_index, delta=delta))
        elif block.name:
            events += self._announce(block)
        return events

    def _announce(self, block: _Block) -> list[AssistantMessageEvent]:
        block.content_index = self._take_index()
        if not block.id or block.id in self._ids:
            number = block.content_index
            while f"call_{number}" in self._ids or f"call_{number}" in self._earlier_ids:
                number += 1
            block.id = f"call_{number}"
        self._ids.add(block.id)
        events: list[AssistantMessageEvent] = [
            ToolCallStartEvent(content_index=block.content_index, id=block.id, name=block.name)
        ]
        if block.pieces:
            events.append(ToolCallDeltaEvent(content_index=block.content_index, delta="".join(block.pieces)))
        return events

    def settle(self, key: Hashable, whole: str) -> list[AssistantMessageEvent]:
        """Hold an open block against the service's own account of the whole of it.

        What is still missing becomes a delta. Where a tool call's pieces say something else, the whole counts
        when the call ends; text that was handed out cannot be taken back, so there the pieces stay.
        """
        block = self._blocks.get(key)
        if block is None:
            return []
        _require_text(whole)
        said = "".join(block.pieces)
        if whole.startswith(said):
            if block.kind == "toolcall":
                return self.tool_call(key, whole[len(said) :])
            add = self.thinking if block.kind == "thinking" else self.text
            return add(key, whole[len(said) :])
        if block.kind == "toolcall" and whole:
            block.pieces[:] = [whole]
        return []

    def sign(self, key: Hashable, signature: str, *, append: bool = False) -> None:
        """Set the signature of an open block, or lengthen it."""
        block = self._blocks.get(key)
        if block is not None:
            block.signature = (block.signature or "") + signature if append else signature

    def cite(self, key: Hashable, citation: dict[str, Any]) -> None:
        """Add a citation to an open text block. Raises TypeError when it is no object."""
        if not isinstance(citation, dict):
            raise TypeError(f"a citation is {type(citation).__name__}, not an object")
        block = self._blocks.get(key)
        if block is not None:
            block.citations.append(citation)

    def is_cited(self, key: Hashable) -> bool:
        """Whether an open text block has a citation."""
        block = self._blocks.get(key)
        return block is not None and bool(block.citations)

    def text_of(self, key: Hashable) -> str:
        """The joined pieces of an open block, empty when there is none."""
        block = self._blocks.get(key)
        return "".join(block.pieces) if block is not None else ""

    def opaque(self, kind: str, data: object) -> list[AssistantMessageEvent]:
        """Add a whole block of a kind that has no type here."""
        content = OpaqueContent(kind=kind, data=data)
        events = self.start()
        content_index = self._take_index()
        self._content[content_index] = content
        events.append(OpaqueEvent(content_index=content_index, content=content))
        return events

    def end(self, key: Hashable, *, incomplete: bool = False) -> list[AssistantMessageEvent]:
        """End a block; unknown keys give nothing. ``incomplete`` marks a tool call that was cut."""
        block = self._blocks.pop(key, None)
        if block is None:
            return []
        events: list[AssistantMessageEvent] = []
        whole = "".join(block.pieces)
        if block.kind == "toolcall":
            if block.content_index < 0:
                events += self._announce(block)
            call = self._finished_call(block, whole, incomplete)
            self._content[block.content_index] = call
            events.append(ToolCallEndEvent(content_index=block.content_index, tool_call=call))
        elif block.kind == "thinking":
            thinking = ThinkingContent(thinking=whole, signature=block.signature, redacted=block.redacted)
            self._content[block.content_index] = thinking
            events.append(ThinkingEndEvent(content_index=block.content_index, content=thinking))
        else:
            text = TextContent(text=whole, signature=block.signature, citations=block.citations or None)
            self._content[block.content_index] = text
            events.append(TextEndEvent(content_index=block.content_index, content=text))
        return events

    def _finished_call(self, block: _Block, text: str, incomplete: bool) -> ToolCall | InvalidToolCall:
        arguments = parse_arguments(text)
        if incomplete or arguments is None or not block.name:
            return InvalidToolCall(
                id=block.id,
                name=block.name,
                arguments_text=text,
                reason="incomplete" if incomplete else "invalid",
                signature=block.signature,
            )
        return ToolCall(id=block.id, name=block.name, arguments=arguments, signature=block.signature)

    def _end_all(self, *, incomplete: bool) -> list[AssistantMessageEvent]:
        events: list[AssistantMessageEvent] = []
        for key in list(self._blocks):
            events += self.end(key, incomplete=incomplete)
        return events

    def done(
        self, reason: StopReason, *, service_stop_reason: str | None = None
    ) -> list[AssistantMessageEvent]:
        """End the message well: what is open ends, then ``done``.

        With reason ``length`` an open tool call whose arguments do not parse was cut and says so.
        """
        self.service_stop_reason = service_stop_reason or self.service_stop_reason
        if reason not in ("stop", "length", "toolUse"):
            raise ValueError(f"done cannot have the reason {reason!r}; use fail()")
        events = self.start()
        for key, block in list(self._blocks.items()):
            cut = reason == "length" and (not block.pieces or parse_arguments("".join(block.pieces)) is None)
            events += self.end(key, incomplete=cut and block.kind == "toolcall")
        self._finished = True
        events.append(DoneEvent(reason=reason, message=self._final(reason)))
        return events

    def fail(
        self, error: ProviderError, *, aborted: bool = False, service_stop_reason: str | None = None
    ) -> list[AssistantMessageEvent]:
        """End the message with an ``error`` event that carries the facts of ``error``.

        Open tool calls end as incomplete: after a failure nothing may be run by mistake.
        """
        self.service_stop_reason = service_stop_reason or self.service_stop_reason
        events = self.start()
        events += self._end_all(incomplete=True)
        self._finished = True
        reason: StopReason = "aborted" if aborted else "error"
        details = ErrorDetails(kind=error.kind, retryable=error.retryable, retry_after_s=error.retry_after_s)
        message = self._final(reason).model_copy(
            update={"error_message": error.message, "error_details": details}
        )
        events.append(ErrorEvent(reason="aborted" if aborted else "error", error=message))
        return events

    def _final(self, reason: StopReason) -> AssistantMessage:
        self.usage = price(self._model, self.usage)
        return self._message([self._content[index] for index in sorted(self._content)], reason)

    def _message(self, content: list[AssistantContent], reason: StopReason) -> AssistantMessage:
        return AssistantMessage(
            content=content,
            api=self._model.api,
            provider=self._model.provider,
            model=self._model.id,
            usage=self.usage,
            stop_reason=reason,
            service_stop_reason=_string(self.service_stop_reason),
            response_id=_string(self.response_id),
            service_details=self.service_details or None,
            timestamp=self._timestamp,
        )

    def _open(self, key: Hashable, kind: str) -> tuple[list[AssistantMessageEvent], _Block]:
        events = self.start() + self._end_other(key, kind)
        block = self._blocks.get(key)
        if block is None:
            block = _Block(kind, self._take_index())
            self._blocks[key] = block
            opened = TextStartEvent if kind == "text" else ThinkingStartEvent
            events.append(opened(content_index=block.content_index))
        return events, block

    def _end_other(self, key: Hashable, kind: str) -> list[AssistantMessageEvent]:
        # A service that uses one key for two kinds of content means two blocks.
        block = self._blocks.get(key)
        return self.end(key) if block is not None and block.kind != kind else []

    def _take_index(self) -> int:
        index, self._next_index = self._next_index, self._next_index + 1
        return index
