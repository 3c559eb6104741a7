"""Reads the tool calls of a Chat Completions stream, in all the ways servers cut and number them."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from typing import Any

from openprogram_core.providers import AssistantMessageEvent, StreamAssembler, parse_arguments
from openprogram_openai.request import compact

Events = Iterator[AssistantMessageEvent]


class ToolCalls:
    """Keeps the calls of one message apart.

    The wire's ``index`` does that at OpenAI. Elsewhere it may be missing, or be 0 for each of several calls:
    then a new id, or a piece that cannot continue what is complete, begins a new call.
    """

    def __init__(self, assembler: StreamAssembler) -> None:
        self._assembler = assembler
        self._at: dict[Hashable, Hashable] = {}
        self._ids: dict[Hashable, str] = {}
        self._tail: dict[Hashable, str] = {}
        self._count = 0
        self._last: Hashable = None
        self._custom: dict[Hashable, dict[str, Any]] = {}

    def feed(self, delta: Mapping[str, Any]) -> Events:
        """Return the events of the pieces in one delta."""
        for piece in delta.get("tool_calls") or ():
            if piece.get("type") == "custom" or "custom" in piece or piece.get("index") in self._custom:
                self._add_custom(piece)
            else:
                yield from self._piece(piece, piece.get("function") or {})
        if delta.get("function_call"):
            yield from self._piece({"index": "function_call"}, delta["function_call"])

    def end_custom(self) -> Events:
        """Return the calls of custom tools, whose input is no JSON, as what they are."""
        for call in self._custom.values():
            yield from self._assembler.opaque("tool_call:custom", call)
        self._custom = {}

    def _piece(self, piece: Mapping[str, Any], function: Mapping[str, Any]) -> Events:
        arguments = function.get("arguments")
        text = arguments if isinstance(arguments, str) else compact(arguments) if arguments else ""
        call_id = piece.get("id") if isinstance(piece.get("id"), str) else None
        name = function.get("name") if isinstance(function.get("name"), str) else None
        key = self._key(piece.get("index"), call_id, name, text)
        if call_id:
            self._ids.setdefault(key, call_id)
        self._tail[key] = text.rstrip()[-1:] or self._tail.get(key, "")
        yield from self._assembler.tool_call(key, text, id=call_id, name=name)
        if piece.get("extra_content"):
            self._assembler.sign(key, compact({"extra_content": piece["extra_content"]}))

    def _key(self, index: Any, call_id: str | None, name: str | None, text: str) -> Hashable:
        slot: Hashable = index if isinstance(index, int | str) else None
        if slot is None and call_id:
            slot = next((key for key, known in self._ids.items() if known == call_id), None)
            if slot is not None:
                return slot
        key = self._at.get(slot, self._last if slot is None else None)
        if key is None or (name and self._begins_anew(key, call_id, text)):
            self._count += 1
            key = ("call", self._count)
        self._at[slot] = self._last = key
        return key

    def _begins_anew(self, key: Hashable, call_id: str | None, text: str) -> bool:
        other_id = bool(call_id) and self._ids.get(key, call_id) != call_id
        tail = self._tail.get(key)
        if tail != "}":
            return other_id and not tail
        complete = parse_arguments(self._assembler.text_of(key)) is not None
        return complete and (other_id or bool(text.strip()))

    def _add_custom(self, piece: Mapping[str, Any]) -> None:
        call = self._custom.setdefault(piece.get("index"), {"type": "custom", "custom": {}})
        if piece.get("id"):
            call["id"] = piece["id"]
        for name, value in (piece.get("custom") or {}).items():
            known = call["custom"].get(name)
            joins = name == "input" and isinstance(known, str) and isinstance(value, str)
            call["custom"][name] = known + value if joins else value
