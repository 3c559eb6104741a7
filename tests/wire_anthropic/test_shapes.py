"""Streams in the shapes that broke real adapters."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from openprogram_core.providers import (
    Context,
    DoneEvent,
    InvalidToolCall,
    OpaqueContent,
    OpaqueEvent,
    TextContent,
    ThinkingContent,
    ToolCall,
    ToolCallStartEvent,
    UserMessage,
)
from tests.support.shared import shared_path
from tests.support.wire_bytes import CUTS, at_random, bytewise, sse
from tests.support.wire_calls import (
    bad_calls_of,
    calls_of,
    check_expectation,
    collect,
    final,
    mangled,
    text_of,
    timeless,
)
from tests.support.wire_server import Reply, WireServer
from tests.wire_anthropic.wire import PROVIDER, answer, ask, begin, block, claude, end, text, tool


def shapes(prefix: str) -> list[Any]:
    try:
        path = shared_path("cases/stream-shapes.json")
    except pytest.skip.Exception as reason:
        return [pytest.param({}, marks=pytest.mark.skip(reason=str(reason)))]
    found = json.loads(path.read_text("utf-8"))
    cases = found["cases"] if isinstance(found, dict) else found
    return [pytest.param(case, id=case["id"]) for case in cases if case["id"].startswith(prefix)]


@pytest.mark.parametrize("case", shapes("a"))
async def test_shared_shape(case: dict[str, Any]) -> None:
    newline = "\r\n" if case["framing"] == "crlf" else "\n"
    body = sse(*case["data"], named=True, newline=newline, end=case["end"] or None)
    with WireServer(*(Reply(body, cut=cut) for cut in CUTS.values())) as server:
        runs = [await collect(PROVIDER, claude(server)) for _ in CUTS]
        check_expectation(case, runs[0])
        assert all(timeless(run) == timeless(runs[0]) for run in runs)
        message = final(runs[0])
        if "signature" in case["expect"]:
            thinking, hidden = (part for part in message.content if isinstance(part, ThinkingContent))
            assert thinking.signature == case["expect"]["signature"]
            assert [hidden.signature] == case["expect"]["redacted"]
            assert (hidden.redacted, hidden.thinking) == (True, "")
            server.add(answer(begin(), *text(0, "ok"), *end()))
            context = Context(messages=[UserMessage(content="a"), message, UserMessage(content="b")])
            await collect(PROVIDER, claude(server), context)
            assert server.requests[-1].json()["messages"][1]["content"][:2] == [
                {"type": "thinking", "thinking": "hm", "signature": "SIG"},
                {"type": "redacted_thinking", "data": "OPAQUE"},
            ]


async def test_text_and_a_call_in_one_message() -> None:
    message = final(await ask(begin(), *text(0, "hi ", "there"), *tool(1, "{}"), *end("tool_use")))
    assert text_of(message) == "hi there"
    assert calls_of(message) == [ToolCall(id="toolu_1", name="f", arguments={})]
    assert message.stop_reason == "toolUse"


async def test_interleaved_blocks_keep_their_order_and_their_pieces() -> None:
    first, second = tool(0, '{"a":', "1}", call_id="toolu_a"), tool(1, '{"b":', "2}", call_id="toolu_b")
    woven = [first[0], second[0], first[1], second[1], second[2], first[2], second[3], first[3]]
    message = final(await ask(begin(), *woven, *end("tool_use")))
    assert [(call.id, call.arguments) for call in calls_of(message)] == [
        ("toolu_a", {"a": 1}),
        ("toolu_b", {"b": 2}),
    ]


async def test_a_delta_without_its_blocks_start_still_counts() -> None:
    payloads = [begin(), *text(0, "ok")[1:], *end()]
    assert text_of(final(await ask(*payloads))) == "ok"


async def test_arguments_given_whole_with_the_start_of_the_block() -> None:
    message = final(await ask(begin(), *tool(0, input={"path": "é"}), *end("tool_use")))
    assert calls_of(message)[0].arguments == {"path": "é"}


async def test_pieces_of_arguments_beat_what_the_start_said() -> None:
    message = final(await ask(begin(), *tool(0, '{"b":2}', input={"a": 1}), *end("tool_use")))
    assert calls_of(message)[0].arguments == {"b": 2}


@pytest.mark.parametrize("pieces", [(), ("",), ('{"a": "un',), ('{"a": 1}', "}")])
async def test_the_limit_inside_the_arguments_leaves_no_call_to_run(pieces: tuple[str, ...]) -> None:
    message = final(await ask(begin(), *tool(0, *pieces), *end("max_tokens")))
    assert message.stop_reason == "length"
    assert calls_of(message) == []
    assert bad_calls_of(message) == [
        InvalidToolCall(id="toolu_1", name="f", arguments_text="".join(pieces), reason="incomplete")
    ]


async def test_a_complete_call_before_the_limit_stays_a_call() -> None:
    payloads = [*tool(0, call_id="toolu_a"), *tool(1, '{"a"', call_id="toolu_b")]
    message = final(await ask(begin(), *payloads, *end("max_tokens")))
    assert [call.id for call in calls_of(message)] == ["toolu_a"]
    assert [call.id for call in bad_calls_of(message)] == ["toolu_b"]


@pytest.mark.parametrize("arguments", ["[1]", "nul", '{"a": }', '"text"'])
async def test_arguments_that_are_no_object_are_an_invalid_call_with_their_text(arguments: str) -> None:
    message = final(await ask(begin(), *tool(0, arguments), *text(1, "and"), *end("tool_use")))
    assert bad_calls_of(message)[0].arguments_text == arguments
    assert bad_calls_of(message)[0].reason == "invalid"


async def test_missing_and_repeated_ids_become_different_ones_the_same_in_every_run() -> None:
    payloads = [
        begin(),
        *tool(0, "{}", call_id=""),
        *tool(1, "{}", call_id="toolu_1"),
        *tool(2, "{}", call_id="toolu_1"),
        *end("tool_use"),
    ]
    runs = [calls_of(final(await ask(*payloads))) for _ in range(2)]
    assert [call.id for call in runs[0]] == [call.id for call in runs[1]]
    assert len({call.id for call in runs[0]}) == 3


async def test_an_invented_id_is_not_one_of_the_conversation() -> None:
    first = final(await ask(begin(), *tool(0, "{}", call_id=""), *end("tool_use")))
    context = Context(messages=[UserMessage(content="a"), first])
    second = final(await ask(begin(), *tool(0, "{}", call_id=""), *end("tool_use"), context=context))
    assert calls_of(first)[0].id != calls_of(second)[0].id


async def test_calls_though_the_service_says_end_turn_are_to_be_run() -> None:
    message = final(await ask(begin(), *tool(0, "{}"), *end("end_turn")))
    assert (message.stop_reason, message.service_stop_reason) == ("toolUse", "end_turn")


@pytest.mark.parametrize(
    ("word", "reason"),
    [
        ("end_turn", "stop"),
        ("stop_sequence", "stop"),
        ("pause_turn", "stop"),
        ("max_tokens", "length"),
        ("model_context_window_exceeded", "length"),
        ("a_word_of_tomorrow", "stop"),
    ],
)
async def test_stop_reasons_keep_the_services_own_word(word: str, reason: str) -> None:
    message = final(await ask(begin(), *text(0, "x"), *end(word)))
    assert (message.stop_reason, message.service_stop_reason) == (reason, word)


async def test_the_stop_sequence_that_was_hit_is_kept() -> None:
    message = final(await ask(begin(), *text(0, "x"), *end("stop_sequence", stop_sequence="END")))
    assert message.service_details is not None
    assert message.service_details["stop_sequence"] == "END"


async def test_a_pause_with_calls_is_no_request_to_run_them() -> None:
    message = final(await ask(begin(), *text(0, "x"), *tool(1, "{}"), *end("pause_turn")))
    assert message.stop_reason == "stop"


async def test_counts_are_running_totals_and_zeros_do_not_undo_them() -> None:
    start = begin(input_tokens=40, cache_read_input_tokens=100, cache_creation_input_tokens=7)
    usage = {
        "input_tokens": 0,
        "output_tokens": 90,
        "cache_read_input_tokens": None,
        "output_tokens_details": {"thinking_tokens": 30},
        "server_tool_use": {"web_search_requests": 2},
    }
    message = final(await ask(start, *text(0, "x"), *end(usage=usage)))
    counted = message.usage
    assert (counted.input, counted.output, counted.reasoning) == (40, 90, 30)
    assert (counted.cache_read, counted.cache_write, counted.total_tokens) == (100, 7, 237)
    assert message.service_details is not None
    assert message.service_details["usage"]["server_tool_use"] == {"web_search_requests": 2}


async def test_what_the_service_says_beside_the_content_is_kept() -> None:
    start = begin(service_tier="priority")
    start["message"]["container"] = {"id": "container_1"}
    stop = end(stop_details={"type": "note"})
    stop[0]["context_management"] = {"applied_edits": []}
    details = final(await ask(start, *text(0, "x"), *stop)).service_details
    assert details is not None
    assert details["model"] == "claude-that-answered"
    assert details["usage"]["service_tier"] == "priority"
    assert details["container"] == {"id": "container_1"}
    assert details["stop_details"] == {"type": "note"}
    assert details["context_management"] == {"applied_edits": []}


async def test_pings_and_comments_are_no_content() -> None:
    ping = {"type": "ping"}
    noise = b": a comment of a gateway\n\n"
    payloads = [noise, ping, begin(), ping, noise, *text(0, "x"), noise, ping, *end()]
    events = await ask(*payloads)
    assert timeless(events) == timeless(await ask(begin(), *text(0, "x"), *end()))


async def test_events_without_an_event_line_are_read_by_their_type() -> None:
    body = sse(begin(), *text(0, "x"), *end())
    with WireServer(Reply(body)) as server:
        assert text_of(final(await collect(PROVIDER, claude(server)))) == "x"


async def test_json_on_several_data_lines() -> None:
    body = sse(begin(), *text(0, "x"), *end(), named=True, indent=2)
    with WireServer(Reply(body, cut=bytewise)) as server:
        assert text_of(final(await collect(PROVIDER, claude(server)))) == "x"


async def test_an_event_of_an_unknown_type_is_kept_and_not_fatal() -> None:
    unknown = {"type": "weather_report", "sunny": True}
    events = await ask(begin(), *text(0, "x"), unknown, *end())
    kept = [event.content for event in events if isinstance(event, OpaqueEvent)]
    assert kept == [OpaqueContent(kind="event:weather_report", data=unknown)]
    assert isinstance(events[-1], DoneEvent)


async def test_a_delta_of_an_unknown_type_is_kept_beside_the_block() -> None:
    odd = {"type": "mood_delta", "mood": "sunny"}
    message = final(await ask(begin(), *block(0, {"type": "text", "text": "x"}, odd), *end()))
    assert text_of(message) == "x"
    (kept,) = [part for part in message.content if isinstance(part, OpaqueContent)]
    assert kept.kind == "event:content_block_delta"
    assert kept.data["delta"] == odd


async def test_a_call_starts_before_its_arguments_are_complete() -> None:
    events = await ask(begin(), *tool(0, '{"a"', ":1}"), *end("tool_use"))
    start = next(event for event in events if isinstance(event, ToolCallStartEvent))
    assert (start.id, start.name) == ("toolu_1", "f")
    assert events.index(start) == 1


async def test_content_that_comes_with_the_start_of_the_message() -> None:
    start = begin()
    start["message"]["content"] = [{"type": "text", "text": "already"}]
    message = final(await ask(start, *text(0, " and more"), *end()))
    assert [part.text for part in message.content if isinstance(part, TextContent)] == [
        "already",
        " and more",
    ]


words = st.text(st.characters(codec="utf-8"), max_size=12)


@settings(max_examples=25, deadline=None)
@given(pieces=st.lists(words, min_size=1, max_size=6), seed=st.integers(0, 10_000), crlf=st.booleans())
async def test_any_text_in_any_pieces_cut_anywhere(pieces: list[str], seed: int, crlf: bool) -> None:
    newline = "\r\n" if crlf else "\n"
    events = await ask(begin(), *text(0, *pieces), *end(), cut=at_random(seed), newline=newline)
    assert text_of(final(events)) == "".join(pieces)


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 100_000))
async def test_whatever_the_service_sends_the_events_obey_the_protocol(seed: int) -> None:
    chance = random.Random(seed)
    thinking = block(
        2,
        {"type": "thinking", "thinking": "", "signature": ""},
        {"type": "thinking_delta", "thinking": "hm"},
        {"type": "signature_delta", "signature": "S"},
    )
    search = {"type": "server_tool_use", "id": "s", "name": "n", "input": {}}
    payloads = [
        *(begin(), *text(0, "a", "b"), *tool(1, '{"a"', ":1}"), *thinking),
        *(*block(3, search, {"type": "input_json_delta", "partial_json": "{}"}), {"type": "odd"}),
        *(*block(4, {"type": "redacted_thinking", "data": "d"}), *end("tool_use")),
    ]
    sent = [mangled(payload, chance) for payload in payloads]
    if chance.random() < 0.3:
        chance.shuffle(sent)
    with WireServer(Reply(sse(*sent))) as server:
        await collect(PROVIDER, claude(server))
