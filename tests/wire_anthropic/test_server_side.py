"""What the service does by itself: its tools, their results, citations. Kept, and sent back as it came."""

from __future__ import annotations

from typing import Any

import pytest

from openprogram_core.providers import Context, OpaqueContent, TextContent, UserMessage
from tests.support.wire_calls import calls_of, final
from tests.wire_anthropic.wire import ask, begin, block, end, sent, text, tool

SEARCH = block(
    0,
    {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}},
    {"type": "input_json_delta", "partial_json": ""},
    {"type": "input_json_delta", "partial_json": '{"query": "sh'},
    {"type": "input_json_delta", "partial_json": 'oes"}'},
)
FOUND: dict[str, Any] = {
    "type": "web_search_tool_result",
    "tool_use_id": "srvtoolu_1",
    "content": [
        {"type": "web_search_result", "url": "https://a.example", "title": "A", "encrypted_content": "Eq=="}
    ],
}
CITATION = {
    "type": "web_search_result_location",
    "url": "https://a.example",
    "title": "A",
    "encrypted_index": "Eo8=",
    "cited_text": "shoes",
}
CITED = block(
    2,
    {"type": "text", "text": "", "citations": []},
    {"type": "citations_delta", "citation": CITATION},
    {"type": "text_delta", "text": "Shoes."},
)


async def again(message: Any, **fields: Any) -> Any:
    """The assistant's turn as the next request carries it."""
    context = Context(messages=[UserMessage(content="a"), message, UserMessage(content="b")])
    return (await sent(context, **fields))["messages"][1]


async def test_a_search_its_results_and_the_cited_text_go_back_as_they_came() -> None:
    message = final(await ask(begin(), *SEARCH, *block(1, FOUND), *CITED, *end()))
    use, found, cited = message.content
    assert use == OpaqueContent(
        kind="server_tool_use",
        data={
            "type": "server_tool_use",
            "id": "srvtoolu_1",
            "name": "web_search",
            "input": {"query": "shoes"},
        },
    )
    assert found == OpaqueContent(kind="web_search_tool_result", data=FOUND)
    assert cited == TextContent(text="Shoes.", citations=[CITATION])
    assert message.stop_reason == "stop"
    assert (await again(message))["content"] == [
        use.data,
        FOUND,
        {"type": "text", "text": "Shoes.", "citations": [CITATION]},
    ]


async def test_a_paused_turn_is_continued_by_sending_it_back() -> None:
    message = final(await ask(begin(), *SEARCH, *end("pause_turn")))
    body = await sent(Context(messages=[UserMessage(content="a"), message]))
    assert [one["role"] for one in body["messages"]] == ["user", "assistant"]
    assert body["messages"][1]["content"][0]["id"] == "srvtoolu_1"


async def test_an_unknown_block_grows_by_its_deltas_and_goes_back_whole() -> None:
    grown = block(
        0,
        {"type": "compaction", "content": None, "encrypted_content": "a", "items": [1]},
        {"type": "compaction_delta", "content": "sum"},
        {"type": "compaction_delta", "content": "mary", "encrypted_content": "b", "items": [2]},
    )
    message = final(await ask(begin(), *grown, *text(1, "ok"), *end()))
    whole = {"type": "compaction", "content": "summary", "encrypted_content": "ab", "items": [1, 2]}
    assert message.content[0] == OpaqueContent(kind="compaction", data=whole)
    assert (await again(message))["content"][0] == whole


async def test_what_a_call_carries_beside_its_arguments_goes_back_with_it_and_its_result() -> None:
    from openprogram_core.providers import ToolResultMessage

    caller = {"type": "code_execution_20260120", "tool_id": "srvtoolu_9"}
    called = tool(0, '{"a":1}', caller=caller, toolset_name="browser")
    message = final(await ask(begin(), *called, *end("tool_use")))
    result = ToolResultMessage(
        tool_call_id=calls_of(message)[0].id, tool_name="f", content=[TextContent(text="r")]
    )
    body = await sent(Context(messages=[UserMessage(content="a"), message, result]))
    use, answered = body["messages"][1]["content"][0], body["messages"][2]["content"][0]
    assert use == {
        "type": "tool_use",
        "id": "toolu_1",
        "name": "f",
        "input": {"a": 1},
        "caller": caller,
        "toolset_name": "browser",
    }
    assert answered["toolset_name"] == "browser"


@pytest.mark.parametrize("model_id", ["claude-opus-4-5", "claude-sonnet-4-0"])
async def test_another_model_gets_the_text_and_not_what_is_bound_to_the_first(model_id: str) -> None:
    thinking = {"type": "thinking", "thinking": "hm", "signature": "SIG"}
    message = final(await ask(begin(), *block(0, thinking), *CITED, *end()))
    kept = (await again(message, model_id=model_id))["content"]
    same = model_id == "claude-sonnet-4-0"
    assert [one["type"] for one in kept] == (["thinking", "text"] if same else ["text"])
    assert ("citations" in kept[-1]) == same


async def test_an_unknown_event_is_kept_but_is_no_block_to_send_back() -> None:
    message = final(await ask(begin(), *text(0, "x"), {"type": "weather"}, *end()))
    assert (await again(message))["content"] == [{"type": "text", "text": "x"}]
