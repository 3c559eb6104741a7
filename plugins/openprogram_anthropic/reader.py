"""What the events of a Messages stream mean."""

from __future__ import annotations

import json
from collections.abc import Mapping
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
from openprogram_core.providers.adapter import error_from_body, provider_error

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

Events = list[AssistantMessageEvent]


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
        self._whole_input: dict[Any, Any] = {}
        self._opaque: dict[Any, OpaqueBlock] = {}
        self._maybe_cut: list[Any] = []
        self._reason: str | None = None
        self._stop_details: Mapping[str, Any] = {}

    def feed(self, name: str | None, payload: Any) -> Events:
        """Return the events of one server-sent event: its ``event:`` line and its parsed data."""
        if not isinstance(payload, dict):
            return self._unknown(name or "message", payload)
        kind = payload.get("type") or name
        index = payload.get("index")
        match kind:
            case "ping":
                return []
            case "message_start":
                return self._message_start(payload.get("message") or {})
            case "content_block_start":
                return self._block_start(index, payload.get("content_block") or {})
            case "content_block_delta":
                return self._block_delta(index, payload.get("delta") or {}, payload)
            case "content_block_stop":
                return self._block_stop(index)
            case "message_delta":
                return self._message_delta(payload)
            case "message_stop":
                return self._message_stop()
            case "error":
                return self._assembler.fail(
                    error_from_body(payload, default="overloaded", secrets=self._secrets)
                )
        return self._unknown(str(kind), payload)

    def _unknown(self, kind: str, payload: Any) -> Events:
        return self._assembler.opaque(EVENT_PREFIX + kind, payload)

    def _message_start(self, message: Mapping[str, Any]) -> Events:
        assembler = self._assembler
        assembler.response_id = message.get("id") or assembler.response_id
        self._note_usage(message.get("usage"))
        assembler.service_details |= fields_beside(message, _MESSAGE_FIELDS)
        events = assembler.start()
        for place, block in enumerate(message.get("content") or []):
            key = ("message_start", place)
            events += self._block_start(key, block)
            events += self._block_stop(key)
        return events

    def _block_start(self, key: Any, block: Mapping[str, Any]) -> Events:
        assembler = self._assembler
        events = self._end_maybe_cut()
        match block.get("type"):
            case "text":
                events += assembler.text(key, block.get("text") or "")
                for citation in block.get("citations") or []:
                    assembler.cite(key, citation)
                self._keep_extras(key, block, {"type", "text", "citations"})
            case "thinking":
                events += assembler.thinking(key, block.get("thinking") or "")
                if block.get("signature"):
                    assembler.sign(key, block["signature"])
            case "redacted_thinking":
                events += assembler.thinking(key, "", redacted=True)
                assembler.sign(key, block.get("data") or "")
            case "tool_use":
                events += assembler.tool_call(key, "", id=block.get("id"), name=block.get("name"))
                self._whole_input[key] = block.get("input")
                self._keep_extras(key, block, {"type", "id", "name", "input"})
            case _:
                self._opaque[key] = OpaqueBlock(block)
        return events

    def _block_delta(self, key: Any, delta: Mapping[str, Any], payload: Any) -> Events:
        assembler = self._assembler
        if key in self._opaque:
            self._opaque[key].add(delta)
            return []
        match delta.get("type"):
            case "text_delta":
                return assembler.text(key, delta.get("text") or "")
            case "thinking_delta":
                return assembler.thinking(key, delta.get("thinking") or "")
            case "signature_delta":
                events = assembler.thinking(key, "")
                assembler.sign(key, delta.get("signature") or "", append=True)
                return events
            case "input_json_delta":
                return assembler.tool_call(key, delta.get("partial_json") or "")
            case "citations_delta":
                events = assembler.text(key, "")
                assembler.cite(key, delta.get("citation") or {})
                return events
        return self._unknown("content_block_delta", payload)

    def _block_stop(self, key: Any) -> Events:
        assembler = self._assembler
        if key in self._opaque:
            block = self._opaque.pop(key).whole()
            return assembler.opaque(str(block.get("type") or "content_block"), block)
        if key not in self._whole_input:
            return assembler.end(key)
        events: Events = []
        whole = self._whole_input.pop(key)
        text = assembler.text_of(key)
        if not text and whole:
            # Some servers give the arguments at once, with the block's start.
            text = json.dumps(whole, ensure_ascii=False, separators=(",", ":"))
            events += assembler.tool_call(key, text)
        if text and parse_arguments(text) is not None:
            return events + assembler.end(key)
        # No arguments, or broken ones: only the stop reason, or a block after this one, tells a call without
        # arguments from one that the limit cut.
        self._maybe_cut.append(key)
        return events

    def _end_maybe_cut(self) -> Events:
        keys, self._maybe_cut = self._maybe_cut, []
        return [event for key in keys for event in self._assembler.end(key)]

    def _keep_extras(self, key: Any, block: Mapping[str, Any], known: set[str]) -> None:
        extras = fields_beside(block, known)
        if extras:
            self._assembler.sign(key, json.dumps(extras, ensure_ascii=False, separators=(",", ":")))

    def _message_delta(self, payload: Mapping[str, Any]) -> Events:
        delta = payload.get("delta") or {}
        self._reason = delta.get("stop_reason") or self._reason
        self._stop_details = delta.get("stop_details") or self._stop_details
        self._note_usage(payload.get("usage"))
        self._assembler.service_details |= fields_beside(delta, {"stop_reason"})
        self._assembler.service_details |= fields_beside(payload, {"type", "delta", "usage"})
        return self._assembler.start()

    def _note_usage(self, usage: Any) -> None:
        if isinstance(usage, dict):
            kept = self._assembler.service_details.get("usage", {})
            self._assembler.usage, self._assembler.service_details["usage"] = read_usage(kept, usage)

    def _message_stop(self) -> Events:
        assembler = self._assembler
        events = [event for key in list(self._opaque) for event in self._block_stop(key)]
        if self._reason is None:
            cut = provider_error(
                "protocol", "message_stop without a stop_reason: the message may not be complete"
            )
            return events + assembler.fail(cut)
        if self._reason == "refusal":
            explanation = self._stop_details.get("explanation") or "the service refused to answer"
            refused = provider_error("content_filter", str(explanation), secrets=self._secrets)
            return events + assembler.fail(refused, service_stop_reason="refusal")
        reason = _REASONS.get(self._reason, "stop")
        if reason == "stop" and self._reason != "pause_turn" and assembler.has_tool_calls():
            reason = "toolUse"
        return events + assembler.done(reason, service_stop_reason=self._reason)
