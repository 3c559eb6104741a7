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
    OpaqueContent,
    TextContent,
    ThinkingContent,
    ToolCall,
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
    thinking_of,
    timeless,
)
from tests.support.wire_server import Reply, WireServer
from tests.wire_google.wire import PROVIDER, ask, call, chunk, gemini, stop


def shapes(prefix: str) -> list[Any]:
    try:
        path = shared_path("cases/stream-shapes.json")
    except pytest.skip.Exception as reason:
        return [pytest.param({}, marks=pytest.mark.skip(reason=str(reason)))]
    found = json.loads(path.read_text("utf-8"))
    cases = found["cases"] if isinstance(found, dict) else found
    return [pytest.param(case, id=case["id"]) for case in cases if case["id"].startswith(prefix)]


@pytest.mark.parametrize("case", shapes("g"))
async def test_shared_shape(case: dict[str, Any]) -> None:
    newline = "\r\n" if case["framing"] == "crlf" else "\n"
    body = sse(*case["data"], newline=newline, end=case["end"] or None)
    with WireServer(*(Reply(body, cut=cut) for cut in CUTS.values())) as server:
        runs = [await collect(PROVIDER, gemini(server)) for _ in CUTS]
    check_expectation(case, runs[0])
    assert all(timeless(run) == timeless(runs[0]) for run in runs)


async def test_text_and_a_call_in_one_chunk() -> None:
    message = final(await ask(chunk({"text": "hi "}, {"text": "there"}, call(args={"a": 1})), stop()))
    assert text_of(message) == "hi there"
    assert [one.arguments for one in calls_of(message)] == [{"a": 1}]
    assert message.stop_reason == "toolUse"


async def test_ids_of_the_service_are_kept_and_repeated_ones_made_different() -> None:
    payloads = [chunk(call(id="x"), call(id="x"), call(), call(id="y")), stop()]
    runs = [[one.id for one in calls_of(final(await ask(*payloads)))] for _ in range(2)]
    assert runs[0] == runs[1]
    assert (runs[0][0], runs[0][3]) == ("x", "y")
    assert len(set(runs[0])) == 4


async def test_an_invented_id_is_not_one_of_the_conversation() -> None:
    first = final(await ask(chunk(call()), stop()))
    context = Context(messages=[UserMessage(content="a"), first])
    second = final(await ask(chunk(call()), stop(), context=context))
    assert calls_of(first)[0].id != calls_of(second)[0].id


@pytest.mark.parametrize("arguments", [[1], "text", 7])
async def test_arguments_that_are_no_object_are_an_invalid_call(arguments: Any) -> None:
    message = final(await ask(chunk(call(args=arguments)), stop()))
    assert calls_of(message) == []
    assert json.loads(bad_calls_of(message)[0].arguments_text) == arguments


async def test_a_call_without_arguments_and_one_with_null() -> None:
    message = final(await ask(chunk(call(), call(args=None)), stop()))
    assert [one.arguments for one in calls_of(message)] == [{}, {}]


async def test_a_call_without_a_name_is_not_to_be_run() -> None:
    message = final(await ask(chunk({"functionCall": {"args": {}}}), stop()))
    assert calls_of(message) == []
    assert len(bad_calls_of(message)) == 1


async def test_thoughts_and_text_are_blocks_of_their_own() -> None:
    message = final(
        await ask(
            chunk({"text": "hm", "thought": True}),
            chunk({"text": ", yes", "thought": True}),
            chunk({"text": "ok"}),
            chunk({"text": " then"}, finish="STOP"),
        )
    )
    assert message.content == [ThinkingContent(thinking="hm, yes"), TextContent(text="ok then")]


async def test_each_signed_part_is_a_block_of_its_own() -> None:
    message = final(
        await ask(
            chunk({"text": "why", "thought": True, "thoughtSignature": "S1"}),
            chunk({"text": "un"}, {"text": "signed"}),
            chunk({"text": "signed", "thoughtSignature": "S2"}, {"text": " more"}),
            chunk({"text": "", "thoughtSignature": "S3"}),
            chunk(call(signature="S4"), call()),
            stop(),
        )
    )
    assert message.content == [
        ThinkingContent(thinking="why", signature="S1"),
        TextContent(text="unsigned"),
        TextContent(text="signed", signature="S2"),
        TextContent(text=" more"),
        TextContent(text="", signature="S3"),
        ToolCall(id="call_5", name="f", arguments={}, signature="S4"),
        ToolCall(id="call_6", name="f", arguments={}),
    ]


async def test_parts_of_other_kinds_are_kept_whole_in_their_place() -> None:
    code = {"executableCode": {"language": "PYTHON", "code": "1+1"}, "thoughtSignature": "S"}
    result = {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "2"}}
    image = {"inlineData": {"mimeType": "image/png", "data": "aGk="}}
    unknown = {"hologram": {"size": 3}}
    parts = [{"text": "a"}, code, result, {"text": "b"}, image, unknown]
    message = final(await ask(chunk(*parts), stop()))
    assert message.content == [
        TextContent(text="a"),
        OpaqueContent(kind="executableCode", data=code),
        OpaqueContent(kind="codeExecutionResult", data=result),
        TextContent(text="b"),
        OpaqueContent(kind="inlineData", data=image),
        OpaqueContent(kind="hologram", data=unknown),
    ]
    assert message.stop_reason == "stop"


async def test_a_call_that_comes_in_pieces_is_not_handed_over_as_one_to_run() -> None:
    part = {"functionCall": {"name": "f", "willContinue": True, "partialArgs": [{"jsonPath": "$.a"}]}}
    message = final(await ask(chunk(part), stop()))
    assert message.content == [OpaqueContent(kind="functionCall", data=part)]


async def test_what_stands_beside_a_text_is_kept_and_the_text_stays_text() -> None:
    message = final(await ask(chunk({"text": "a", "partMetadata": {"k": 1}}), stop()))
    assert text_of(message) == "a"
    assert OpaqueContent(kind="partMetadata", data={"k": 1}) in message.content


async def test_grounding_is_kept_once_and_citations_belong_to_the_text() -> None:
    grounding = {"webSearchQueries": ["shoes"], "groundingChunks": [{"web": {"uri": "https://a.example"}}]}
    source = {"startIndex": 0, "endIndex": 3, "uri": "https://a.example"}
    other = {"startIndex": 4, "endIndex": 6, "uri": "https://b.example"}
    message = final(
        await ask(
            chunk({"text": "abc"}, citationMetadata={"citationSources": [source]}),
            chunk(
                {"text": " de"},
                groundingMetadata=grounding,
                citationMetadata={"citationSources": [source, other]},
            ),
            stop(groundingMetadata=grounding, safetyRatings=[{"category": "C"}]),
        )
    )
    assert message.content == [
        TextContent(text="abc de", citations=[source, other]),
        OpaqueContent(kind="groundingMetadata", data=grounding),
    ]
    assert message.service_details is not None
    assert message.service_details["safetyRatings"] == [{"category": "C"}]
    assert message.service_details["modelVersion"] == "m"


async def test_a_citation_without_text_is_kept() -> None:
    source = {"uri": "https://a.example"}
    message = final(await ask(chunk(call()), stop(citationMetadata={"citations": [source]})))
    assert message.content[1] == OpaqueContent(kind="citation", data=source)


async def test_a_second_candidate_never_mixes_into_the_first() -> None:
    first = chunk({"text": "a"}, finish="STOP")
    first["candidates"].append({"content": {"parts": [{"text": "b"}]}, "index": 1, "finishReason": "SAFETY"})
    message = final(await ask(first))
    assert (text_of(message), message.stop_reason) == ("a", "stop")


async def test_counts_are_running_totals_of_which_the_last_counts() -> None:
    early = {"promptTokenCount": 100, "thoughtsTokenCount": 20, "candidatesTokenCount": 1}
    late = {
        "promptTokenCount": 120,
        "candidatesTokenCount": 9,
        "cachedContentTokenCount": 80,
        "toolUsePromptTokenCount": 5,
        "totalTokenCount": 154,
    }
    message = final(await ask(chunk({"text": "a"}, usage=early), chunk(finish="STOP", usage=late)))
    usage = message.usage
    assert (usage.input, usage.cache_read) == (45, 80)
    assert (usage.output, usage.reasoning, usage.total_tokens) == (29, 20, 154)
    assert message.service_details is not None
    assert message.service_details["usageMetadata"] == {**early, **late}


async def test_usage_after_the_finish_reason() -> None:
    usage = {"promptTokenCount": 5, "candidatesTokenCount": 3, "totalTokenCount": 8}
    message = final(await ask(chunk({"text": "a"}, finish="STOP"), {"usageMetadata": usage}))
    assert (message.usage.input, message.usage.output) == (5, 3)


async def test_the_start_does_not_change_when_more_comes() -> None:
    usage = {"promptTokenCount": 5}
    events = await ask(chunk({"text": "a"}, usage=usage), stop())
    start = events[0].model_dump()["message"]
    assert start["service_details"]["usageMetadata"] == usage


@pytest.mark.parametrize(
    ("word", "reason"), [("STOP", "stop"), ("MAX_TOKENS", "length"), ("CONTINUATION", "length")]
)
async def test_stop_reasons_keep_the_services_own_word(word: str, reason: str) -> None:
    message = final(await ask(chunk({"text": "a"}), stop(word)))
    assert (message.stop_reason, message.service_stop_reason) == (reason, word)


async def test_an_answer_that_can_be_continued_is_not_continued_by_itself() -> None:
    reply = sse(chunk({"text": "a"}), stop("CONTINUATION", continuationToken="VE9LRU4="))
    with WireServer(Reply(reply)) as server:
        message = final(await collect(PROVIDER, gemini(server)))
        assert len(server.requests) == 1
    assert message.service_details is not None
    assert message.service_details["continuationToken"] == "VE9LRU4="


async def test_empty_parts_and_chunks_without_content_are_nothing() -> None:
    odd = {"candidates": [{"index": 0}]}
    message = final(await ask(odd, {"candidates": []}, {}, chunk({"text": ""}), chunk({"text": "a"}), stop()))
    assert message.content == [TextContent(text="a")]


async def test_comments_and_event_lines_of_a_gateway_are_no_content() -> None:
    noise = b": keep-alive\r\n\r\n"
    named = b"event: message\r\nid: 7\r\n" + sse(chunk({"text": "a"}), newline="\r\n")
    bare = sse(stop(), newline="\r\n").replace(b"data: ", b"data:")
    events = await ask(noise, named, noise, bare, b"data: [DONE]\r\n\r\n")
    assert text_of(final(events)) == "a"
    assert isinstance(events[-1], DoneEvent)


async def test_json_on_several_data_lines() -> None:
    body = sse(chunk({"text": "é\u2028\u0085"}), stop(), newline="\r\n", indent=1)
    with WireServer(Reply(body, cut=bytewise)) as server:
        assert text_of(final(await collect(PROVIDER, gemini(server)))) == "é\u2028\u0085"


async def test_a_chunk_longer_than_a_megabyte() -> None:
    image = {"inlineData": {"mimeType": "image/png", "data": "A" * 1_500_000}}
    message = final(await ask(chunk(image), stop()))
    assert message.content == [OpaqueContent(kind="inlineData", data=image)]


async def test_a_field_nobody_knows_is_kept() -> None:
    odd = {**chunk({"text": "a"}, mood={"sunny": True}), "weather": "fine"}
    message = final(await ask(odd, stop()))
    assert OpaqueContent(kind="mood", data={"sunny": True}) in message.content
    assert message.service_details is not None
    assert message.service_details["weather"] == "fine"


words = st.text(st.characters(codec="utf-8"), max_size=12)


@settings(max_examples=25, deadline=None)
@given(
    pieces=st.lists(st.tuples(words, st.booleans()), min_size=1, max_size=6),
    seed=st.integers(0, 10_000),
    crlf=st.booleans(),
)
async def test_any_text_in_any_pieces_cut_anywhere(
    pieces: list[tuple[str, bool]], seed: int, crlf: bool
) -> None:
    chunks = [chunk({"text": text, "thought": thought}) for text, thought in pieces]
    message = final(await ask(*chunks, stop(), cut=at_random(seed), newline="\r\n" if crlf else "\n"))
    assert text_of(message) == "".join(text for text, thought in pieces if not thought)
    assert thinking_of(message) == "".join(text for text, thought in pieces if thought)


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 100_000))
async def test_whatever_the_service_sends_the_events_obey_the_protocol(seed: int) -> None:
    chance = random.Random(seed)
    signed = {"text": "t", "thought": True, "thoughtSignature": "s"}
    cited = {"citationSources": [{"uri": "u"}]}
    payloads = [
        chunk({"text": "a"}, signed, call(args={"a": 1}, id="x", signature="S")),
        chunk({"executableCode": {}}, citationMetadata=cited, groundingMetadata={"q": 1}),
        {"promptFeedback": {}},
        stop(),
    ]
    sent = [mangled(payload, chance) for payload in payloads]
    if chance.random() < 0.3:
        chance.shuffle(sent)
    with WireServer(Reply(sse(*sent))) as server:
        await collect(PROVIDER, gemini(server))
