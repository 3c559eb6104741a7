"""Small streams of our own writing in the two wire forms."""

from __future__ import annotations

from typing import Any

from tests.support.wire_bytes import sse

Json = dict[str, Any]


def chunk(delta: Json | None = None, finish: str | None = None, **fields: Any) -> Json:
    """Return one chunk of Chat Completions."""
    choice = {"index": 0, "delta": delta or {}, "finish_reason": finish}
    return {
        "id": "chatcmpl-7",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "m-1",
        "choices": [choice],
        **fields,
    }


def call_piece(index: int | None, arguments: str, *, id: str | None = None, name: str | None = None) -> Json:
    """Return one piece of a tool call."""
    function: Json = {"arguments": arguments, **({"name": name} if name is not None else {})}
    piece: Json = {"function": function}
    if index is not None:
        piece["index"] = index
    if id is not None:
        piece |= {"id": id, "type": "function"}
    return piece


def chat(*chunks: Json, end: str | None = "[DONE]") -> bytes:
    """Return a Chat Completions stream."""
    return sse(*chunks, end=end)


def chat_text(*pieces: str, finish: str = "stop") -> bytes:
    """Return a stream that says some text."""
    return chat(*(chunk({"content": piece}) for piece in pieces), chunk(finish=finish))


def responses(*payloads: Json) -> bytes:
    """Return a Responses stream."""
    return sse(*payloads, named=True)


def created() -> Json:
    """Return the first event of a response."""
    response = {"id": "resp_7", "object": "response", "status": "in_progress", "output": []}
    return {"type": "response.created", "sequence_number": 0, "response": response}


def ended(status: str = "completed", output: list[Json] | None = None, **fields: Any) -> Json:
    """Return the last event of a response."""
    response = {"id": "resp_7", "object": "response", "status": status, "output": output or [], **fields}
    return {"type": f"response.{status}", "sequence_number": 99, "response": response}


def added(index: int, item: Json) -> Json:
    """Return the event that announces an item."""
    return {"type": "response.output_item.added", "output_index": index, "item": item}


def done(index: int, item: Json) -> Json:
    """Return the event that ends an item."""
    return {"type": "response.output_item.done", "output_index": index, "item": item}


def text_delta(index: int, text: str, part: int = 0) -> Json:
    """Return a piece of text of an item's part."""
    return {
        "type": "response.output_text.delta",
        "output_index": index,
        "content_index": part,
        "item_id": f"item_{index}",
        "delta": text,
    }


def message_item(*texts: str, id: str = "msg_1", **fields: Any) -> Json:
    """Return a whole message item."""
    parts = [{"type": "output_text", "text": text, "annotations": []} for text in texts]
    return {
        "type": "message",
        "id": id,
        "role": "assistant",
        "status": "completed",
        "content": parts,
        **fields,
    }


def call_item(arguments: str, *, id: str = "fc_1", call_id: str = "call_1", name: str = "f") -> Json:
    """Return a whole function call item."""
    return {
        "type": "function_call",
        "id": id,
        "call_id": call_id,
        "name": name,
        "arguments": arguments,
        "status": "completed",
    }


def response_text(*pieces: str) -> bytes:
    """Return a response that says some text."""
    whole = message_item("".join(pieces))
    return responses(
        created(),
        added(0, {**whole, "content": [], "status": "in_progress"}),
        *(text_delta(0, piece) for piece in pieces),
        done(0, whole),
        ended(output=[whole]),
    )


TEXT_BODIES = {"openai-completions": chat_text, "openai-responses": response_text}
"""How to say some text, by wire API."""

BEGINNINGS = {
    "openai-completions": chat(chunk({"content": "par"}), end=None),
    "openai-responses": responses(created(), text_delta(0, "par")),
}
"""A stream that says ``par`` and is not at its end."""
