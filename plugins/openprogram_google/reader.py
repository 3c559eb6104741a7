"""What the chunks of a Gemini stream mean."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from openprogram_core.providers import AssistantMessageEvent, ErrorKind, StreamAssembler
from openprogram_core.providers.adapter import (
    error_from_body,
    list_in,
    object_in,
    objects_in,
    provider_error,
    text_in,
)
from openprogram_google.endings import FAILURES, STOPS
from openprogram_google.usage import read_usage

Events = Iterator[AssistantMessageEvent]

_CHUNK_FIELDS = frozenset({"candidates", "usageMetadata", "responseId"})
_TEXT_FIELDS = frozenset({"text", "thought", "thoughtSignature"})
_CALL_FIELDS = frozenset({"functionCall", "thoughtSignature"})
_STREAMED_CALL_FIELDS = frozenset({"partialArgs", "willContinue"})
# Small facts about the candidate go to service_details; what is not named here becomes opaque content.
_FACTS = frozenset({"finishMessage", "safetyRatings", "tokenCount", "avgLogprobs", "continuationToken"})
_HANDLED = frozenset({"content", "finishReason", "citationMetadata", "index"})


class StreamReader:
    """Feeds on the parsed chunks of one answer and gives this project's events.

    Pieces of text without a signature join to one block. A part with a signature is a block of its own, even
    when it is empty, because the service wants it back as that part. Parts of other kinds are kept whole as
    `OpaqueContent` of the part's kind; so are grounding and other objects beside the parts, at the end.
    """

    def __init__(self, assembler: StreamAssembler, secrets: list[str]) -> None:
        self._assembler = assembler
        self._secrets = secrets
        self._open: tuple[str, int] | None = None
        self._blocks = 0
        self._usage: dict[str, Any] = {}
        self._cited: list[Any] = []
        self._beside: list[tuple[str, Any]] = []
        self._finish: str | None = None
        self._blocked: Mapping[str, Any] = {}

    def feed(self, chunk: Any) -> Events:
        """Yield the events of one chunk.

        Raises `ProviderError` of kind ``protocol`` for a field of the wrong type.
        """
        assembler = self._assembler
        if not isinstance(chunk, dict):
            yield from assembler.opaque("chunk", chunk)
            return
        if chunk.get("error"):
            yield from assembler.fail(error_from_body(chunk, default="overloaded", secrets=self._secrets))
            return
        assembler.response_id = text_in(chunk, "responseId") or assembler.response_id
        self._note_usage(chunk.get("usageMetadata"))
        self._blocked = object_in(chunk, "promptFeedback") or self._blocked
        assembler.service_details |= {
            name: value for name, value in chunk.items() if name not in _CHUNK_FIELDS
        }
        yield from assembler.start()
        for candidate in objects_in(chunk, "candidates"):
            # A second candidate never mixes into the first.
            if not candidate.get("index"):
                yield from self._candidate(candidate)

    def _note_usage(self, said: Any) -> None:
        if isinstance(said, dict):
            # Running totals; a later chunk may leave out what an earlier one told.
            self._usage.update(said)
            self._assembler.usage = read_usage(self._usage)
            self._assembler.service_details["usageMetadata"] = dict(self._usage)

    def _candidate(self, candidate: Mapping[str, Any]) -> Events:
        for part in list_in(object_in(candidate, "content"), "parts"):
            yield from self._part(part)
        self._finish = text_in(candidate, "finishReason") or self._finish
        for name, value in candidate.items():
            if name == "citationMetadata":
                self._cite(value)
            elif name in _FACTS:
                self._assembler.service_details[name] = value
            elif name not in _HANDLED and value and (name, value) not in self._beside:
                self._beside.append((name, value))

    def _part(self, part: Any) -> Events:
        if not isinstance(part, dict):
            yield from self._opaque("part", part)
            return
        call = part.get("functionCall")
        if isinstance(part.get("text"), str):
            yield from self._text(part)
        elif isinstance(call, dict) and not _STREAMED_CALL_FIELDS & set(call):
            yield from self._call(part, call)
        else:
            kind = next((name for name in part if name not in _TEXT_FIELDS), "thoughtSignature")
            yield from self._opaque(kind, part)

    def _text(self, part: Mapping[str, Any]) -> Events:
        text, signature = part["text"], text_in(part, "thoughtSignature")
        kind = "thinking" if part.get("thought") else "text"
        if signature or (text and (self._open is None or self._open[0] != kind)):
            yield from self._close()
            self._open = self._new_key(kind)
        if self._open is not None and (text or signature):
            add = self._assembler.thinking if kind == "thinking" else self._assembler.text
            yield from add(self._open, text)
        if signature and self._open is not None:
            self._assembler.sign(self._open, signature)
            yield from self._close()
        yield from self._rest(part, _TEXT_FIELDS)

    def _call(self, part: Mapping[str, Any], call: Mapping[str, Any]) -> Events:
        yield from self._close()
        key = self._new_key("call")
        arguments = {} if call.get("args") is None else call["args"]
        text = json.dumps(arguments, ensure_ascii=False, separators=(",", ":"))
        call_id, name = text_in(call, "id"), text_in(call, "name")
        yield from self._assembler.tool_call(key, text, id=call_id, name=name)
        if signature := text_in(part, "thoughtSignature"):
            self._assembler.sign(key, signature)
        yield from self._assembler.end(key)
        yield from self._rest(part, _CALL_FIELDS)

    def _rest(self, part: Mapping[str, Any], known: frozenset[str]) -> Events:
        for name, value in part.items():
            if name not in known:
                yield from self._assembler.opaque(name, value)

    def _opaque(self, kind: str, data: object) -> Events:
        yield from self._close()
        yield from self._assembler.opaque(kind, data)

    def _new_key(self, kind: str) -> tuple[str, int]:
        self._blocks += 1
        return kind, self._blocks

    def _close(self) -> Events:
        key, self._open = self._open, None
        if key is not None:
            yield from self._assembler.end(key)

    def _cite(self, metadata: Any) -> None:
        for citation in _citations(metadata):
            if citation in self._cited:
                continue
            self._cited.append(citation)
            if self._open is not None and self._open[0] == "text" and isinstance(citation, dict):
                self._assembler.cite(self._open, citation)
            else:
                self._beside.append(("citation", citation))

    def finish(self) -> Events:
        """Yield the events of the stream's end; they end the message when the service had said why."""
        assembler = self._assembler
        yield from self._close()
        for kind, value in self._beside:
            yield from assembler.opaque(kind, value)
        reason = self._finish
        blocked = text_in(self._blocked, "blockReason")
        if reason is None:
            if blocked:
                said = text_in(self._blocked, "blockReasonMessage") or f"the prompt was blocked: {blocked}"
                yield from self._fail("content_filter", said, blocked)
            return
        stop = STOPS.get(reason)
        if stop is None:
            said = assembler.service_details.get("finishMessage") or f"the service stopped with {reason}"
            yield from self._fail(FAILURES.get(reason, "protocol"), str(said), reason)
            return
        if stop == "stop" and assembler.has_tool_calls():
            stop = "toolUse"
        yield from assembler.done(stop, service_stop_reason=reason)

    def _fail(self, kind: ErrorKind, said: str, reason: str) -> Events:
        error = provider_error(kind, said, secrets=self._secrets)
        yield from self._assembler.fail(error, service_stop_reason=reason)


def _citations(metadata: Any) -> Iterator[Any]:
    if isinstance(metadata, dict):
        for name in ("citationSources", "citations"):
            yield from list_in(metadata, name)
