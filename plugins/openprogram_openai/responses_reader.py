"""Reads the events of a Responses stream."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from typing import Any

from openprogram_core.providers import AssistantMessageEvent, ProviderError, StreamAssembler
from openprogram_core.providers.adapter import error_from_body, provider_error
from openprogram_openai.responses_items import INSIDE, KINDS, Item
from openprogram_openai.usage import responses_usage

Json = Mapping[str, Any]
Events = Iterator[AssistantMessageEvent]

# Said again, complete, by the end of the item they belong to.
_PROGRESS = (
    "response.apply_patch_call",
    "response.code_interpreter_call",
    "response.compaction",
    "response.computer_call",
    "response.custom_tool_call_input.",
    "response.file_search_call.",
    "response.image_generation_call.",
    "response.local_shell_call",
    "response.mcp_call",
    "response.mcp_list_tools.",
    "response.shell_call",
    "response.web_search_call.",
)
_PARTS = frozenset({"response.content_part.added", "response.content_part.done"})
_PINGS = frozenset({"ping", "keepalive", "response.keepalive", "response.heartbeat"})
_BESIDE = ("model", "service_tier", "usage", "moderation", "conversation")


class ResponsesReader:
    """Turns the wire's events into ours. ``secrets`` are kept out of error messages."""

    def __init__(self, assembler: StreamAssembler, secrets: Iterable[str] = ()) -> None:
        self._assembler = assembler
        self._secrets = secrets
        self._items: list[Item] = []
        self._at: dict[Hashable, Item] = {}
        self._handlers: dict[str, Callable[[Json], Events]] = {
            "response.created": self._begin,
            "response.queued": self._begin,
            "response.in_progress": self._begin,
            "response.output_item.added": self._added,
            "response.output_item.done": self._done,
            "response.completed": self._completed,
            "response.incomplete": self._incomplete,
            "response.failed": self._failed,
            "response.cancelled": self._failed,
            "error": self._error,
        }

    def feed(self, payload: Any) -> Events:
        """Return the events of one payload."""
        if not isinstance(payload, dict):
            yield from self._assembler.opaque("event:unknown", payload)
            return
        kind = payload.get("type")
        if kind is None and payload.get("object") == "response":
            # A server that does not stream sends the response itself.
            yield from self._whole(payload)
        elif kind is None and payload.get("error"):
            yield from self._error(payload)
        elif kind in _PARTS and (payload.get("part") or {}).get("type") not in ("output_text", "refusal"):
            return  # of another kind: it is in the deltas, or in the end of its item
        elif kind in INSIDE:
            item_kind, read = INSIDE[kind]
            item = self._item(payload, item_kind)
            # What comes behind an item's end is in its end already.
            if not item.done:
                yield from read(item, payload)
        elif kind in self._handlers:
            yield from self._handlers[kind](payload)
        elif not isinstance(kind, str) or not (kind.startswith(_PROGRESS) or kind in _PINGS):
            yield from self._assembler.opaque(f"event:{kind or 'unknown'}", payload)

    def _begin(self, payload: Json) -> Events:
        response = payload.get("response") or {}
        self._assembler.response_id = response.get("id") or self._assembler.response_id
        yield from self._assembler.start()

    def _added(self, payload: Json) -> Events:
        raw = payload.get("item") or {}
        yield from self._item(payload, raw.get("type") or "unknown").begin(raw)

    def _done(self, payload: Json) -> Events:
        raw = payload.get("item") or {}
        item = self._item(payload, raw.get("type") or "unknown")
        if not item.done:
            item.done = True
            yield from item.end(raw)

    def _item(self, payload: Json, kind: str) -> Item:
        """The item an event belongs to: by its place, by its id where the place says nothing or is reused."""
        raw = payload.get("item") or {}
        names = (("index", payload.get("output_index")), ("id", raw.get("id") or payload.get("item_id")))
        begins = payload.get("type") == "response.output_item.added"
        for name in names:
            item = self._at.get(name) if name[1] is not None else None
            if item is not None and item.kind == kind and not (begins and item.done):
                return item
        item = KINDS.get(kind, Item)(self._assembler, kind)
        self._items.append(item)
        self._at.update((name, item) for name in names if name[1] is not None)
        return item

    def _whole(self, response: Json) -> Events:
        ends = {"incomplete": self._incomplete, "failed": self._failed, "cancelled": self._failed}
        end = ends.get(str(response.get("status")), self._completed)
        yield from end({"response": response})

    def _settle(self, response: Json) -> Events:
        """Take what the terminal event says; items the stream did not end are whole in its list."""
        assembler = self._assembler
        yield from self._begin({"response": response})
        if response.get("usage"):
            assembler.usage = responses_usage(response["usage"])
        for index, raw in enumerate(response.get("output") or ()):
            yield from self._done({"output_index": index, "item": raw})
        beside = {name: response[name] for name in _BESIDE if response.get(name)}
        logprobs = [entry for item in self._items for entry in item.logprobs]
        assembler.service_details.update(beside, **({"logprobs": logprobs} if logprobs else {}))

    def _completed(self, payload: Json) -> Events:
        response = payload.get("response") or {}
        yield from self._settle(response)
        word = response.get("status")
        if self._assembler.has_tool_calls():
            yield from self._assembler.done("toolUse", service_stop_reason=word)
        else:
            refused = any(item.refused for item in self._items)
            yield from self._assembler.done("stop", service_stop_reason="refusal" if refused else word)

    def _incomplete(self, payload: Json) -> Events:
        response = payload.get("response") or {}
        yield from self._settle(response)
        reason = (response.get("incomplete_details") or {}).get("reason") or "incomplete"
        if reason == "content_filter":
            error = provider_error("content_filter", f"the service stopped the message: {reason}")
            yield from self._assembler.fail(error, service_stop_reason=reason)
        else:
            yield from self._assembler.done("length", service_stop_reason=reason)

    def _failed(self, payload: Json) -> Events:
        response = payload.get("response") or {}
        yield from self._settle(response)
        status = response.get("status") or "failed"
        error = self._read_error(response.get("error") or {}, f"the response ended as {status}")
        yield from self._assembler.fail(error, service_stop_reason=status)

    def _error(self, payload: Json) -> Events:
        body = {name: value for name, value in payload.items() if name != "type"}
        yield from self._assembler.fail(self._read_error(body, "an error event without a message"))

    def _read_error(self, body: Json, fallback: str) -> ProviderError:
        return error_from_body(body, default="overloaded", fallback_message=fallback, secrets=self._secrets)
