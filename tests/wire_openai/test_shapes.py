"""The shapes that broke real adapters: every published case of the two wire APIs, through the real SDK."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.adapter_runs import (
    calls_of,
    comparable,
    final,
    invalid_calls_of,
    run,
    text_of,
    thinking_of,
)
from tests.support.shared import PROJECT_ROOT, shared_path
from tests.support.wire_bytes import CUTS, sse
from tests.support.wire_server import Reply, WireServer
from tests.wire_openai.models import PROVIDERS, model_at

_FILE = PROJECT_ROOT.parent / "shared" / "cases" / "stream-shapes.json"
CASES = [case for case in json.loads(_FILE.read_text()) if case["api"] in PROVIDERS] if _FILE.exists() else []

_USAGE_NAMES = ("input", "output", "cache_read", "total_tokens")


def test_the_published_cases_are_there() -> None:
    shared_path("cases")
    assert len(CASES) >= 13


@pytest.mark.parametrize("cut", CUTS)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
async def test_case(case: dict[str, Any], cut: str) -> None:
    expect = case["expect"]
    body = sse(
        *case["data"],
        end=case["end"] or None,
        newline="\r\n" if case["framing"] == "crlf" else "\n",
        named=case["api"] == "openai-responses",
    )
    with WireServer(Reply(body, cut=CUTS[cut]), Reply(body)) as server:
        model = model_at(server, case["api"])
        events = await run(PROVIDERS[case["api"]], model)
        again = await run(PROVIDERS[case["api"]], model)
    assert comparable(events) == comparable(again)
    message = final(events)

    assert text_of(message) == expect["text"]
    if expect["error"]:
        assert events[-1].type == "error"
        assert message.error_details is not None
        assert message.error_details.kind == expect["kind"]
        return
    assert message.stop_reason == expect["stop_reason"]
    assert thinking_of(message) == expect["thinking"]
    calls = calls_of(message)
    assert [(call.name, call.arguments) for call in calls] == [
        (call["name"], call["arguments"]) for call in expect["tool_calls"]
    ]
    for call, wanted in zip(calls, expect["tool_calls"], strict=True):
        assert call.id == wanted["id"] if wanted["id"] is not None else call.id
    assert [call.name for call in invalid_calls_of(message)] == expect.get("incomplete_tool_calls", [])
    for name in _USAGE_NAMES:
        if name in expect.get("usage", {}):
            assert getattr(message.usage, name) == expect["usage"][name]
    if "service_stop_reason" in expect:
        assert message.service_stop_reason == expect["service_stop_reason"]
        assert message.error_details is not None
        assert message.error_details.kind == "content_filter"
