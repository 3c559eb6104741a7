"""Chat Completions as servers really speak it: each kind of departure, not only the published case."""

from __future__ import annotations

import json
from typing import Any

import pytest

from openprogram_core.providers import (
    AssistantMessage,
    Context,
    OpaqueContent,
    TextContent,
    ThinkingContent,
    ToolCall,
)
from tests.support.adapter_runs import (
    calls_of,
    comparable,
    final,
    invalid_calls_of,
    run,
    text_of,
    thinking_of,
)
from tests.support.wire_bytes import sse
from tests.support.wire_server import JSON, Reply, WireServer
from tests.wire_openai.bodies import Json, call_piece, chat, chunk
from tests.wire_openai.models import PROVIDERS, model_at

PROVIDER = PROVIDERS["openai-completions"]


async def said(*chunks: Json, end: str | None = "[DONE]", **reply: Any) -> AssistantMessage:
    """Return the message of a stream; two runs give the same."""
    answer = Reply(chat(*chunks, end=end), **reply)
    with WireServer(answer, answer) as server:
        model = model_at(server, "openai-completions")
        events = await run(PROVIDER, model)
        assert comparable(events) == comparable(await run(PROVIDER, model))
    return final(events)


def tools(*pieces: Json) -> Json:
    return chunk({"tool_calls": list(pieces)})


@pytest.mark.parametrize(
    ("word", "reason"),
    [
        ("stop", "stop"),
        ("length", "length"),
        ("model_length", "length"),
        ("tool_calls", "stop"),
        ("eos", "stop"),
        ("something_new", "stop"),
        ("content_filter", "error"),
        ("error", "error"),
        ("insufficient_system_resource", "error"),
    ],
)
async def test_the_services_own_word_is_kept(word: str, reason: str) -> None:
    message = await said(chunk({"content": "x"}), chunk(finish=word))
    assert (message.stop_reason, message.service_stop_reason) == (reason, word)
    assert text_of(message) == "x"


async def test_stop_with_a_call_to_run_is_tool_use() -> None:
    message = await said(tools(call_piece(0, "{}", id="c", name="f")), chunk(finish="stop"))
    assert message.stop_reason == "toolUse"


async def test_done_is_not_needed_after_the_finish_reason() -> None:
    message = await said(chunk({"content": "x"}), chunk(finish="stop"), end=None)
    assert message.stop_reason == "stop"


async def test_done_without_a_finish_reason_is_no_success() -> None:
    message = await said(chunk({"content": "x"}))
    assert message.stop_reason == "error"


@pytest.mark.parametrize("name", ["reasoning_content", "reasoning", "reasoning_text"])
async def test_thinking_under_any_name(name: str) -> None:
    message = await said(
        chunk({name: "a"}), chunk({name: "b"}), chunk({"content": "ok"}), chunk(finish="stop")
    )
    assert message.content == [ThinkingContent(thinking="ab"), TextContent(text="ok")]


async def test_thinking_that_changes_its_name_is_neither_doubled_nor_lost() -> None:
    message = await said(
        chunk({"reasoning": "a"}),
        chunk({"reasoning": "b", "reasoning_content": "b"}),
        chunk({"reasoning_content": "c", "reasoning": ""}),
        chunk(finish="stop"),
    )
    assert thinking_of(message) == "abc"


async def test_thinking_and_text_keep_their_order() -> None:
    message = await said(
        chunk({"reasoning": "1"}),
        chunk({"content": "2", "reasoning": None}),
        chunk({"reasoning": "3", "content": ""}),
        chunk({"content": "4"}),
        chunk(finish="stop"),
    )
    assert [block.type for block in message.content] == ["thinking", "text", "thinking", "text"]


async def test_content_in_parts() -> None:
    parts = [
        {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]},
        {"type": "text", "text": "ok"},
    ]
    message = await said(chunk({"content": parts}), chunk(finish="stop"))
    assert message.content == [ThinkingContent(thinking="hm"), TextContent(text="ok")]


async def test_signed_reasoning_goes_back_as_it_came() -> None:
    details = [
        {"type": "reasoning.text", "text": "a", "index": 0, "format": "x"},
        {"type": "reasoning.text", "text": "b", "signature": "SIG", "index": 0, "format": "x"},
        {"type": "reasoning.encrypted", "data": "OPAQUE", "index": 1},
    ]
    stream = chat(
        *(chunk({"reasoning": d.get("text"), "reasoning_details": [d]}) for d in details),
        chunk({"content": "ok"}),
        chunk(finish="stop"),
    )
    with WireServer(Reply(stream), Reply(stream)) as server:
        model = model_at(server, "openai-completions")
        message = final(await run(PROVIDER, model))
        await run(PROVIDER, model, Context(messages=[message]))
        (sent,) = server.requests[1].json()["messages"]
    assert thinking_of(message) == "ab"
    joined = {**details[1], "text": "ab"}
    assert sent == {"role": "assistant", "content": "ok", "reasoning_details": [joined, details[2]]}


async def test_a_refusal_is_text_that_says_so_and_goes_back_as_one() -> None:
    stream = chat(chunk({"refusal": "I "}), chunk({"refusal": "won't"}), chunk(finish="stop"))
    with WireServer(Reply(stream), Reply(stream)) as server:
        model = model_at(server, "openai-completions")
        message = final(await run(PROVIDER, model))
        await run(PROVIDER, model, Context(messages=[message]))
        (sent,) = server.requests[1].json()["messages"]
    assert text_of(message) == "I won't"
    assert (message.stop_reason, message.service_stop_reason) == ("stop", "refusal")
    assert sent == {"role": "assistant", "refusal": "I won't"}


async def test_citations_stay_with_their_text() -> None:
    citation = {"type": "url_citation", "url_citation": {"url": "https://example.org"}}
    message = await said(chunk({"content": "x"}), chunk({"annotations": [citation]}), chunk(finish="stop"))
    assert message.content == [TextContent(text="x", citations=[citation])]


async def test_interleaved_calls_stay_apart() -> None:
    message = await said(
        tools(call_piece(0, "", id="a", name="f"), call_piece(1, "", id="b", name="g")),
        tools(call_piece(1, '{"x":'), call_piece(0, '{"y":')),
        tools(call_piece(0, "1}"), call_piece(1, "2}")),
        chunk(finish="tool_calls"),
    )
    assert [(c.id, c.name, c.arguments) for c in calls_of(message)] == [
        ("a", "f", {"y": 1}),
        ("b", "g", {"x": 2}),
    ]


@pytest.mark.parametrize("index", [0, None])
async def test_whole_calls_that_share_an_index_or_have_none(index: int | None) -> None:
    message = await said(
        tools(call_piece(index, '{"n":1}', id="a", name="f")),
        tools(call_piece(index, '{"n":2}', id="b", name="f")),
        chunk(finish="tool_calls"),
    )
    assert [(c.id, c.arguments) for c in calls_of(message)] == [("a", {"n": 1}), ("b", {"n": 2})]


async def test_whole_calls_with_neither_index_nor_id() -> None:
    message = await said(
        tools(call_piece(None, '{"n":1}', name="f"), call_piece(None, '{"n":1}', name="f")),
        chunk(finish="tool_calls"),
    )
    calls = calls_of(message)
    assert [call.arguments for call in calls] == [{"n": 1}, {"n": 1}]
    assert len({call.id for call in calls}) == 2


async def test_cut_calls_without_an_index_are_told_apart_by_their_ids() -> None:
    message = await said(
        tools(call_piece(None, '{"n"', id="a", name="f")),
        tools(call_piece(None, ":1}", id="a")),
        tools(call_piece(None, "", id="b", name="g")),
        tools(call_piece(None, '{"m":2}')),
        chunk(finish="tool_calls"),
    )
    assert [(c.id, c.name, c.arguments) for c in calls_of(message)] == [
        ("a", "f", {"n": 1}),
        ("b", "g", {"m": 2}),
    ]


async def test_name_and_id_repeated_with_every_piece() -> None:
    pieces = [call_piece(0, text, id="a", name="f") for text in ("", '{"a', '":', "1", "}", "")]
    message = await said(*(tools(piece) for piece in pieces), chunk(finish="tool_calls"))
    assert [(c.id, c.name, c.arguments) for c in calls_of(message)] == [("a", "f", {"a": 1})]


async def test_a_name_that_comes_late() -> None:
    message = await said(
        tools(call_piece(0, '{"a":', id="a")),
        tools(call_piece(0, "1}", name="f")),
        chunk(finish="tool_calls"),
    )
    assert [(c.id, c.name, c.arguments) for c in calls_of(message)] == [("a", "f", {"a": 1})]


async def test_repeated_ids_become_different_ones() -> None:
    message = await said(
        tools(call_piece(0, '{"a":1}', id="same", name="f"), call_piece(1, '{"a":2}', id="same", name="f")),
        chunk(finish="tool_calls"),
    )
    assert len({call.id for call in calls_of(message)}) == 2


async def test_arguments_that_are_an_object_already() -> None:
    piece = {"index": 0, "id": "a", "function": {"name": "f", "arguments": {"a": [1, "é"]}}}
    message = await said(tools(piece), chunk(finish="tool_calls"))
    assert [call.arguments for call in calls_of(message)] == [{"a": [1, "é"]}]


async def test_the_old_function_call() -> None:
    message = await said(
        chunk({"function_call": {"name": "f", "arguments": ""}}),
        chunk({"function_call": {"arguments": '{"a":1}'}}),
        chunk(finish="function_call"),
    )
    assert [(c.name, c.arguments) for c in calls_of(message)] == [("f", {"a": 1})]
    assert message.stop_reason == "toolUse"


@pytest.mark.parametrize("text", ['{"a": ', "[1]", '"x"', "not json", '{"a":1}}'])
async def test_unreadable_arguments_are_seen_and_cannot_be_run(text: str) -> None:
    message = await said(tools(call_piece(0, text, id="a", name="f")), chunk(finish="tool_calls"))
    assert calls_of(message) == []
    (call,) = invalid_calls_of(message)
    assert (call.arguments_text, call.reason) == (text, "invalid")


async def test_the_limit_cuts_only_the_call_it_cut() -> None:
    message = await said(
        tools(call_piece(0, '{"a":1}', id="a", name="f")),
        tools(call_piece(1, '{"b":', id="b", name="g")),
        chunk(finish="length"),
    )
    assert [call.name for call in calls_of(message)] == ["f"]
    assert [(call.name, call.reason) for call in invalid_calls_of(message)] == [("g", "incomplete")]


async def test_after_a_failure_no_open_call_can_be_run() -> None:
    message = await said(
        tools(call_piece(0, '{"a":1}', id="a", name="f")), {"error": {"message": "x", "code": 500}}
    )
    assert calls_of(message) == []
    assert [call.reason for call in invalid_calls_of(message)] == ["incomplete"]


@pytest.mark.parametrize(
    ("error", "kind", "retryable"),
    [
        ({"message": "overloaded", "code": 503}, "overloaded", True),
        ({"message": "x", "type": "rate_limit_exceeded"}, "rate_limit", True),
        ({"message": "Rate limit: please try again in 1m2.5s", "code": "429"}, "rate_limit", True),
        (
            {"message": "schema", "type": "invalid_request_error", "status_code": 400},
            "invalid_request",
            False,
        ),
        ({"message": "prompt is too long", "code": 400}, "context_length", False),
        ("just words", "overloaded", True),
    ],
)
async def test_error_objects_in_the_stream(error: Any, kind: str, retryable: bool) -> None:
    message = await said(chunk({"content": "par"}), {"error": error})
    assert text_of(message) == "par"
    assert message.error_details is not None
    assert (message.error_details.kind, message.error_details.retryable) == (kind, retryable)
    assert message.error_message == (error if isinstance(error, str) else error["message"])
    if "1m2.5s" in str(error):
        assert message.error_details.retry_after_s == 62.5


async def test_an_error_object_first() -> None:
    message = await said({"error": {"message": "no", "code": 401}})
    assert message.error_details is not None
    assert message.error_details.kind == "auth"
    assert message.content == []


@pytest.mark.parametrize(
    ("usage", "counts"),
    [
        ({"prompt_tokens": 9, "completion_tokens": 4}, (9, 4, 0, 0, 13)),
        (
            {
                "prompt_tokens": 9,
                "completion_tokens": 4,
                "total_tokens": 13,
                "prompt_tokens_details": {"cached_tokens": 6, "cache_write_tokens": 1},
                "completion_tokens_details": {"reasoning_tokens": 3},
            },
            (2, 4, 6, 3, 13),
        ),
        ({"prompt_tokens": 9, "completion_tokens": 4, "prompt_cache_hit_tokens": 5}, (4, 4, 5, 0, 13)),
        (
            {
                "prompt_tokens": 9,
                "completion_tokens": 4,
                "total_tokens": 20,
                "completion_tokens_details": {"reasoning_tokens": 7},
            },
            (9, 11, 0, 7, 20),
        ),
    ],
    ids=["plain", "details", "deepseek", "reasoning-beside"],
)
async def test_usage(usage: Json, counts: tuple[int, ...]) -> None:
    message = await said(chunk({"content": "x"}), chunk(finish="stop"), {"choices": [], "usage": usage})
    seen = message.usage
    assert (seen.input, seen.output, seen.cache_read, seen.reasoning, seen.total_tokens) == counts
    assert message.service_details is not None
    assert message.service_details["usage"] == usage


async def test_usage_inside_the_choice_or_the_vendors_corner() -> None:
    usage = {"prompt_tokens": 9, "completion_tokens": 4, "total_tokens": 13}
    last = chunk(finish="stop")
    last["choices"][0]["usage"] = usage
    assert (await said(last)).usage.total_tokens == 13
    assert (await said(chunk(finish="stop", x_groq={"id": "r", "usage": usage}))).usage.total_tokens == 13


async def test_what_no_type_is_known_for_is_kept() -> None:
    message = await said(
        {"type": "vendor.note", "note": 1},
        chunk({"content": "x", "channel": "final", "images": [{"url": "u"}]}),
        chunk(finish="stop"),
    )
    kept = [block for block in message.content if isinstance(block, OpaqueContent)]
    assert [(block.kind, block.data) for block in kept] == [
        ("event:vendor.note", {"type": "vendor.note", "note": 1}),
        ("delta:images", [{"url": "u"}]),
    ]
    assert text_of(message) == "x"


async def test_a_custom_tools_call_is_kept_as_what_it_is() -> None:
    message = await said(
        tools({"index": 0, "id": "a", "type": "custom", "custom": {"name": "run", "input": "SELECT "}}),
        tools({"index": 0, "custom": {"input": "1"}}),
        chunk(finish="tool_calls"),
    )
    assert message.content == [
        OpaqueContent(
            kind="tool_call:custom",
            data={"type": "custom", "id": "a", "custom": {"name": "run", "input": "SELECT 1"}},
        )
    ]


async def test_log_probabilities_are_kept_beside_the_content() -> None:
    first, second = chunk({"content": "x"}), chunk({"content": "y"}, finish="stop")
    first["choices"][0]["logprobs"] = {"content": [{"token": "x", "logprob": -0.5}]}
    second["choices"][0]["logprobs"] = {"content": [{"token": "y", "logprob": -1.5}]}
    message = await said(first, second)
    assert message.service_details is not None
    assert [entry["token"] for entry in message.service_details["logprobs"]["content"]] == ["x", "y"]


@pytest.mark.parametrize(
    "noise",
    [b": ping\n\n", b"event: ping\n\n", b"event: ping\ndata: {}\n\n", b"id: 7\nretry: 100\n\n", b"\n\n\n"],
)
async def test_pings_say_nothing(noise: bytes) -> None:
    body = sse(noise, chunk({"content": "x"}), noise, chunk(finish="stop"), noise, end="[DONE]")
    with WireServer(Reply(body)) as server:
        message = final(await run(PROVIDER, model_at(server, "openai-completions")))
    assert message.content == [TextContent(text="x")]


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
async def test_one_event_on_several_lines(newline: str) -> None:
    body = sse(chunk({"content": "x"}), chunk(finish="stop"), end="[DONE]", newline=newline, indent=1)
    with WireServer(Reply(body)) as server:
        message = final(await run(PROVIDER, model_at(server, "openai-completions")))
    assert message.content == [TextContent(text="x")]


@pytest.mark.parametrize("headers", [JSON, {"content-type": "application/json; charset=utf-8"}])
async def test_a_server_that_does_not_stream(headers: dict[str, str]) -> None:
    whole = {
        "id": "c",
        "object": "chat.completion",
        "choices": [
            {
                "index": 0,
                "message": {
                    "role": "assistant",
                    "content": "x",
                    "tool_calls": [call_piece(None, "{}", id="a", name="f")],
                },
                "finish_reason": "tool_calls",
            }
        ],
        "usage": {"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3},
    }
    with WireServer(Reply(json.dumps(whole).encode(), headers=headers)) as server:
        message = final(await run(PROVIDER, model_at(server, "openai-completions")))
    assert message.content == [TextContent(text="x"), ToolCall(id="a", name="f", arguments={})]
    assert message.usage.total_tokens == 3


async def test_a_stream_under_the_wrong_content_type() -> None:
    message = await said(chunk({"content": "x"}), chunk(finish="stop"), headers=JSON)
    assert message.content == [TextContent(text="x")]


async def test_half_characters_reach_the_consumer_as_they_came() -> None:
    body = (
        b'data: {"choices":[{"index":0,"delta":{"content":"\\ud83d"}}]}\n\n'
        b'data: {"choices":[{"index":0,"delta":{"content":"\\ude00"},"finish_reason":"stop"}]}\n\n'
    )
    with WireServer(Reply(body)) as server:
        message = final(await run(PROVIDER, model_at(server, "openai-completions")))
    assert message.content == [TextContent(text="\ud83d\ude00")]


async def test_a_google_thought_signature_goes_back_with_its_call() -> None:
    extra = {"google": {"thought_signature": "SIG"}}
    piece = {**call_piece(0, "{}", id="a", name="f"), "extra_content": extra}
    stream = chat(tools(piece), chunk(finish="tool_calls"))
    with WireServer(Reply(stream), Reply(stream)) as server:
        model = model_at(server, "openai-completions")
        message = final(await run(PROVIDER, model))
        await run(PROVIDER, model, Context(messages=[message]))
        (sent,) = server.requests[1].json()["messages"]
    assert sent["tool_calls"][0]["extra_content"] == extra


async def test_nothing_follows_an_error_even_in_one_chunk() -> None:
    both = chunk({"content": "par"})
    both["choices"][0]["error"] = {"message": "broke", "code": 502}
    both["choices"].append({"index": 0, "delta": {"content": "more"}, "finish_reason": "stop"})
    message = await said(both)
    assert (text_of(message), message.error_message) == ("par", "broke")


async def test_a_chunk_without_choices_is_no_content() -> None:
    bare = {"id": "chatcmpl-7", "object": "chat.completion.chunk", "model": "m-1"}
    message = await said(bare, chunk({"content": "x"}), bare, chunk(finish="stop"))
    assert message.content == [TextContent(text="x")]
