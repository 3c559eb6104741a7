"""Reads the chunks of a Chat Completions stream."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from openprogram_core.providers import AssistantMessageEvent, ErrorKind, StopReason, StreamAssembler
from openprogram_core.providers.adapter import error_from_body, provider_error
from openprogram_openai.completions_tools import ToolCalls
from openprogram_openai.reasoning_details import ReasoningDetails
from openprogram_openai.request import compact
from openprogram_openai.usage import completions_usage

Json = Mapping[str, Any]
Events = Iterator[AssistantMessageEvent]

_STOPS: dict[str, StopReason] = {
    "length": "length",
    "max_tokens": "length",
    "model_length": "length",
    "tool_calls": "toolUse",
    "function_call": "toolUse",
}
_FAILURES: dict[str, ErrorKind] = {
    "content_filter": "content_filter",
    "sensitive": "content_filter",
    "error": "overloaded",
    "network_error": "overloaded",
    "insufficient_system_resource": "overloaded",
    "abort": "protocol",
}
_REASONING = ("reasoning_content", "reasoning", "reasoning_text")
_READ = frozenset({"role", "content", "refusal", "tool_calls", "function_call", "annotations"})
# What is said beside the content, kept as the service said it.
_BESIDE = ("model", "system_fingerprint", "service_tier", "provider", "usage", "citations", "search_results")
_BESIDE_ONCE = ("moderation", "prompt_filter_results", "x_groq", "timings")


class CompletionsReader:
    """Turns chunks into events. Only the first choice is the message's; others are left out.

    ``secrets`` are kept out of error messages.
    """

    def __init__(self, assembler: StreamAssembler, secrets: Iterable[str] = ()) -> None:
        self._assembler = assembler
        self._secrets = secrets
        self._tools = ToolCalls(assembler)
        self._details = ReasoningDetails()
        self._block: tuple[str, int] | None = None
        self._blocks = 0
        self._reasoning_name = _REASONING[0]
        self._finish_reason: str | None = None
        self._refused = False
        self._logprobs: dict[str, list[Any]] = {}

    def feed(self, payload: Any) -> Events:
        """Return the events of one chunk."""
        if not isinstance(payload, dict) or not self._is_chunk(payload):
            yield from self._unknown(payload)
            return
        assembler = self._assembler
        if assembler.response_id is None and isinstance(payload.get("id"), str):
            assembler.response_id = payload["id"] or None
        yield from assembler.start()
        if _is_error(payload):
            yield from self._fail(payload)
            return
        self._read_beside(payload)
        for choice in payload.get("choices") or ():
            if choice.get("index") in (0, None):
                yield from self._choice(choice)

    def finish(self) -> Events:
        """Return the end, nothing when the service did not say why it stopped."""
        word = self._finish_reason
        if word is None:
            return
        assembler = self._assembler
        yield from self._close_block()
        yield from self._tools.end_custom()
        if self._logprobs:
            assembler.service_details["logprobs"] = self._logprobs
        failure = _FAILURES.get(word)
        if failure is not None:
            error = provider_error(failure, f"the service stopped the message: {word}")
            yield from assembler.fail(error, service_stop_reason=word)
            return
        reason = _STOPS.get(word, "stop")
        if reason != "length":
            # Servers say "stop" with calls to run, and "tool_calls" without any.
            reason = "toolUse" if assembler.has_tool_calls() else "stop"
        said = "refusal" if self._refused and reason == "stop" else word
        yield from assembler.done(reason, service_stop_reason=said)

    @staticmethod
    def _is_chunk(payload: Json) -> bool:
        known = payload.get("object") == "chat.completion.chunk"
        return known or "choices" in payload or "usage" in payload or _is_error(payload)

    def _unknown(self, payload: Any) -> Events:
        if payload:
            kind = payload.get("type") or payload.get("object") if isinstance(payload, dict) else None
            yield from self._assembler.opaque(f"event:{kind or 'unknown'}", payload)

    def _read_beside(self, payload: Json) -> None:
        details = self._assembler.service_details
        for name in _BESIDE:
            if payload.get(name):
                details[name] = payload[name]
        for name in _BESIDE_ONCE:
            if payload.get(name):
                details.setdefault(name, payload[name])
        usage = payload.get("usage")
        if not usage and isinstance(payload.get("x_groq"), dict):
            usage = payload["x_groq"].get("usage")
        if usage:
            self._assembler.usage = completions_usage(usage)

    def _choice(self, choice: Json) -> Events:
        if choice.get("usage") and self._assembler.usage.total_tokens == 0:
            self._assembler.usage = completions_usage(choice["usage"])
        delta = choice.get("delta") or choice.get("message")
        if delta:
            yield from self._delta(delta)
        for name, entries in (choice.get("logprobs") or {}).items():
            if isinstance(entries, list):
                self._logprobs.setdefault(name, []).extend(entries)
        if choice.get("finish_reason"):
            self._finish_reason = choice["finish_reason"]
        if choice.get("error"):
            yield from self._fail(choice["error"])

    def _fail(self, body: Any) -> Events:
        error = error_from_body(body, default="overloaded", secrets=self._secrets)
        yield from self._assembler.fail(error)

    def _delta(self, delta: Json) -> Events:
        yield from self._thinking(delta)
        content = delta.get("content")
        if isinstance(content, str):
            yield from self._write("text", content)
        elif isinstance(content, list):
            yield from self._parts(content)
        refusal = delta.get("refusal")
        if refusal:
            self._refused = True
            yield from self._write("refusal", refusal)
        for annotation in delta.get("annotations") or ():
            yield from self._open("text")
            self._assembler.cite(self._block, annotation)
        if delta.get("tool_calls") or delta.get("function_call"):
            yield from self._close_block()
            yield from self._tools.feed(delta)
        for name, value in delta.items():
            # A field of a later day: structures are kept whole, mere labels (Groq's channel) are not.
            if value and isinstance(value, dict | list) and name not in _READ and "reasoning" not in name:
                yield from self._assembler.opaque(f"delta:{name}", value)

    def _thinking(self, delta: Json) -> Events:
        said = {name: delta[name] for name in _REASONING if isinstance(delta.get(name), str) and delta[name]}
        details = delta.get("reasoning_details")
        if isinstance(details, list):
            text = self._details.add(details)
            if not said and text:
                said = {"reasoning_details": text}
        if self._reasoning_name not in said and said:
            self._reasoning_name = next(iter(said))
        if said:
            # One thinking under several names: whichever came first is followed.
            yield from self._write("thinking", said[self._reasoning_name])
        elif details and self._details.to_keep():
            yield from self._open("thinking")

    def _parts(self, parts: list[Any]) -> Events:
        for part in parts:
            if not isinstance(part, dict):
                continue
            if isinstance(part.get("text"), str):
                yield from self._write("text", part["text"])
            elif part.get("type") == "thinking":
                pieces = part.get("thinking")
                for piece in pieces if isinstance(pieces, list) else [{"text": pieces}]:
                    yield from self._write("thinking", piece.get("text") or "")
            elif part:
                yield from self._assembler.opaque(f"part:{part.get('type')}", part)

    def _write(self, kind: str, text: str) -> Events:
        if not text:
            return
        yield from self._open(kind)
        write = self._assembler.thinking if kind == "thinking" else self._assembler.text
        yield from write(self._block, text)

    def _open(self, kind: str) -> Events:
        """Make the open block one of ``kind``: text behind thinking is a block of its own, in this order."""
        if self._block is not None and self._block[0] == kind:
            return
        yield from self._close_block()
        self._block = (kind, self._blocks)
        self._blocks += 1
        if kind == "thinking":
            yield from self._assembler.thinking(self._block, "")
        else:
            yield from self._assembler.text(self._block, "")

    def _close_block(self) -> Events:
        if self._block is None:
            return
        kind = self._block[0]
        if kind == "refusal":
            self._assembler.sign(self._block, compact({"refusal": True}))
        elif kind == "thinking" and (details := self._details.take()):
            self._assembler.sign(self._block, compact({"reasoning_details": details}))
        yield from self._assembler.end(self._block)
        self._block = None


def _is_error(payload: Json) -> bool:
    return bool(payload.get("error")) or "error" in (payload.get("object"), payload.get("type"))
