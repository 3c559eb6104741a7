from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from openprogram_core import hookimpl
from openprogram_core.comparison import FieldVerdict
from openprogram_core.errors import PluginError, RecordingFileError
from openprogram_core.providers import (
    ApiProvider,
    AssistantMessageEvent,
    Context,
    StreamOptions,
    complete,
    stream,
)
from openprogram_replay import RecordedCallError, ReplayMismatch, ReplayProvider, replaying
from tests.replay.sessions import MODEL, Call, agent_run, ask, say, write_recording


async def play(provider: ApiProvider, call: Call) -> list[AssistantMessageEvent]:
    return [event async for event in provider.stream(call.model, call.context, call.options)]


async def collect(events: AsyncIterator[AssistantMessageEvent], seen: list[AssistantMessageEvent]) -> None:
    async for event in events:
        seen.append(event)


async def test_the_events_come_back_equal_and_in_order(tmp_path: Path) -> None:
    calls = agent_run()
    provider = ReplayProvider(write_recording(tmp_path / "run.jsonl", calls))
    for used, call in enumerate(calls):
        assert provider.calls_used == used
        assert await play(provider, call) == list(call.events)
    provider.assert_consumed()


async def test_another_key_and_another_time_make_no_difference(tmp_path: Path) -> None:
    call = Call(ask("hi"), say("hello"), options=StreamOptions(api_key="recorded"))
    provider = ReplayProvider(write_recording(tmp_path / "run.jsonl", [call, call]))
    for key in (None, "another"):
        call.context.messages[0].timestamp += 1
        call.options = StreamOptions(api_key=key)
        assert await play(provider, call) == list(call.events)


async def test_a_changed_word_is_named_and_uses_up_nothing(tmp_path: Path) -> None:
    calls = [Call(ask("zero"), say("0")), Call(ask("echo:hi"), say("1"))]
    provider = ReplayProvider(write_recording(tmp_path / "run.jsonl", calls))
    await play(provider, calls[0])
    with pytest.raises(ReplayMismatch) as caught:
        await play(provider, Call(ask("echo:bye"), []))
    mismatch = caught.value
    assert str(mismatch) == (
        "replay mismatch at call 1, field context.messages[0].content: "
        "recorded 'echo:hi', incoming 'echo:bye'"
    )
    assert (mismatch.call_index, mismatch.field_path) == (1, "context.messages[0].content")
    assert (mismatch.recorded, mismatch.incoming, mismatch.event_index) == ("echo:hi", "echo:bye", None)
    assert provider.calls_used == 1
    assert await play(provider, calls[1]) == list(calls[1].events)
    with pytest.raises(ReplayMismatch, match="echo:bye"):
        provider.assert_consumed()


async def test_a_call_more_than_recorded(tmp_path: Path) -> None:
    call = Call(ask("hi"), say("hello"))
    provider = ReplayProvider(write_recording(tmp_path / "run.jsonl", [call, call, call]))
    for _ in range(3):
        await play(provider, call)
    with pytest.raises(ReplayMismatch) as caught:
        await play(provider, call)
    assert str(caught.value) == (
        "replay mismatch at call 3, field call_index: recorded '3 calls', incoming 'one more call'"
    )
    assert "recorded 3 times, used 3 times, this is the fourth time" in caught.value.report()


async def test_calls_left_over_are_named(tmp_path: Path) -> None:
    calls = agent_run()
    provider = ReplayProvider(write_recording(tmp_path / "run.jsonl", calls))
    await play(provider, calls[0])
    with pytest.raises(
        ReplayMismatch, match="recorded '4 calls', incoming '1 call, not made: 1, 2, 3'"
    ) as caught:
        provider.assert_consumed()
    assert (caught.value.call_index, caught.value.field_path) == (1, "call_index")
    assert "  call 2: small-1, 6 messages" in caught.value.report()


async def test_a_call_begins_with_its_first_event(tmp_path: Path) -> None:
    calls = [Call(ask("a"), say("1")), Call(ask("b"), say("2"))]
    provider = ReplayProvider(write_recording(tmp_path / "run.jsonl", calls))
    second = provider.stream(MODEL, calls[1].context, StreamOptions())
    first = provider.stream(MODEL, calls[0].context, StreamOptions())
    assert provider.calls_used == 0
    assert [event async for event in first] == list(calls[0].events)
    assert [event async for event in second] == list(calls[1].events)


@pytest.mark.parametrize("outcome", ["error", "cancelled"])
async def test_a_recorded_failure_fails_again_after_its_events(tmp_path: Path, outcome: str) -> None:
    failed = Call(
        ask("hi"),
        say("hello")[:3],
        outcome=outcome,
        error={
            "type": "RateLimitError",
            "message": "slow down",
            "kind": "rate_limit",
            "retryable": True,
            "retry_after_s": 2.5,
        },
    )
    fine = Call(ask("hi"), say("hello"))
    provider = ReplayProvider(write_recording(tmp_path / "run.jsonl", [fine, failed, fine]))
    assert await play(provider, fine) == list(fine.events)
    seen: list[AssistantMessageEvent] = []
    with pytest.raises(RecordedCallError, match="slow down") as caught:
        await collect(provider.stream(MODEL, failed.context, failed.options), seen)
    assert seen == list(failed.events)
    error = caught.value
    assert (error.kind, error.retryable, error.retry_after_s) == ("rate_limit", True, 2.5)
    assert (error.type, error.outcome, error.call_index) == ("RateLimitError", outcome, 1)
    assert await play(provider, fine) == list(fine.events)
    provider.assert_consumed()


async def test_a_failure_recorded_without_facts_is_one_too(tmp_path: Path) -> None:
    call = Call(ask("hi"), [], outcome="error")
    provider = ReplayProvider(write_recording(tmp_path / "run.jsonl", [call]))
    with pytest.raises(RecordedCallError, match="call 0 was recorded as error") as caught:
        await play(provider, call)
    assert (caught.value.kind, caught.value.retryable, caught.value.type) == ("protocol", False, None)


async def test_leaving_where_the_recorded_consumer_left_is_fine_reading_on_is_not(tmp_path: Path) -> None:
    call = Call(ask("hi"), say("hello")[:3], outcome="abandoned")
    provider = ReplayProvider(write_recording(tmp_path / "run.jsonl", [call, call]))
    events = provider.stream(MODEL, call.context, call.options)
    assert [await anext(events) for _ in range(3)] == list(call.events)
    await events.aclose()
    provider2 = provider.stream(MODEL, call.context, call.options)
    with pytest.raises(ReplayMismatch) as caught:
        [event async for event in provider2]
    assert (caught.value.call_index, caught.value.event_index) == (1, 3)
    assert caught.value.field_path == "event_index"
    assert str(caught.value) == (
        "replay mismatch at call 1, field event_index: recorded 'left after 3 events', "
        "incoming 'asks for event 3'"
    )
    with pytest.raises(ReplayMismatch, match="event_index"):
        provider.assert_consumed()


async def test_a_stream_recorded_without_an_end_ends_without_one(tmp_path: Path) -> None:
    call = Call(ask("hi"), say("hello")[:-1])
    provider = ReplayProvider(write_recording(tmp_path / "run.jsonl", [call]))
    assert await play(provider, call) == list(call.events)


def test_a_file_that_is_no_recording_is_refused_before_anything_is_replayed(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("hello\n")
    with pytest.raises(RecordingFileError):
        ReplayProvider(tmp_path / "x")
    with pytest.raises(RecordingFileError):
        ReplayProvider(tmp_path / "none.jsonl")
    with pytest.raises(ValueError, match="'ordered' or 'any-order'"):
        ReplayProvider(tmp_path / "x", order="random")  # type: ignore[arg-type] # the point of the test


async def test_replaying_serves_every_api_without_a_key(tmp_path: Path) -> None:
    calls = [
        Call(ask("a"), say("1")),
        Call(ask("b"), say("2"), model=MODEL.model_copy(update={"api": "other"})),
    ]
    with replaying(write_recording(tmp_path / "run.jsonl", calls)) as replay:
        assert (await complete(MODEL, ask("a"))).content[0].text == "1"  # type: ignore[union-attr] # it is text
        assert replay.calls_used == 1
        got = [event async for event in stream(calls[1].model, ask("b"))]
        assert got == list(calls[1].events)
        replay.assert_consumed()
    assert replay.provider.calls_used == 2


async def test_an_api_that_was_not_recorded_is_a_mismatch_never_live(tmp_path: Path) -> None:
    path = write_recording(tmp_path / "run.jsonl", [Call(ask("a"), say("1"))])
    other = MODEL.model_copy(update={"api": "openai-completions"})
    with (
        pytest.raises(ReplayMismatch, match="recorded 'test-chat', incoming 'openai-completions'"),
        replaying(path),
    ):
        await complete(other, ask("a"))


async def test_replaying_fails_when_calls_are_left_over(tmp_path: Path) -> None:
    path = write_recording(tmp_path / "run.jsonl", [Call(ask("a"), say("1"))])
    with pytest.raises(ReplayMismatch, match="not made: 0"), replaying(path):
        pass


async def retrying_agent(context: Context) -> str:
    for _ in range(3):
        try:
            await complete(MODEL, context)
        except Exception:
            continue
    return "gave up, and said nothing"


async def swallowing_run(path: Path, end: Exception | None = None) -> None:
    with replaying(path):
        assert await retrying_agent(ask("b")) == "gave up, and said nothing"
        if end is not None:
            raise end
        await complete(MODEL, ask("a"))


async def test_a_swallowed_mismatch_still_fails_the_run(tmp_path: Path) -> None:
    path = write_recording(tmp_path / "run.jsonl", [Call(ask("a"), say("1"))])
    with pytest.raises(ReplayMismatch, match="recorded 'a', incoming 'b'") as caught:
        await swallowing_run(path)
    (note,) = caught.value.__notes__
    assert "call 0 has 1 difference" in note
    assert note.endswith("It was the first; 2 more mismatches came after it.")


async def test_what_the_block_raises_is_not_masked(tmp_path: Path) -> None:
    path = write_recording(tmp_path / "run.jsonl", [Call(ask("a"), say("1"))])
    with pytest.raises(KeyError) as caught, replaying(path):
        raise KeyError("mine")
    assert not hasattr(caught.value, "__notes__")
    with pytest.raises(KeyError) as caught:
        await swallowing_run(path, KeyError("mine"))
    assert "recorded 'a', incoming 'b'" in caught.value.__notes__[0]


async def test_skips_and_plugins_of_one_test(tmp_path: Path) -> None:
    path = write_recording(tmp_path / "run.jsonl", [Call(ask("a"), say("1"))])
    with replaying(path, skip=["context.messages[*].content"]):
        await complete(MODEL, ask("b"))


async def test_a_swallowed_failure_of_a_plugin_fails_the_run_too(tmp_path: Path) -> None:
    class Broken:
        @hookimpl
        def compare_field(self) -> FieldVerdict:
            raise ValueError

    path = write_recording(tmp_path / "run.jsonl", [Call(ask("a"), say("1"))])
    provider = ReplayProvider(path, plugins=[Broken()])
    with pytest.raises(PluginError, match="plugin 'Broken', hook compare_field"):
        await play(provider, Call(ask("b"), []))
    await play(provider, Call(ask("a"), []))
    with pytest.raises(PluginError, match="plugin 'Broken', hook compare_field"):
        provider.assert_consumed()


def test_a_plugin_that_breaks_its_contract_fails_the_constructor(tmp_path: Path) -> None:
    class Broken:
        @hookimpl
        def field_skips(self) -> list[str]:
            return ["timestamp"]

    path = write_recording(tmp_path / "run.jsonl", [Call(ask("a"), say("1"))])
    with pytest.raises(PluginError, match="plugin 'Broken', hook field_skips"):
        ReplayProvider(path, plugins=[Broken()])
