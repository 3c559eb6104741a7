"""The output items of a Responses stream, one class a kind.

An item's end says everything again: what no delta brought is taken from there. What the service wants to see
again beside text and arguments (ids, encrypted reasoning) goes into the signatures of the item's blocks, as
JSON.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping
from typing import Any

from openprogram_core.providers import AssistantMessageEvent, StreamAssembler, parse_arguments
from openprogram_openai.request import compact

Json = Mapping[str, Any]
Events = Iterator[AssistantMessageEvent]


class Item:
    """An item of a kind that has no type here: one opaque block when it ends."""

    def __init__(self, assembler: StreamAssembler, kind: str) -> None:
        self.assembler = assembler
        self.kind = kind
        self.done = False
        self.refused = False
        self.logprobs: list[Any] = []

    def begin(self, raw: Json) -> Events:
        """Return the events of the item's announcement."""
        yield from self.assembler.start()

    def end(self, raw: Json) -> Events:
        """Return the events of the item's end; ``raw`` is the whole item."""
        yield from self.assembler.opaque(self.kind, dict(raw))

    def sign(self, key: Hashable, facts: Json) -> None:
        """Keep what the service wants back with a block."""
        kept = {name: value for name, value in facts.items() if value is not None}
        if kept:
            self.assembler.sign(key, compact(kept))


class MessageItem(Item):
    """Text and refusals, a block for each content part."""

    def __init__(self, assembler: StreamAssembler, kind: str) -> None:
        super().__init__(assembler, kind)
        self._parts: dict[tuple[str, int], Hashable] = {}

    def end(self, raw: Json) -> Events:
        """Settle every part, then end them."""
        facts = {name: raw.get(name) for name in raw if name not in ("type", "role", "content", "status")}
        for index, part in enumerate(raw.get("content") or ()):
            if part.get("type") in ("output_text", "refusal"):
                yield from self.settle({"content_index": index, "part": part})
            else:
                yield from self.assembler.opaque(f"event:part:{part.get('type')}", dict(part))
        for (kind, _), key in self._parts.items():
            self.sign(key, {**facts, "part": "refusal"} if kind == "refusal" else facts)
            yield from self.assembler.end(key)

    def text(self, payload: Json) -> Events:
        """A piece of text."""
        self.logprobs += payload.get("logprobs") or ()
        yield from self.assembler.text(self._key("output_text", payload), payload.get("delta") or "")

    def refusal(self, payload: Json) -> Events:
        """A piece of a refusal."""
        yield from self.assembler.text(self._key("refusal", payload), payload.get("delta") or "")

    def annotation(self, payload: Json) -> Events:
        """A citation."""
        key = self._key("output_text", payload)
        yield from self.assembler.text(key, "")
        if isinstance(payload.get("annotation"), dict):
            self.assembler.cite(key, payload["annotation"])

    def settle(self, payload: Json) -> Events:
        """A part as a whole: its beginning, which may hold text already, or its end."""
        part = payload.get("part") or payload
        kind = "refusal" if "refusal" in part else "output_text"
        if part.get("type") not in ("output_text", "refusal", f"response.{kind}.done"):
            return
        key = self._key(kind, payload)
        yield from self.assembler.text(key, "")
        yield from self.assembler.settle(key, part.get("refusal" if kind == "refusal" else "text") or "")
        if part.get("annotations") and not self.assembler.is_cited(key):
            for annotation in part["annotations"]:
                self.assembler.cite(key, annotation)

    def _key(self, kind: str, payload: Json) -> Hashable:
        self.refused = self.refused or kind == "refusal"
        part = (kind, payload.get("content_index") or 0)
        return self._parts.setdefault(part, (id(self), part))


class ReasoningItem(Item):
    """Thinking, a block for each part of the summary or of the reasoning itself; at least one."""

    def __init__(self, assembler: StreamAssembler, kind: str) -> None:
        super().__init__(assembler, kind)
        self._parts: dict[tuple[str, int], Hashable] = {}
        self._spare: Hashable = None

    def begin(self, raw: Json) -> Events:
        """Open a block for the first part that comes: the model thinks, whether it shows it or not."""
        self._spare = (id(self), "first")
        yield from self.assembler.thinking(self._spare, "")

    def end(self, raw: Json) -> Events:
        """Settle every part; the last block carries the id and the encrypted reasoning."""
        for kind, name in (("summary_text", "summary"), ("reasoning_text", "content")):
            for index, part in enumerate(raw.get(name) or ()):
                yield from self._settle((kind, index), part.get("text") or "")
        if not self._parts:
            yield from self._write(("none", 0), "")
        facts = {name: raw.get(name) for name in raw if name not in ("type", "summary", "content", "status")}
        last = list(self._parts)[-1]
        for part, key in self._parts.items():
            signature = dict(facts) if part == last else {"id": facts.get("id")}
            if part[0] == "reasoning_text":
                signature["part"] = part[0]
            hidden = not self.assembler.text_of(key) and bool(facts.get("encrypted_content"))
            yield from self.assembler.thinking(key, "", redacted=hidden)
            self.sign(key, signature)
            yield from self.assembler.end(key)

    def summary(self, payload: Json) -> Events:
        """A piece of the summary, or the announcement of one."""
        yield from self._write(_summary_part(payload), payload.get("delta") or "")

    def summary_done(self, payload: Json) -> Events:
        """A part of the summary as a whole."""
        yield from self._settle(_summary_part(payload), payload.get("text") or "")

    def reasoning(self, payload: Json) -> Events:
        """A piece of the reasoning itself."""
        yield from self._write(_reasoning_part(payload), payload.get("delta") or "")

    def reasoning_done(self, payload: Json) -> Events:
        """A part of the reasoning as a whole."""
        yield from self._settle(_reasoning_part(payload), payload.get("text") or "")

    def _write(self, part: tuple[str, int], text: str) -> Events:
        if part not in self._parts:
            self._parts[part] = self._spare or (id(self), part)
            self._spare = None
        yield from self.assembler.thinking(self._parts[part], text)

    def _settle(self, part: tuple[str, int], whole: str) -> Events:
        yield from self._write(part, "")
        yield from self.assembler.settle(self._parts[part], whole)


class CallItem(Item):
    """A call of one of the context's tools."""

    def begin(self, raw: Json) -> Events:
        """Announce the call."""
        yield from self._write(raw, raw.get("arguments") or "")

    def end(self, raw: Json) -> Events:
        """End the call; one whose arguments were cut says so."""
        yield from self._write(raw, "")
        yield from self.assembler.settle(id(self), raw.get("arguments") or "")
        read = ("type", "call_id", "name", "arguments", "status")
        self.sign(id(self), {name: raw.get(name) for name in raw if name not in read})
        status = raw.get("status")
        cut = status == "incomplete"
        if status == "in_progress":
            cut = parse_arguments(self.assembler.text_of(id(self))) is None
        yield from self.assembler.end(id(self), incomplete=cut)

    def arguments(self, payload: Json) -> Events:
        """A piece of the arguments."""
        yield from self._write({}, payload.get("delta") or "")

    def arguments_done(self, payload: Json) -> Events:
        """The arguments as a whole."""
        yield from self._write({"name": payload.get("name")}, "")
        yield from self.assembler.settle(id(self), payload.get("arguments") or "")

    def _write(self, raw: Json, text: str) -> Events:
        call_id = raw.get("call_id") or raw.get("id")
        yield from self.assembler.tool_call(id(self), text, id=call_id, name=raw.get("name"))


def _summary_part(payload: Json) -> tuple[str, int]:
    return "summary_text", payload.get("summary_index") or 0


def _reasoning_part(payload: Json) -> tuple[str, int]:
    return "reasoning_text", payload.get("content_index") or 0


KINDS: dict[str, type[Item]] = {
    "message": MessageItem,
    "reasoning": ReasoningItem,
    "function_call": CallItem,
}

INSIDE: dict[str, tuple[str, Callable[[Any, Json], Events]]] = {
    "response.content_part.added": ("message", MessageItem.settle),
    "response.content_part.done": ("message", MessageItem.settle),
    "response.output_text.delta": ("message", MessageItem.text),
    "response.output_text.done": ("message", MessageItem.settle),
    "response.output_text.annotation.added": ("message", MessageItem.annotation),
    "response.refusal.delta": ("message", MessageItem.refusal),
    "response.refusal.done": ("message", MessageItem.settle),
    "response.reasoning_summary_part.added": ("reasoning", ReasoningItem.summary),
    "response.reasoning_summary_part.done": ("reasoning", ReasoningItem.summary),
    "response.reasoning_summary_text.delta": ("reasoning", ReasoningItem.summary),
    "response.reasoning_summary_text.done": ("reasoning", ReasoningItem.summary_done),
    "response.reasoning_text.delta": ("reasoning", ReasoningItem.reasoning),
    "response.reasoning_text.done": ("reasoning", ReasoningItem.reasoning_done),
    "response.function_call_arguments.delta": ("function_call", CallItem.arguments),
    "response.function_call_arguments.done": ("function_call", CallItem.arguments_done),
}
"""Events inside an item: the kind of item they belong to, and what reads them."""
