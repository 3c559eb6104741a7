from __future__ import annotations

import asyncio
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from openprogram_core.providers import (
    AssistantMessageEvent,
    Context,
    DoneEvent,
    ErrorEvent,
    InvalidToolCall,
    MessageBuilder,
    StartEvent,
    StreamAssembler,
    TextContent,
    TextDeltaEvent,
    ThinkingContent,
    ToolCall,
    Usage,
    check_event_protocol,
    parse_arguments,
    price,
)
from openprogram_core.testing import (
    CallTool,
    Fail,
    Raise,
    Refuse,
    Say,
    ScriptedProvider,
    Step,
    Stop,
    Think,
    scripted_model,
)

TEXT = st.text(max_size=30)
JSON_OBJECTS = st.dictionaries(
    st.text(max_size=5), st.none() | st.integers() | st.text(max_size=8), max_size=4
)
STEPS: st.SearchStrategy[list[Step]] = st.lists(
    st.builds(Say, TEXT)
    | st.builds(Think, TEXT, st.none() | st.text(max_size=8))
    | st.builds(CallTool, st.sampled_from(["add", "sub"]), JSON_OBJECTS | TEXT),
    max_size=5,
)


def run(steps: list[Step], chunking: int = 3) -> list[AssistantMessageEvent]:
    async def collect() -> list[AssistantMessageEvent]:
        provider = ScriptedProvider([steps], chunking=chunking, timestamp=0)
        return [event async for event in provider.stream(scripted_model(), Context())]

    return asyncio.run(collect())


@given(STEPS, st.integers(1, 9), st.sampled_from([None, Stop("length"), Fail("overloaded")]))
@settings(deadline=None, max_examples=60)
def test_a_scripted_stream_obeys_the_protocol_and_rebuilds_to_its_own_message(
    steps: list[Step], chunking: int, end: Step | None
) -> None:
    events = run([*steps, *([end] if end else [])], chunking)
    assert check_event_protocol(events) == []
    builder = MessageBuilder()
    for event in events[:-1]:
        builder.add(event)
    before = builder.message.content
    builder.add(events[-1])
    assert builder.done
    assert builder.message.content == before
    assert builder.message == (
        events[-1].message if isinstance(events[-1], DoneEvent) else events[-1].error  # type: ignore[union-attr]  # the protocol check above says which it is
    )


@given(STEPS, st.integers(1, 9), st.integers(1, 9))
@settings(deadline=None, max_examples=30)
def test_the_message_does_not_depend_on_how_it_was_cut(steps: list[Step], one: int, other: int) -> None:
    assert run(steps, one)[-1] == run(steps, other)[-1]


def test_arguments_that_are_no_json_object_make_a_call_that_cannot_be_run() -> None:
    done = run([CallTool("f", '{"a": '), CallTool("g", "[1]"), CallTool("h", "")])[-1]
    assert isinstance(done, DoneEvent)
    f, g, h = done.message.content
    assert isinstance(f, InvalidToolCall)
    assert isinstance(g, InvalidToolCall)
    assert (f.arguments_text, f.reason, g.reason) == ('{"a": ', "invalid", "invalid")
    assert not hasattr(f, "arguments")
    assert h == ToolCall(id="call_2", name="h", arguments={})


def test_a_limit_in_the_middle_of_the_arguments_makes_the_call_incomplete() -> None:
    assembler = StreamAssembler(scripted_model())
    assembler.tool_call("k", '{"path": "/tm', id="x", name="rm")
    done = assembler.done("length")[-1]
    assert isinstance(done, DoneEvent)
    assert done.message.content == [
        InvalidToolCall(id="x", name="rm", arguments_text='{"path": "/tm', reason="incomplete")
    ]


def test_after_a_failure_no_open_call_may_be_run() -> None:
    events = run([CallTool("done", {"a": 1}), Fail("network", "lost", retryable=True, retry_after_s=2)])
    error = events[-1]
    assert isinstance(error, ErrorEvent)
    assert error.error.error_message == "lost"
    assert error.error.error_details is not None
    assert error.error.error_details.model_dump() == {
        "kind": "network",
        "retryable": True,
        "retry_after_s": 2.0,
    }
    assert error.error.stop_reason == "error"


def test_missing_and_repeated_ids_are_invented_the_same_on_every_run() -> None:
    steps: list[Step] = [CallTool("f", id="same"), CallTool("f", id="same"), CallTool("f")]
    first, second = run(steps)[-1], run(steps)[-1]
    assert first == second
    assert isinstance(first, DoneEvent)
    ids = [block.id for block in first.message.content if isinstance(block, ToolCall)]
    assert len(set(ids)) == 3
    assert ids[0] == "same"


def test_interleaved_blocks_keep_their_places_and_their_content() -> None:
    assembler = StreamAssembler(scripted_model(), timestamp=0)
    events: list[AssistantMessageEvent] = []
    events += assembler.text("t", "he")
    events += assembler.thinking("r", "hm")
    events += assembler.text("t", "llo")
    events += assembler.end("r")
    events += assembler.done("stop")
    assert check_event_protocol(events) == []
    assert events[-1] == DoneEvent(
        reason="stop",
        message=events[-1].message.model_copy(  # type: ignore[union-attr]  # the last one is done
            update={"content": [TextContent(text="hello"), ThinkingContent(thinking="hm")]}
        ),
    )


def test_the_protocol_check_says_where_a_stream_breaks_the_rules() -> None:
    sound = run([Say("abcdef")])

    def reasons(events: list[Any]) -> list[tuple[int, str]]:
        return [(violation.event_index, violation.reason) for violation in check_event_protocol(events)]

    assert reasons(sound) == []
    assert reasons(sound[:-1]) == [(len(sound) - 1, "neither done nor error at the end")]
    assert reasons([]) == [(0, "neither done nor error at the end")]
    assert reasons([*sound, sound[-1]])[0] == (len(sound), "done after the end")
    assert (0, "the first event must be start") in reasons(sound[1:])
    assert (2, "text_delta for content_index 7, where no text block is open") in reasons(
        [*sound[:2], TextDeltaEvent(content_index=7, delta="x"), *sound[2:]]
    )
    assert any("do not join" in reason for _, reason in reasons([*sound[:2], *sound[3:]]))
    assert isinstance(sound[0], StartEvent)


def test_a_price_is_per_million_tokens_and_the_total_is_filled_in() -> None:
    model = scripted_model(cost={"input": 2.0, "output": 8.0, "cache_read": 0.5})
    usage = price(model, Usage(input=1000, output=500, cache_read=2000))
    assert usage.total_tokens == 3500
    assert usage.cost.total == 0.002 + 0.004 + 0.001


@given(st.text())
def test_parsing_arguments_never_raises(text: str) -> None:
    assert parse_arguments(text) is None or isinstance(parse_arguments(text), dict)


async def test_a_refusal_is_raised_and_a_broken_provider_raises_its_own_exception() -> None:
    import pytest

    from openprogram_core.errors import ProviderError

    provider = ScriptedProvider(
        [
            Refuse("rate_limit", "slow", retryable=True, retry_after_s=3),
            [Say("a"), Raise(OSError("gone"))],
        ]
    )
    with pytest.raises(ProviderError) as refused:
        await anext(provider.stream(scripted_model(), Context()))
    assert (refused.value.kind, refused.value.retryable, refused.value.retry_after_s) == (
        "rate_limit",
        True,
        3,
    )
    with pytest.raises(OSError, match="gone"):
        _ = [event async for event in provider.stream(scripted_model(), Context())]
    with pytest.raises(ProviderError, match="the script has 2 turns; this is call 3"):
        await anext(provider.stream(scripted_model(), Context()))
    assert len(provider.calls) == 3
