"""Redaction of one stream, event by event, although each row is written before the next piece is known.

A block is written as it comes until something begins that may be a secret; from there on it is held back.
What was held comes out, redacted, in one row of the recorder's own before the block's end. So the rows of a
block always join to the content its end carries.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

from openprogram_core._json import dump_model
from openprogram_core.providers.assembly import parse_arguments
from openprogram_core.providers.events import (
    AssistantMessageEvent,
    DoneEvent,
    ErrorEvent,
    OpaqueEvent,
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
from openprogram_core.redaction.changes import apply_change
from openprogram_core.redaction.edits import PLACEHOLDER, Edit, apply_edits, merge_edits
from openprogram_core.redaction.finder import Finder, Hook
from openprogram_core.redaction.known import KNOWN_VALUE, SHORTEST, SHORTEST_PIECE, KnownValues
from openprogram_core.redaction.places import ASSISTANT, CONTENT, EVENT, OPEN
from openprogram_core.redaction.scanner import Scanner, StreamGate

Payload: TypeAlias = AssistantMessageEvent | dict[str, Any]
_Delta: TypeAlias = TextDeltaEvent | ThinkingDeltaEvent | ToolCallDeltaEvent
_End: TypeAlias = TextEndEvent | ThinkingEndEvent | ToolCallEndEvent

# A name and what may stand between it and its value fit in here.
_TAIL = 192


class _Block:
    """One open block: what came, and how much of it was written as it came."""

    __slots__ = ("alert", "delta_type", "near", "pieces", "written")

    def __init__(self, delta_type: type[_Delta], written: int | None) -> None:
        self.delta_type = delta_type
        self.pieces: list[str] = []
        self.near = b""
        """The last bytes, which the next piece may complete to a literal."""
        self.alert = 0
        """Characters still to look at closely after a literal; 0 when there was none lately."""
        self.written = written
        """Characters written before holding began; None while nothing is held."""

    @property
    def raw(self) -> str:
        return "".join(self.pieces)

    def lately(self, length: int) -> str:
        """The last ``length`` characters before the newest piece, or a little more."""
        found: list[str] = []
        for piece in reversed(self.pieces[:-1] if len(self.pieces) < 64 else self.pieces[-length - 1 : -1]):
            found.append(piece)
            length -= len(piece)
            if length <= 0:
                break
        return "".join(reversed(found))


class StreamRedactor:
    """Redacts the events of one call. For one consumer."""

    def __init__(
        self, scanner: Scanner, gate: StreamGate, known: KnownValues | None, hook: Hook | None
    ) -> None:
        self._scanner = scanner
        self._gate = gate
        self._known = known
        self._hook = hook
        self._hold_all = hook is not None or scanner.needs_whole_texts
        self._tail = max(_TAIL, gate.reach)
        self._blocks: dict[int, _Block] = {}
        self._ended: dict[int, tuple[AssistantContent, AssistantContent | dict[str, Any]]] = {}

    def event(self, event: AssistantMessageEvent) -> Sequence[Payload]:
        """Return the payloads to write for one event; the last one is the event's own."""
        if isinstance(event, _DELTA_EVENTS):
            return (self._delta(event),)
        if isinstance(event, TextEndEvent | ThinkingEndEvent | ToolCallEndEvent):
            return self._end(event)
        if isinstance(event, TextStartEvent | ThinkingStartEvent | ToolCallStartEvent):
            self._open(event.content_index, _DELTA_TYPES[type(event)])
            return (event,)
        if isinstance(event, DoneEvent):
            return (self._last(event, event.message, "message"),)
        if isinstance(event, ErrorEvent):
            return (self._last(event, event.error, "error"),)
        if isinstance(event, OpaqueEvent):
            content = self._content(event.content, event.content_index)
            self._ended[event.content_index] = (event.content, content)
            return (
                event if content is event.content else {**event.model_dump(mode="json"), "content": content},
            )
        return (self._whole(event),)

    def finish(self) -> Sequence[Payload]:
        """Return what is still held; a secret that the stream's end cut off is removed as far as it came."""
        rows: list[Payload] = []
        for content_index, block in sorted(self._blocks.items()):
            if block.written is not None:
                raw = block.raw
                edits = self._block_edits(block, raw, content_index, cut=True)
                rows += _own_row(block, content_index, apply_edits(raw, edits))
        self._blocks.clear()
        return rows

    def _open(self, content_index: int, delta_type: type[_Delta]) -> _Block:
        block = _Block(delta_type, 0 if self._hold_all else None)
        self._blocks[content_index] = block
        return block

    def _delta(self, event: _Delta) -> Payload:
        block = self._blocks.get(event.content_index)
        if block is None:
            block = self._open(event.content_index, type(event))
        delta = event.delta
        block.pieces.append(delta)
        if block.written is not None:
            return event if not delta else _with_delta(event, "")
        data = block.near + delta.encode("utf-8", "surrogatepass")
        block.near = data[-self._gate.reach :]
        if self._gate.opens(data):
            block.alert = _TAIL
        elif not block.alert:
            return event
        return self._look_closely(block, event)

    def _look_closely(self, block: _Block, event: _Delta) -> _Delta:
        delta = event.delta
        before = block.lately(self._tail)
        held_from = self._held_from(before + delta, len(before))
        if held_from is None:
            block.alert = max(0, block.alert - len(delta))
            return event
        kept = max(0, held_from - len(before))
        block.written = sum(map(len, block.pieces)) - len(delta) + kept
        return event if kept == len(delta) else _with_delta(event, delta[:kept])

    def _held_from(self, window: str, new_from: int) -> int | None:
        data = window.encode("utf-8", "surrogatepass")
        if len(data) != len(window):
            new_from = len(window[:new_from].encode("utf-8", "surrogatepass"))
        place = self._scanner.held_from(data, new_from)
        if self._known is not None:
            known = self._known.held_from(data, new_from)
            if known is not None and (place is None or known < place):
                place = known
        if place is None or len(data) == len(window):
            return place
        return len(data[:place].decode("utf-8", "ignore"))

    def _end(self, event: _End) -> Sequence[Payload]:
        block = self._blocks.pop(event.content_index, None)
        original = event.tool_call if isinstance(event, ToolCallEndEvent) else event.content
        rows: list[Payload] = []
        content: AssistantContent | dict[str, Any] | None = None
        if block is not None and block.written is not None:
            raw = block.raw
            edits = self._block_edits(block, raw, event.content_index, cut=False)
            joined = apply_edits(raw, edits)
            rows += _own_row(block, event.content_index, joined)
            content = _same_as_joined(original, raw, joined)
            if content is not None and self._has_more(content):
                content = None if isinstance(content, ToolCall) else self._rest(content, event.content_index)
        elif block is not None and _text_of(original) == block.raw and not self._has_more(original):
            content = original
        if content is None:
            content = self._content(original, event.content_index)
        self._ended[event.content_index] = (original, content)
        if content is original:
            rows.append(event)
        else:
            name = "tool_call" if isinstance(event, ToolCallEndEvent) else "content"
            rows.append(_replaced(event, name, content))
        return rows

    def _has_more(self, content: AssistantContent) -> bool:
        return isinstance(content, TextContent) and bool(content.citations)

    def _rest(self, content: AssistantContent, content_index: int) -> AssistantContent | dict[str, Any]:
        if not isinstance(content, TextContent):
            return content
        finder = Finder(self._scanner, self._known, self._hook)
        path = f"content[{content_index}].citations"
        change = finder.find(content.citations, OPEN, path)
        if change is None:
            return content
        return content.model_copy(update={"citations": apply_change(content.citations, change)})

    def _block_edits(self, block: _Block, raw: str, content_index: int, *, cut: bool) -> list[Edit]:
        path = f"content[{content_index}].{_FIELDS[block.delta_type]}"
        edits = Finder(self._scanner, self._known, self._hook).text_edits(raw, path)
        data = raw.encode("utf-8", "surrogatepass")
        if self._known is not None:
            start = self._known.cut_short_from(data, SHORTEST_PIECE if cut else SHORTEST)
            if start is not None:
                place = len(data[:start].decode("utf-8", "surrogatepass"))
                edits = merge_edits([*edits, Edit(place, len(raw), PLACEHOLDER, KNOWN_VALUE)], raw)
        if cut:
            edits = merge_edits([*edits, *self._cut_word(raw, data)], raw)
        written = block.written or 0
        clipped = [
            edit if edit.start >= written else edit._replace(start=written)
            for edit in edits
            if edit.end > written
        ]
        return clipped

    def _cut_word(self, raw: str, data: bytes) -> list[Edit]:
        """Remove the last word when a rule's literal stands in it or right before: it may be half a secret."""
        word = len(raw) - len(raw.split()[-1]) if raw and not raw[-1].isspace() else len(raw)
        place = len(raw[:word].encode("utf-8", "surrogatepass"))
        for _, start, end in self._scanner.hits(data):
            if end >= place and word < len(raw):
                begin = min(word, len(data[:start].decode("utf-8", "ignore")))
                source = self._scanner.sources[0] if self._scanner.sources else KNOWN_VALUE
                return [Edit(begin, len(raw), PLACEHOLDER, source)]
        return []

    def _content(self, content: AssistantContent, content_index: int) -> AssistantContent | dict[str, Any]:
        data = dump_model(content)
        if self._hook is None and self._scanner.is_clean(data):
            if self._known is None or not self._known.stands_in(data):
                return content
        finder = Finder(self._scanner, self._known, self._hook)
        tree = content.model_dump(mode="json")
        change = finder.find(tree, CONTENT, f"content[{content_index}]")
        if change is None:
            return content
        redacted: dict[str, Any] = apply_change(tree, change)
        return redacted

    def _last(self, event: DoneEvent | ErrorEvent, message: AssistantMessage, name: str) -> Payload:
        ended = [self._ended[index] for index in sorted(self._ended)]
        contents: list[AssistantContent | dict[str, Any]] = []
        for index, content in enumerate(message.content):
            if index < len(ended) and (ended[index][0] is content or ended[index][0] == content):
                contents.append(ended[index][1] if ended[index][1] is not ended[index][0] else content)
            else:
                contents.append(self._content(content, index))
        changed = any(new is not old for new, old in zip(contents, message.content, strict=True))
        if not changed and message.error_message is None:
            return event
        rest = message.model_copy(update={"content": []}).model_dump(mode="json")
        finder = Finder(self._scanner, self._known, self._hook)
        change = finder.find(rest, ASSISTANT, name)
        if not changed and change is None:
            return event
        rest = apply_change(rest, change)
        rest["content"] = [
            content if isinstance(content, dict) else content.model_dump(mode="json") for content in contents
        ]
        return {"type": event.type, "reason": event.reason, name: rest}

    def _whole(self, event: AssistantMessageEvent) -> Payload:
        data = dump_model(event)
        if self._hook is None and self._scanner.is_clean(data):
            if self._known is None or not self._known.stands_in(data):
                return event
        tree = event.model_dump(mode="json")
        change = Finder(self._scanner, self._known, self._hook).find(tree, EVENT, "")
        if change is None:
            return event
        redacted: dict[str, Any] = apply_change(tree, change)
        return redacted


_DELTA_TYPES: dict[type[AssistantMessageEvent], type[_Delta]] = {
    TextStartEvent: TextDeltaEvent,
    ThinkingStartEvent: ThinkingDeltaEvent,
    ToolCallStartEvent: ToolCallDeltaEvent,
}
_DELTA_EVENTS = (TextDeltaEvent, ThinkingDeltaEvent, ToolCallDeltaEvent)
_FIELDS: dict[type[_Delta], str] = {
    TextDeltaEvent: "text",
    ThinkingDeltaEvent: "thinking",
    ToolCallDeltaEvent: "arguments",
}


def _with_delta(event: _Delta, delta: str) -> _Delta:
    return type(event)(content_index=event.content_index, delta=delta)


def _own_row(block: _Block, content_index: int, joined: str) -> list[Payload]:
    rest = joined[block.written or 0 :]
    return [block.delta_type(content_index=content_index, delta=rest)] if rest else []


def _text_of(content: AssistantContent) -> str | None:
    if isinstance(content, TextContent):
        return content.text
    if isinstance(content, ThinkingContent):
        return content.thinking
    return content.arguments_text if isinstance(content, InvalidToolCall) else None


def _same_as_joined(content: AssistantContent, raw: str, joined: str) -> AssistantContent | None:
    """Return the content with the text its redacted deltas join to, or None when it never was their text."""
    if isinstance(content, ToolCall):
        if raw == joined and parse_arguments(raw) == content.arguments:
            return content
        arguments = parse_arguments(joined)
        if arguments is None or parse_arguments(raw) != content.arguments:
            return None
        return content.model_copy(update={"arguments": arguments})
    if _text_of(content) != raw:
        return None
    if raw == joined:
        return content
    if isinstance(content, TextContent):
        return content.model_copy(update={"text": joined})
    if isinstance(content, ThinkingContent):
        return content.model_copy(update={"thinking": joined})
    return content.model_copy(update={"arguments_text": joined})


def _replaced(event: _End, name: str, content: AssistantContent | dict[str, Any]) -> Payload:
    if isinstance(content, dict):
        return {"type": event.type, "content_index": event.content_index, name: content}
    return event.model_copy(update={name: content})
