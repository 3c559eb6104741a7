"""Small answers of the Messages API, and the model and provider that ask for them."""

from __future__ import annotations

from typing import Any

from openprogram_anthropic import API, AnthropicMessagesProvider
from openprogram_core.providers import AssistantMessageEvent, Context, Model, StreamOptions
from tests.support.wire_bytes import Cut, sse, whole
from tests.support.wire_calls import HELLO, collect
from tests.support.wire_server import Reply, WireServer

PROVIDER = AnthropicMessagesProvider()


def claude(server: WireServer, model_id: str = "claude-sonnet-4-0", **fields: Any) -> Model:
    """A Claude model served by ``server``."""
    defaults: dict[str, Any] = {"provider": "anthropic", "base_url": server.url, "reasoning": True}
    return Model(id=model_id, api=API, **{**defaults, **fields})


def begin(**usage: Any) -> dict[str, Any]:
    return {
        "type": "message_start",
        "message": {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": "claude-that-answered",
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": {"input_tokens": 5, "output_tokens": 1, **usage},
        },
    }


def block(index: int, content: dict[str, Any], *deltas: dict[str, Any]) -> list[dict[str, Any]]:
    """A content block: its start, its deltas, its stop."""
    return [
        {"type": "content_block_start", "index": index, "content_block": content},
        *({"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas),
        {"type": "content_block_stop", "index": index},
    ]


def text(index: int, *pieces: str) -> list[dict[str, Any]]:
    return block(
        index, {"type": "text", "text": ""}, *({"type": "text_delta", "text": piece} for piece in pieces)
    )


def tool(index: int, *pieces: str, name: str = "f", call_id: str = "toolu_1", **more: Any) -> list[Any]:
    return block(
        index,
        {"type": "tool_use", "id": call_id, "name": name, "input": {}, **more},
        *({"type": "input_json_delta", "partial_json": piece} for piece in pieces),
    )


def end(reason: str | None = "end_turn", usage: dict[str, Any] | None = None, **delta: Any) -> list[Any]:
    return [
        {
            "type": "message_delta",
            "delta": {"stop_reason": reason, "stop_sequence": None, **delta},
            "usage": {"output_tokens": 3} if usage is None else usage,
        },
        {"type": "message_stop"},
    ]


def answer(*payloads: Any, cut: Cut = whole, newline: str = "\n", **reply: Any) -> Reply:
    """The payloads as the service frames them: each event named by its type."""
    return Reply(sse(*payloads, named=True, newline=newline), cut=cut, **reply)


async def ask(
    *payloads: Any, context: Context = HELLO, options: StreamOptions | None = None, **reply: Any
) -> list[AssistantMessageEvent]:
    """Return the events of one answer."""
    with WireServer(answer(*payloads, **reply)) as server:
        return await collect(PROVIDER, claude(server), context, options)


async def sent(
    context: Context = HELLO,
    options: StreamOptions | None = None,
    *,
    model_id: str = "claude-sonnet-4-0",
    **fields: Any,
) -> Any:
    """Return the body that goes out for a request."""
    with WireServer(answer(begin(), *text(0, "ok"), *end())) as server:
        await collect(PROVIDER, claude(server, model_id, **fields), context, options)
        return server.requests[0].json()
