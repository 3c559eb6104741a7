"""A service that speaks enough of the chat-completions API for the documentation's examples."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from tests.support.wire_bytes import sse
from tests.support.wire_server import ReceivedRequest, Reply, WireServer, json_reply

ANSWERS = {
    "capital of france": "The capital of France is Paris.",
    "capital of italy": "The capital of Italy is Rome.",
}


def _chunk(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "stand-in",
        "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
    }


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "".join(part.get("text", "") for part in content or ())


def _said(text: str) -> Iterator[dict[str, Any]]:
    yield _chunk({"role": "assistant", "content": ""})
    for begin in range(0, len(text), 6):
        yield _chunk({"content": text[begin : begin + 6]})
    yield _chunk({}, "stop")


def _called(tool: dict[str, Any]) -> Iterator[dict[str, Any]]:
    function = {"name": tool["function"]["name"], "arguments": ""}
    yield _chunk({"tool_calls": [{"index": 0, "id": "call_1", "type": "function", "function": function}]})
    arguments = json.dumps({"city": "Oslo"})
    yield _chunk({"tool_calls": [{"index": 0, "function": {"arguments": arguments}}]})
    yield _chunk({}, "tool_calls")


def answer(request: ReceivedRequest) -> Reply:
    """Answer a chat: by the table, by calling the first tool, or by repeating what a tool said."""
    if not request.path.endswith("/chat/completions"):
        return json_reply({"error": {"message": f"no such path: {request.path}"}}, 404)
    body = request.json()
    last = body["messages"][-1]
    text = _text(last.get("content"))
    if last["role"] == "tool":
        chunks = list(_said(f"In Oslo it is {text}."))
    elif body.get("tools"):
        chunks = list(_called(body["tools"][0]))
    else:
        known = (said for asked, said in ANSWERS.items() if asked in text.lower())
        chunks = list(_said(next(known, "Hello!")))
    usage = {"prompt_tokens": 12, "completion_tokens": 7, "total_tokens": 19}
    return Reply(sse(*chunks, {**_chunk({}), "choices": [], "usage": usage}, end="[DONE]"))


def stand_in_service() -> WireServer:
    """Return the service; a context manager with a ``url``."""
    return WireServer(script=answer)
