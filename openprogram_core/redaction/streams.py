"""Redaction of one stream, event by event, although each row is written before the next piece is known.

Every live event is one row; what was held back comes out, redacted, in one row of the recorder's own before
the block's end. The end carries the text its rows join to, and the message the content of its ends, so a
recorded stream obeys the protocol like the live one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from openprogram_core._json import dump_model
from openprogram_core.providers.assembly import parse_arguments
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
    InvalidToolCall,
    TextContent,
    ThinkingContent,
    ToolCall,
)
from openprogram_core.redaction.blocks import BlockRedactor, StreamRules
from openprogram_core.redaction.changes import apply_change
from openprogram_core.redaction.finder import Finder
from openprogram_core.redaction.places import ASSISTANT, CONTENT, EVENT, OPAQUE, Place

Payload: TypeAlias = AssistantMessageEvent | dict[str, Any]
_Delta: TypeAlias = TextDeltaEvent | ThinkingDeltaEvent | ToolCallDeltaEvent
_End: TypeAlias = TextEndEvent | ThinkingEndEvent | ToolCallEndEvent
_Start: TypeAlias = TextStartEvent | ThinkingStartEvent | ToolCallStartEvent

_DELTA_TYPES: dict[type, type[_Delta]] = {
    TextStartEvent: TextDeltaEvent,
    ThinkingStartEvent: ThinkingDeltaEvent,
    ToolCallStartEvent: ToolCallDeltaEvent,
}
_FIELDS: dict[type[_Delta], str] = {
    TextDeltaEvent: "text",
    ThinkingDeltaEvent: "thinking",
    ToolCallDeltaEvent: "arguments",
}
# What the rows of a block join to.
_WRITTEN = ("text", "thinking", "arguments", "arguments_text")


class StreamRedactor:
    """Redacts the events of one call. For one consumer."""

    def __init__(self, rules: StreamRules) -> None:
        self._rules = rules
        self._blocks: dict[int, tuple[type[_Delta], BlockRedactor]] = {}
        self._ended: dict[int, tuple[AssistantContent, AssistantContent | dict[str, Any]]] = {}
        self._handlers: dict[type, Callable[[Any], Sequence[Payload]]] = {
            TextDeltaEvent: self._delta,
            ThinkingDeltaEvent: self._delta,
            ToolCallDeltaEvent: self._delta,
            TextStartEvent: self._start,
            ThinkingStartEvent: self._start,
            ToolCallStartEvent: self._start,
            TextEndEvent: self._end,
            ThinkingEndEvent: self._end,
            ToolCallEndEvent: self._end,
            OpaqueEvent: self._opaque,
            StartEvent: self._whole,
            DoneEvent: self._done,
            ErrorEvent: self._error,
        }

    def event(self, event: AssistantMessageEvent) -> Sequence[Payload]:
        """Return the payloads to write for one event; the last one is the event's own."""
        handler = self._handlers.get(type(event))
        if handler is None:
            handler = next(
                (made for kind, made in self._handlers.items() if isinstance(event, kind)), self._whole
            )
            self._handlers[type(event)] = handler
        return handler(event)

    def finish(self) -> Sequence[Payload]:
        """Return what is still held; a secret that the stream's end cut off is removed as far as it came."""
        rows: list[Payload] = []
        for content_index in sorted(self._blocks):
            rows += self._write_rest(content_index, cut=True)
        self._blocks.clear()
        return rows

    def _block(self, content_index: int, delta_type: type[_Delta]) -> BlockRedactor:
        block = BlockRedactor(self._rules, json=issubclass(delta_type, ToolCallDeltaEvent))
        self._blocks[content_index] = (delta_type, block)
        return block

    def _start(self, event: _Start) -> Sequence[Payload]:
        delta_type = next(made for kind, made in _DELTA_TYPES.items() if isinstance(event, kind))
        self._block(event.content_index, delta_type)
        if self._rules.known is None or not isinstance(event, ToolCallStartEvent):
            return (event,)
        return self._whole(event)

    def _delta(self, event: _Delta) -> Sequence[Payload]:
        opened = self._blocks.get(event.content_index)
        block = self._block(event.content_index, type(event)) if opened is None else opened[1]
        delta = event.delta
        written = block.add(delta)
        if written == delta:
            return (event,)
        return (event.model_copy(update={"delta": written}),)

    def _write_rest(self, content_index: int, *, cut: bool) -> list[Payload]:
        delta_type, block = self._blocks[content_index]
        rest = block.finish(f"content[{content_index}].{_FIELDS.get(delta_type, 'text')}", cut=cut)
        return [delta_type(content_index=content_index, delta=rest)] if rest else []

    def _end(self, event: _End) -> Sequence[Payload]:
        index = event.content_index
        original = event.tool_call if isinstance(event, ToolCallEndEvent) else event.content
        rows: list[Payload] = []
        content: AssistantContent | dict[str, Any] | None = None
        if index in self._blocks:
            rows += self._write_rest(index, cut=False)
            _, block = self._blocks.pop(index)
            content = _as_written(original, block.raw, block.written)
            if isinstance(content, TextContent) and content.citations:
                content = self._with_citations(content, index)
        if content is None:
            content = self._content(original, index)
        elif not isinstance(content, dict):
            content = self._without_echo(content, index)
        self._ended[index] = (original, content)
        name = "tool_call" if isinstance(event, ToolCallEndEvent) else "content"
        if content is original:
            rows.append(event)
        elif isinstance(content, dict):
            rows.append({"type": event.type, "content_index": index, name: content})
        else:
            rows.append(event.model_copy(update={name: content}))
        return rows

    def _with_citations(self, content: TextContent, content_index: int) -> TextContent:
        path = f"content[{content_index}].citations"
        change = self._finder().find(content.citations, OPAQUE, path)
        if change is None:
            return content
        return content.model_copy(update={"citations": apply_change(content.citations, change)})

    def _without_echo(
        self, content: AssistantContent, content_index: int
    ) -> AssistantContent | dict[str, Any]:
        """Remove known values from what stands beside the written text: ids, names, signatures."""
        known = self._rules.known
        if known is None or not known.stands_in(dump_model(content)):
            return content
        tree = content.model_dump(mode="json")
        change = self._finder().find(tree, CONTENT, f"content[{content_index}]")
        if change is None:
            return content
        for name in _WRITTEN:
            change.below.pop(name, None)
        redacted: dict[str, Any] = apply_change(tree, change)
        return redacted

    def _opaque(self, event: OpaqueEvent) -> Sequence[Payload]:
        content = self._content(event.content, event.content_index)
        self._ended[event.content_index] = (event.content, content)
        if content is event.content:
            return (event,)
        return ({"type": event.type, "content_index": event.content_index, "content": content},)

    def _whole(self, event: AssistantMessageEvent) -> Sequence[Payload]:
        return (self._redacted(event, EVENT, ""),)

    def _content(self, content: AssistantContent, content_index: int) -> AssistantContent | dict[str, Any]:
        redacted: AssistantContent | dict[str, Any]
        redacted = self._redacted(content, CONTENT, f"content[{content_index}]")
        return redacted

    def _redacted(self, model: Any, place: Place, path: str) -> Any:
        """Return the model itself when it is clean, else its redacted dump."""
        rules = self._rules
        data = dump_model(model)
        holds_known = rules.known is not None and rules.known.stands_in(data)
        if rules.hook is None and not holds_known and rules.scanner.is_clean(data):
            return model
        tree = model.model_dump(mode="json")
        change = self._finder().find(tree, place, path)
        return model if change is None else apply_change(tree, change)

    def _done(self, event: DoneEvent) -> Sequence[Payload]:
        return (self._last(event, event.message, "message"),)

    def _error(self, event: ErrorEvent) -> Sequence[Payload]:
        return (self._last(event, event.error, "error"),)

    def _last(self, event: DoneEvent | ErrorEvent, message: AssistantMessage, name: str) -> Payload:
        ended = [self._ended[index] for index in sorted(self._ended)]
        contents: list[AssistantContent | dict[str, Any]] = []
        for index, content in enumerate(message.content):
            if index < len(ended) and (ended[index][0] is content or ended[index][0] == content):
                original, redacted = ended[index]
                contents.append(content if redacted is original else redacted)
            else:
                contents.append(self._content(content, index))
        changed = any(new is not old for new, old in zip(contents, message.content, strict=True))
        bare = message.model_copy(update={"content": []})
        rest = self._redacted(bare, ASSISTANT, name)
        if not changed and rest is bare:
            return event
        if rest is bare:
            rest = bare.model_dump(mode="json")
        rest["content"] = [
            content if isinstance(content, dict) else content.model_dump(mode="json") for content in contents
        ]
        return {"type": event.type, "reason": event.reason, name: rest}

    def _finder(self) -> Finder:
        return Finder(self._rules.scanner, self._rules.known, self._rules.hook)


def _text_of(content: AssistantContent) -> str | None:
    if isinstance(content, TextContent):
        return content.text
    if isinstance(content, ThinkingContent):
        return content.thinking
    return content.arguments_text if isinstance(content, InvalidToolCall) else None


def _as_written(content: AssistantContent, raw: str, written: str) -> AssistantContent | None:
    """Return the content with the text its rows join to, or None when it never was the text of its deltas."""
    if isinstance(content, ToolCall):
        if not raw or parse_arguments(raw) != content.arguments:
            return None
        if raw == written:
            return content
        arguments = parse_arguments(written)
        return None if arguments is None else content.model_copy(update={"arguments": arguments})
    if _text_of(content) != raw:
        return None
    if raw == written:
        return content
    if isinstance(content, TextContent):
        return content.model_copy(update={"text": written})
    if isinstance(content, ThinkingContent):
        return content.model_copy(update={"thinking": written})
    return content.model_copy(update={"arguments_text": written})
