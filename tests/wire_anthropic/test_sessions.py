"""Real answers of the service, cut in every way, held against an independent reading of their bytes."""

from __future__ import annotations

import json
from typing import Any

import pytest

from openprogram_core.providers import TextContent, ThinkingContent, ToolCall
from tests.support.shared import shared_path
from tests.support.wire_bytes import CUTS, at_random
from tests.support.wire_calls import collect, final, timeless
from tests.support.wire_server import Reply, WireServer
from tests.wire_anthropic.wire import PROVIDER, claude

ANSWERS = ["anthropic-thinking/0", "anthropic-tool-call/0", "anthropic-tool-call/1"]


def recorded(answer: str) -> bytes:
    return shared_path(f"streams/{answer}.response.sse").read_bytes()


def read_bytes(body: bytes) -> dict[str, Any]:
    """The answer as its bytes say, without any of the code under test."""
    blocks: dict[int, dict[str, Any]] = {}
    usage: dict[str, int] = {}
    reason = message_id = None
    for line in body.decode().splitlines():
        if not line.startswith("data:"):
            continue
        data = json.loads(line[5:])
        if data["type"] == "message_start":
            message_id = data["message"]["id"]
            usage.update({k: v for k, v in data["message"]["usage"].items() if isinstance(v, int)})
        elif data["type"] == "content_block_start":
            blocks[data["index"]] = {**data["content_block"], "pieces": []}
        elif data["type"] == "content_block_delta":
            delta = data["delta"]
            found = blocks[data["index"]]
            if delta["type"] == "signature_delta":
                found["signature"] += delta["signature"]
            else:
                found["pieces"] += [v for k, v in delta.items() if k != "type"]
        elif data["type"] == "message_delta":
            reason = data["delta"]["stop_reason"]
            usage.update({k: v for k, v in data["usage"].items() if isinstance(v, int)})
    return {"id": message_id, "blocks": blocks, "usage": usage, "reason": reason}


@pytest.mark.parametrize("answer", ANSWERS)
async def test_content_signatures_and_usage_are_those_of_the_bytes(answer: str) -> None:
    body = recorded(answer)
    truth = read_bytes(body)
    with WireServer(Reply(body)) as server:
        message = final(await collect(PROVIDER, claude(server)))

    assert message.response_id == truth["id"]
    assert message.service_stop_reason == truth["reason"]
    for block, said in zip(message.content, truth["blocks"].values(), strict=True):
        whole = "".join(said["pieces"])
        match block:
            case TextContent():
                assert (said["type"], block.text) == ("text", whole)
            case ThinkingContent():
                assert (said["type"], block.thinking) == ("thinking", whole)
                assert block.signature == said["signature"] != ""
            case ToolCall():
                assert said["type"] == "tool_use"
                assert (block.id, block.name) == (said["id"], said["name"])
                assert block.arguments == json.loads(whole)
            case _:
                pytest.fail(f"unexpected {block!r}")
    usage = truth["usage"]
    assert message.usage.input == usage["input_tokens"]
    assert message.usage.output == usage["output_tokens"]
    assert message.usage.cache_read == usage["cache_read_input_tokens"]
    assert message.usage.cache_write == usage["cache_creation_input_tokens"]


@pytest.mark.parametrize("answer", ANSWERS)
async def test_every_piece_is_an_event_and_none_is_invented(answer: str) -> None:
    body = recorded(answer)
    pieces = [piece for block in read_bytes(body)["blocks"].values() for piece in block["pieces"] if piece]
    with WireServer(Reply(body)) as server:
        events = await collect(PROVIDER, claude(server))
    assert [event.delta for event in events if hasattr(event, "delta")] == pieces


@pytest.mark.parametrize("answer", ANSWERS)
async def test_the_way_the_bytes_are_cut_makes_no_difference(answer: str) -> None:
    body = recorded(answer)
    cuts = [*CUTS.values(), *(at_random(seed) for seed in range(5))]
    with WireServer(*(Reply(body, cut=cut) for cut in cuts)) as server:
        seen = [timeless(await collect(PROVIDER, claude(server))) for _ in cuts]
    assert all(events == seen[0] for events in seen)


@pytest.mark.parametrize("answer", ANSWERS)
async def test_other_line_ends_make_no_difference(answer: str) -> None:
    body = recorded(answer)
    crlf = body.replace(b"\n", b"\r\n")
    with WireServer(Reply(body), *(Reply(crlf, cut=cut) for cut in CUTS.values())) as server:
        seen = [timeless(await collect(PROVIDER, claude(server))) for _ in range(len(CUTS) + 1)]
    assert all(events == seen[0] for events in seen)
