"""What the events of a Messages stream mean."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from openprogram_anthropic.blocks import OpaqueBlock, fields_beside
from openprogram_anthropic.conversation import EVENT_PREFIX
from openprogram_anthropic.usage import read_usage
from openprogram_core.providers import (
    AssistantMessageEvent,
    StopReason,
    StreamAssembler,
    parse_arguments,
)
from openprogram_core.providers.adapter import (
    error_from_body,
    object_in,
    objects_in,
    provider_error,
    text_in,
)

_REASONS: dict[str, StopReason] = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "pause_turn": "stop",
    "compaction": "stop",
    "tool_use": "toolUse",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
}

_MESSAGE_FIELDS = {"id", "type", "role", "content", "stop_reason", "stop_sequence", "usage"}

Events = Iterator[AssistantMessageEvent]


class StreamReader:
    """Feeds on the payloads of one answer and gives this project's events.

    Content blocks of kinds that have a type here become that; all others are kept whole as `OpaqueContent`
    of the block's ``type``. Events and deltas of unknown types become `OpaqueContent` too, with ``event:``
    before their type. Fields of a text or tool block that have no place here are kept as JSON in its
    ``signature``, which is sent back.
    """

    def __init__(self, assembler: StreamAssembler, secrets: list[str]) -> None:
        self._assembler = assembler
        self._secrets = secrets
        self._whole_input: dict[str, Any] = {}
        self._opaque: dict[str, OpaqueBlock] = {}
        self._maybe_cut: list[str] = []
        self._reason: str | None = None
        self._stop_details: Mapping[str, Any] = {}

    def feed(self, name: str | None, payload: Any) -> Events:
        """Yield the events of one server-sent event: its ``event:`` line and its parsed data.

        Raises `ProviderError` of kind ``protocol`` for a field of the wrong type.
        """
        if not isinstance(payload, dict):
            yield from self._unknown(name or "message", payload)
            return
        kind = text_in(payload, "type") or name
        index = str(payload.get("index"))
        match kind:
            case "ping":
                return
            case "message_start":
                yield from self._message_start(object_in(payload, "message"))
            case "content_block_start":
                yield from self._block_start(index, object_in(payload, "content_block"))
            case "content_block_delta":
                yield from self._block_delta(index, object_in(payload, "delta"), payload)
            case "content_block_stop":
                yield from self._block_stop(index)
            case "message_delta":
                yield from self._message_delta(payload)
            case "message_stop":
                yield from self._message_stop()
            case "error":
                error = error_from_body(payload, default="overloaded", secrets=self._secrets)
                yield from self._assembler.fail(error)
            case _:
                yield from self._unknown(str(kind), payload)

    def _unknown(self, kind: str, payload: Any) -> Events:
        yield from self._assembler.opaque(EVENT_PREFIX + kind, payload)

    def _message_start(self, message: Mapping[str, Any]) -> Events:
        assembler = self._assembler
        assembler.response_id = text_in(message, "id") or assembler.response_id
        self._note_usage(message.get("usage"))
        assembler.service_details |= fields_beside(message, _MESSAGE_FIELDS)
        yield from assembler.start()
        for place, block in enumerate(objects_in(message, "content")):
            key = f"message_start {place}"
            yield from self._block_start(key, block)
            yield from self._block_stop(key)

    def _block_start(self, key: str, block: Mapping[str, Any]) -> Events:
        assembler = self._assembler
        yield from self._end_maybe_cut()
        match text_in(block, "type"):
            case "text":
                yield from assembler.text(key, text_in(block, "text"))
                for citation in objects_in(block, "citations"):
                    assembler.cite(key, citation)
                self._keep_extras(key, block, {"type", "text", "citations"})
            case "thinking":
                yield from assembler.thinking(key, text_in(block, "thinking"))
                if signature := text_in(block, "signature"):
                    assembler.sign(key, signature)
            case "redacted_thinking":
                yield from assembler.thinking(key, "", redacted=True)
                assembler.sign(key, text_in(block, "data"))
            case "tool_use":
                call_id, name = text_in(block, "id"), text_in(block, "name")
                yield from assembler.tool_call(key, "", id=call_id, name=name)
                self._whole_input[key] = block.get("input")
                self._keep_extras(key, block, {"type", "id", "name", "input"})
            case _:
                self._opaque[key] = OpaqueBlock(block)

    def _block_delta(self, key: str, delta: Mapping[str, Any], payload: Any) -> Events:
        assembler = self._assembler
        if key in self._opaque:
            self._opaque[key].add(delta)
            return
        match text_in(delta, "type"):
            case "text_delta":
                yield from assembler.text(key, text_in(delta, "text"))
            case "thinking_delta":
                yield from assembler.thinking(key, text_in(delta, "thinking"))
            case "signature_delta":
                yield from assembler.thinking(key, "")
                assembler.sign(key, text_in(delta, "signature"), append=True)
            case "input_json_delta":
                yield from assembler.tool_call(key, text_in(delta, "partial_json"))
            case "citations_delta":
                yield from assembler.text(key, "")
                assembler.cite(key, object_in(delta, "citation"))
            case _:
                yield from self._unknown("content_block_delta", payload)

    def _block_stop(self, key: str) -> Events:
        assembler = self._assembler
        if key in self._opaque:
            block = self._opaque.pop(key).whole()
            yield from assembler.opaque(str(block.get("type") or "content_block"), block)
            return
        if key not in self._whole_input:
            yield from assembler.end(key)
            return
        whole = self._whole_input.pop(key)
        text = assembler.text_of(key)
        if not text and whole:
            # Some servers give the arguments at once, with the block's start.
            text = json.dumps(whole, ensure_ascii=False, separators=(",", ":"))
            yield from assembler.tool_call(key, text)
        if text and parse_arguments(text) is not None:
            yield from assembler.end(key)
        else:
            # No arguments, or broken ones: only the stop reason, or a block after this one, tells a call
            # without arguments from one that the limit cut.
            self._maybe_cut.append(key)

    def _end_maybe_cut(self) -> Events:
        keys, self._maybe_cut = self._maybe_cut, []
        for key in keys:
            yield from self._assembler.end(key)

    def _keep_extras(self, key: str, block: Mapping[str, Any], known: set[str]) -> None:
        extras = fields_beside(block, known)
        if extras:
            self._assembler.sign(key, json.dumps(extras, ensure_ascii=False, separators=(",", ":")))

    def _message_delta(self, payload: Mapping[str, Any]) -> Events:
        delta = object_in(payload, "delta")
        self._reason = text_in(delta, "stop_reason") or self._reason
        self._stop_details = object_in(delta, "stop_details") or self._stop_details
        self._note_usage(payload.get("usage"))
        self._assembler.service_details |= fields_beside(delta, {"stop_reason"})
        self._assembler.service_details |= fields_beside(payload, {"type", "delta", "usage"})
        yield from self._assembler.start()

    def _note_usage(self, usage: Any) -> None:
        if isinstance(usage, dict):
            kept = self._assembler.service_details.get("usage", {})
            self._assembler.usage, self._assembler.service_details["usage"] = read_usage(kept, usage)

    def _message_stop(self) -> Events:
        assembler = self._assembler
        for key in list(self._opaque):
            yield from self._block_stop(key)
        if self._reason is None:
            cut = "message_stop without a stop_reason: the message may not be complete"
            yield from assembler.fail(provider_error("protocol", cut))
        elif self._reason == "refusal":
            why = str(self._stop_details.get("explanation") or "the service refused to answer")
            refused = provider_error("content_filter", why, secrets=self._secrets)
            yield from assembler.fail(refused, service_stop_reason="refusal")
        else:
            reason = _REASONS.get(self._reason, "stop")
            if reason == "stop" and self._reason != "pause_turn" and assembler.has_tool_calls():
                reason = "toolUse"
            yield from assembler.done(reason, service_stop_reason=self._reason)
