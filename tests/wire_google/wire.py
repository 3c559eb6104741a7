"""Small answers of the Gemini API, and the model and provider that ask for them."""

from __future__ import annotations

from typing import Any

from openprogram_core.providers import AssistantMessageEvent, Context, Model, StreamOptions
from openprogram_google import API, GoogleGenerativeAiProvider
from tests.support.wire_bytes import Cut, sse, whole
from tests.support.wire_calls import HELLO, collect
from tests.support.wire_server import Reply, WireServer

PROVIDER = GoogleGenerativeAiProvider()
GEMINI = "gemini-3-pro-preview"


def gemini(server: WireServer, model_id: str = GEMINI, **fields: Any) -> Model:
    """A Gemini model served by ``server``."""
    defaults: dict[str, Any] = {"provider": "google", "base_url": server.url, "reasoning": True}
    return Model(id=model_id, api=API, **{**defaults, **fields})


def chunk(*parts: Any, finish: str | None = None, usage: dict[str, Any] | None = None, **more: Any) -> Any:
    """One chunk with one candidate; ``more`` are further fields of the candidate."""
    candidate: dict[str, Any] = {"content": {"role": "model", "parts": list(parts)}, "index": 0, **more}
    if finish is not None:
        candidate["finishReason"] = finish
    whole_chunk: dict[str, Any] = {"candidates": [candidate], "modelVersion": "m", "responseId": "r1"}
    if usage is not None:
        whole_chunk["usageMetadata"] = usage
    return whole_chunk


def stop(reason: str = "STOP", **more: Any) -> Any:
    usage = {"promptTokenCount": 5, "candidatesTokenCount": 3, "totalTokenCount": 8}
    return chunk(finish=reason, usage=usage, **more)


def call(name: str = "f", **more: Any) -> dict[str, Any]:
    """A part that calls a tool."""
    signature = more.pop("signature", None)
    part: dict[str, Any] = {"functionCall": {"name": name, **more}}
    return {**part, "thoughtSignature": signature} if signature else part


def answer(*payloads: Any, cut: Cut = whole, newline: str = "\r\n", **reply: Any) -> Reply:
    """The chunks as the service frames them."""
    return Reply(sse(*payloads, newline=newline), cut=cut, **reply)


async def ask(
    *payloads: Any, context: Context = HELLO, options: StreamOptions | None = None, **reply: Any
) -> list[AssistantMessageEvent]:
    """Return the events of one answer."""
    with WireServer(answer(*payloads, **reply)) as server:
        return await collect(PROVIDER, gemini(server), context, options)


async def sent(
    context: Context = HELLO,
    options: StreamOptions | None = None,
    *,
    model_id: str = GEMINI,
    **fields: Any,
) -> Any:
    """Return the body that goes out for a request."""
    with WireServer(answer(chunk({"text": "ok"}), stop())) as server:
        await collect(PROVIDER, gemini(server, model_id, **fields), context, options)
        return server.requests[0].json()
