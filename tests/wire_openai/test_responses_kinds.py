"""Responses as services really send it: each kind of departure, not only the published case."""

from __future__ import annotations

import json
from typing import Any

import pytest

from openprogram_core.providers import AssistantMessage, OpaqueContent, TextContent, ThinkingContent
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
from tests.wire_openai.bodies import (
    Json,
    added,
    call_item,
    created,
    done,
    ended,
    message_item,
    responses,
    text_delta,
)
from tests.wire_openai.models import PROVIDERS, model_at

PROVIDER = PROVIDERS["openai-responses"]


async def said(*payloads: Json) -> AssistantMessage:
    """Return the message of a response; two runs give the same."""
    answer = Reply(responses(created(), *payloads))
    with WireServer(answer, answer) as server:
        model = model_at(server, "openai-responses")
        events = await run(PROVIDER, model)
        assert comparable(events) == comparable(await run(PROVIDER, model))
    return final(events)


def arguments(index: int, delta: str, **fields: Any) -> Json:
    return {
        "type": "response.function_call_arguments.delta",
        "output_index": index,
        "delta": delta,
        **fields,
    }


def summary(index: int, part: int, delta: str) -> Json:
    return {
        "type": "response.reasoning_summary_text.delta",
        "output_index": index,
        "summary_index": part,
        "delta": delta,
    }


async def test_text_that_comes_only_at_the_end() -> None:
    assert text_of(await said(done(0, message_item("whole")), ended())) == "whole"
    assert text_of(await said(ended(output=[message_item("whole")]))) == "whole"


async def test_text_of_which_the_end_knows_more() -> None:
    message = await said(
        text_delta(0, "wh"),
        {"type": "response.output_text.done", "output_index": 0, "content_index": 0, "text": "who"},
        done(0, message_item("whole")),
        ended(output=[message_item("whole")]),
    )
    assert message.content[0] == TextContent(text="whole", signature='{"id":"msg_1"}')


async def test_what_was_said_stays_said_when_the_end_says_otherwise() -> None:
    message = await said(text_delta(0, "one"), done(0, message_item("two")), ended())
    assert text_of(message) == "one"


async def test_parts_of_one_message_stay_apart() -> None:
    message = await said(
        text_delta(0, "a", 0), text_delta(0, "b", 1), done(0, message_item("a", "b")), ended()
    )
    assert [block.text for block in message.content if isinstance(block, TextContent)] == ["a", "b"]


@pytest.mark.parametrize("with_ids", [True, False])
async def test_items_out_of_order_and_interleaved(with_ids: bool) -> None:
    one, two = call_item('{"n":1}'), call_item('{"n":2}', id="fc_2", call_id="call_2")
    ids = ({"item_id": "fc_1"}, {"item_id": "fc_2"}) if with_ids else ({}, {})
    message = await said(
        added(1, {**two, "arguments": ""}),
        added(0, {**one, "arguments": ""}),
        arguments(0, '{"n"', **ids[0]),
        arguments(1, '{"n":', **ids[1]),
        arguments(0, ":1}", **ids[0]),
        arguments(1, "2}", **ids[1]),
        done(0, one),
        done(1, two),
        ended(output=[one, two]),
    )
    assert {call.id: call.arguments for call in calls_of(message)} == {"call_1": {"n": 1}, "call_2": {"n": 2}}
    assert message.stop_reason == "toolUse"


async def test_items_that_all_claim_the_same_place() -> None:
    text, call = message_item("hi"), call_item("{}")
    message = await said(
        added(0, {**text, "content": []}),
        text_delta(0, "hi"),
        done(0, text),
        added(0, {**call, "arguments": ""}),
        arguments(0, "{}", item_id="fc_1"),
        done(0, call),
        ended(output=[text, call]),
    )
    assert text_of(message) == "hi"
    assert [call.id for call in calls_of(message)] == ["call_1"]


async def test_items_named_by_their_id_only() -> None:
    one, two = call_item('{"n":1}'), call_item('{"n":2}', id="fc_2", call_id="call_2")
    events: list[Json] = [
        *({"type": "response.output_item.added", "item": {**item, "arguments": ""}} for item in (one, two)),
        arguments(0, '{"n":1}', item_id="fc_1"),
        arguments(0, '{"n":2}', item_id="fc_2"),
        *({"type": "response.output_item.done", "item": item} for item in (one, two)),
        ended(),
    ]
    for event in events:
        event.pop("output_index", None)
    message = await said(*events)
    assert [(call.id, call.arguments) for call in calls_of(message)] == [
        ("call_1", {"n": 1}),
        ("call_2", {"n": 2}),
    ]


async def test_the_end_of_a_call_is_its_word_on_the_arguments() -> None:
    message = await said(arguments(0, '{"n":1'), done(0, call_item('{"n":17}')), ended())
    assert [call.arguments for call in calls_of(message)] == [{"n": 17}]
    message = await said(arguments(0, '{"m'), done(0, call_item('{"n":17}')), ended())
    assert [call.arguments for call in calls_of(message)] == [{"n": 17}]


async def test_a_call_without_any_id_gets_one_that_is_the_same_on_every_run() -> None:
    item = {"type": "function_call", "name": "f", "arguments": "{}"}
    message = await said(done(0, item), done(1, item), ended())
    assert len({call.id for call in calls_of(message)}) == 2


@pytest.mark.parametrize("told", ["item-incomplete", "item-in-progress", "not-at-all"])
async def test_the_limit_in_the_middle_of_the_arguments(told: str) -> None:
    cut = call_item('{"path": "/tm', name="rm")
    events = [added(0, {**cut, "arguments": ""}), arguments(0, '{"path": "/tm')]
    if told != "not-at-all":
        cut["status"] = told.removeprefix("item-").replace("-", "_")
        events.append(done(0, cut))
    message = await said(*events, ended("incomplete", incomplete_details={"reason": "max_output_tokens"}))
    assert (message.stop_reason, message.service_stop_reason) == ("length", "max_output_tokens")
    assert calls_of(message) == []
    assert [(call.name, call.reason) for call in invalid_calls_of(message)] == [("rm", "incomplete")]


async def test_a_content_filter_is_an_error() -> None:
    message = await said(
        text_delta(0, "par"), ended("incomplete", incomplete_details={"reason": "content_filter"})
    )
    assert message.stop_reason == "error"
    assert message.error_details is not None
    assert message.error_details.kind == "content_filter"
    assert (text_of(message), message.service_stop_reason) == ("par", "content_filter")


@pytest.mark.parametrize(
    ("code", "kind", "retryable"),
    [
        ("server_error", "overloaded", True),
        ("rate_limit_exceeded", "rate_limit", True),
        ("insufficient_quota", "rate_limit", False),
        ("context_length_exceeded", "context_length", False),
        ("invalid_prompt", "content_filter", False),
        ("invalid_image", "invalid_request", False),
        ("vector_store_timeout", "timeout", True),
        (None, "overloaded", True),
    ],
)
@pytest.mark.parametrize("how", ["failed", "event", "nested"])
async def test_failures_inside_the_stream(code: str | None, kind: str, retryable: bool, how: str) -> None:
    error = {"code": code, "message": "what happened"}
    last: Json = {"type": "error", "sequence_number": 3, "param": None, **error}
    if how == "failed":
        last = ended("failed", error=error)
    elif how == "nested":
        last = {"type": "error", "error": error}
    message = await said(text_delta(0, "par"), last)
    assert (message.stop_reason, text_of(message)) == ("error", "par")
    assert message.error_message == "what happened"
    assert message.error_details is not None
    assert (message.error_details.kind, message.error_details.retryable) == (kind, retryable)


async def test_a_refusal_is_text_that_says_so() -> None:
    delta = {"type": "response.refusal.delta", "output_index": 0, "content_index": 0, "delta": "no"}
    message = await said(delta, ended())
    assert text_of(message) == "no"
    assert (message.stop_reason, message.service_stop_reason) == ("stop", "refusal")


async def test_reasoning_summaries_in_parts() -> None:
    item = {
        "type": "reasoning",
        "id": "rs_1",
        "encrypted_content": "OPAQUE",
        "summary": [{"type": "summary_text", "text": "one"}, {"type": "summary_text", "text": "two"}],
    }
    message = await said(
        added(0, {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "EARLY"}),
        summary(0, 0, "o"),
        summary(0, 0, "ne"),
        summary(0, 1, "two"),
        done(0, item),
        done(1, message_item("ok")),
        ended(),
    )
    first, second, _ = message.content
    assert first == ThinkingContent(thinking="one", signature='{"id":"rs_1"}')
    assert isinstance(second, ThinkingContent)
    assert json.loads(second.signature or "") == {"id": "rs_1", "encrypted_content": "OPAQUE"}


async def test_hidden_reasoning_is_redacted_thinking() -> None:
    item = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "OPAQUE"}
    message = await said(added(0, item), done(0, item), done(1, message_item("ok")), ended())
    thinking = message.content[0]
    assert isinstance(thinking, ThinkingContent)
    assert thinking.redacted
    assert json.loads(thinking.signature or "") == {"id": "rs_1", "encrypted_content": "OPAQUE"}


async def test_open_reasoning() -> None:
    part = {"type": "reasoning_text", "text": "hm"}
    item = {"type": "reasoning", "id": "rs_1", "summary": [], "content": [part]}
    delta = {"type": "response.reasoning_text.delta", "output_index": 0, "content_index": 0, "delta": "hm"}
    start = {"type": "response.content_part.added", "output_index": 0, "content_index": 0, "part": part}
    message = await said(added(0, {**item, "content": []}), start, delta, done(0, item), ended())
    assert thinking_of(message) == "hm"
    assert len(message.content) == 1


async def test_citations_stay_with_their_text() -> None:
    citation = {"type": "url_citation", "url": "https://example.org", "start_index": 0, "end_index": 1}
    note = {
        "type": "response.output_text.annotation.added",
        "output_index": 0,
        "content_index": 0,
        "annotation": citation,
    }
    item = message_item("x")
    item["content"][0]["annotations"] = [citation]
    for events in ([text_delta(0, "x"), note, done(0, item)], [text_delta(0, "x"), done(0, item)]):
        message = await said(*events, ended())
        (block,) = message.content
        assert isinstance(block, TextContent)
        assert block.citations == [citation]


@pytest.mark.parametrize("kind", ["web_search_call", "mcp_call", "image_generation_call", "of_a_later_day"])
async def test_server_side_tools_are_kept_as_what_they_are(kind: str) -> None:
    item = {"type": kind, "id": "x_1", "status": "completed", "result": {"deep": [1, None]}}
    message = await said(added(0, {**item, "status": "in_progress"}), done(0, item), ended(output=[item]))
    assert message.content == [OpaqueContent(kind=kind, data=item)]


async def test_progress_is_no_content_and_unknown_events_are_kept() -> None:
    news = {"type": "response.of_a_later_day", "sequence_number": 5, "value": 1}
    message = await said(
        {"type": "response.web_search_call.searching", "output_index": 0, "item_id": "ws_1"},
        {"type": "response.in_progress", "response": {"id": "resp_7"}},
        {"type": "keepalive", "sequence_number": 4},
        news,
        done(1, message_item("ok")),
        ended(),
    )
    assert message.content[0] == OpaqueContent(kind="event:response.of_a_later_day", data=news)
    assert len(message.content) == 2


async def test_usage() -> None:
    usage = {
        "input_tokens": 20,
        "input_tokens_details": {"cached_tokens": 12, "cache_write_tokens": 3},
        "output_tokens": 7,
        "output_tokens_details": {"reasoning_tokens": 4},
        "total_tokens": 27,
    }
    message = await said(done(0, message_item("x")), ended(usage=usage, model="m-1", service_tier="flex"))
    seen = message.usage
    assert (seen.input, seen.cache_read, seen.cache_write, seen.output) == (5, 12, 3, 7)
    assert (seen.reasoning, seen.total_tokens) == (4, 27)
    assert message.service_details == {"usage": usage, "model": "m-1", "service_tier": "flex"}
    assert message.response_id == "resp_7"


@pytest.mark.parametrize("noise", [b": ping\n\n", b"event: keepalive\n\n", b"event: ping\ndata: \n\n"])
async def test_pings_say_nothing(noise: bytes) -> None:
    body = sse(created(), noise, text_delta(0, "x"), noise, ended(), named=True)
    with WireServer(Reply(body)) as server:
        message = final(await run(PROVIDER, model_at(server, "openai-responses")))
    assert message.content == [TextContent(text="x")]


async def test_events_without_names() -> None:
    body = sse(created(), text_delta(0, "x"), ended(), end="[DONE]", newline="\r\n")
    with WireServer(Reply(body)) as server:
        message = final(await run(PROVIDER, model_at(server, "openai-responses")))
    assert message.content == [TextContent(text="x")]


async def test_a_server_that_does_not_stream() -> None:
    response = ended(output=[message_item("x"), call_item("{}")])["response"]
    with WireServer(Reply(json.dumps(response).encode(), headers=JSON)) as server:
        message = final(await run(PROVIDER, model_at(server, "openai-responses")))
    assert text_of(message) == "x"
    assert message.stop_reason == "toolUse"


async def test_what_follows_the_end_changes_nothing() -> None:
    message = await said(
        text_delta(0, "x"), ended(), text_delta(0, "more"), {"type": "error", "message": "late"}
    )
    assert (text_of(message), message.stop_reason) == ("x", "stop")
