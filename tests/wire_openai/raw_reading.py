"""An independent reading of a response's bytes, written against the wire and not against the adapter."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any


@dataclass
class RawMessage:
    """What the bytes say: joined text and thinking, calls as (id, name, arguments' text), usage, errors."""

    text: str = ""
    thinking: str = ""
    calls: list[tuple[str, str, str]] = field(default_factory=list)
    usage: dict[str, Any] | None = None
    finish: str | None = None
    error: dict[str, Any] | None = None
    encrypted: list[str] = field(default_factory=list)


def data_lines(body: bytes) -> list[dict[str, Any]]:
    """Return every ``data:`` line's JSON."""
    found = re.findall(rb"^data: ?(.*?)\r?$", body, re.MULTILINE)
    return [json.loads(line) for line in found if line != b"[DONE]"]


def read_chat(body: bytes) -> RawMessage:
    """Read a Chat Completions stream."""
    raw = RawMessage()
    calls: dict[int, list[str]] = {}
    for chunk in data_lines(body):
        raw.error = chunk.get("error") or raw.error
        raw.usage = chunk.get("usage") or raw.usage
        for choice in chunk.get("choices", []):
            delta = choice["delta"]
            raw.text += delta.get("content") or ""
            raw.thinking += delta.get("reasoning") or ""
            raw.finish = choice["finish_reason"] or raw.finish
            for piece in delta.get("tool_calls") or []:
                call = calls.setdefault(piece["index"], ["", "", ""])
                call[0] += piece.get("id") or ""
                call[1] += piece["function"].get("name") or ""
                call[2] += piece["function"].get("arguments") or ""
    raw.calls = [(call[0], call[1], call[2]) for _, call in sorted(calls.items())]
    return raw


def read_response(body: bytes) -> RawMessage:
    """Read a Responses stream, from its deltas and the ends of its items."""
    raw = RawMessage()
    arguments: dict[str, str] = {}
    for event in data_lines(body):
        kind = event["type"]
        if kind == "response.output_text.delta":
            raw.text += event["delta"]
        elif kind == "response.function_call_arguments.delta":
            arguments[event["item_id"]] = arguments.get(event["item_id"], "") + event["delta"]
        elif kind == "response.output_item.done" and event["item"]["type"] == "function_call":
            item = event["item"]
            raw.calls.append((item["call_id"], item["name"], arguments[item["id"]]))
        elif kind == "response.output_item.done" and event["item"]["type"] == "reasoning":
            raw.encrypted.append(event["item"]["encrypted_content"])
        elif kind == "response.completed":
            raw.usage, raw.finish = event["response"]["usage"], event["response"]["status"]
    return raw
