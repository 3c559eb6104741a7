"""Real answers of the service, cut in every way, held against an independent reading of their bytes."""

from __future__ import annotations

import json
from typing import Any

import pytest

from openprogram_core.providers import TextContent, ToolCall
from tests.support.shared import shared_path
from tests.support.wire_bytes import CUTS, at_random
from tests.support.wire_calls import collect, final, timeless
from tests.support.wire_server import Reply, WireServer
from tests.wire_google.wire import PROVIDER, gemini

ANSWERS = ["gemini-tool-call-signature/0", "gemini-tool-call-signature/1"]


def recorded(answer: str) -> bytes:
    return shared_path(f"streams/{answer}.response.sse").read_bytes()


def read_bytes(body: bytes) -> dict[str, Any]:
    """The answer as its bytes say, without any of the code under test."""
    chunks = [json.loads(event[len("data: ") :]) for event in body.decode().split("\r\n\r\n") if event]
    candidates = [candidate for one in chunks for candidate in one["candidates"]]
    return {
        "id": chunks[-1]["responseId"],
        "parts": [part for one in candidates for part in one["content"]["parts"]],
        "usage": chunks[-1]["usageMetadata"],
        "finish": candidates[-1]["finishReason"],
    }


@pytest.mark.parametrize("answer", ANSWERS)
async def test_content_signatures_and_usage_are_those_of_the_bytes(answer: str) -> None:
    body = recorded(answer)
    truth = read_bytes(body)
    with WireServer(Reply(body)) as server:
        message = final(await collect(PROVIDER, gemini(server)))

    assert message.response_id == truth["id"]
    assert message.service_stop_reason == truth["finish"]
    calls = [part for part in truth["parts"] if "functionCall" in part]
    found = [block for block in message.content if isinstance(block, ToolCall)]
    for block, part in zip(found, calls, strict=True):
        assert (block.name, block.arguments) == (part["functionCall"]["name"], part["functionCall"]["args"])
        assert block.signature == part["thoughtSignature"]
    texts = [block.text for block in message.content if isinstance(block, TextContent)]
    assert "".join(texts) == "".join(part.get("text", "") for part in truth["parts"])
    assert len(found) + len(texts) == len(message.content)
    usage = truth["usage"]
    assert message.usage.input == usage["promptTokenCount"] - usage.get("cachedContentTokenCount", 0)
    assert message.usage.output == usage["candidatesTokenCount"] + usage.get("thoughtsTokenCount", 0)
    assert message.usage.reasoning == usage.get("thoughtsTokenCount", 0)
    assert message.usage.total_tokens == usage["totalTokenCount"]


@pytest.mark.parametrize("answer", ANSWERS)
async def test_every_piece_of_text_is_an_event_and_none_is_invented(answer: str) -> None:
    body = recorded(answer)
    pieces = [part["text"] for part in read_bytes(body)["parts"] if part.get("text")]
    with WireServer(Reply(body)) as server:
        events = await collect(PROVIDER, gemini(server))
    assert [event.delta for event in events if event.type == "text_delta"] == pieces


@pytest.mark.parametrize("answer", ANSWERS)
async def test_the_way_the_bytes_are_cut_makes_no_difference(answer: str) -> None:
    body = recorded(answer)
    cuts = [*CUTS.values(), *(at_random(seed) for seed in range(5))]
    with WireServer(*(Reply(body, cut=cut) for cut in cuts)) as server:
        seen = [timeless(await collect(PROVIDER, gemini(server))) for _ in cuts]
    assert all(events == seen[0] for events in seen)


@pytest.mark.parametrize("answer", ANSWERS)
async def test_other_line_ends_make_no_difference(answer: str) -> None:
    body = recorded(answer)
    plain = body.replace(b"\r\n", b"\n")
    with WireServer(Reply(body), *(Reply(plain, cut=cut) for cut in CUTS.values())) as server:
        seen = [timeless(await collect(PROVIDER, gemini(server))) for _ in range(len(CUTS) + 1)]
    assert all(events == seen[0] for events in seen)
