"""However a call ends: one call_end that says so, the source closed, the control flow as it was."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Callable
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest

from openprogram_core.providers import AssistantMessage, ErrorEvent, ProviderError
from openprogram_core.recordings import read_recording_file
from openprogram_record import RecordingProvider, RecordingSink
from tests.record.recorded import DONE, MODEL, START, FunctionProvider, Stream, asking, delta, drain, ends

ERROR = ErrorEvent(
    reason="error",
    error=AssistantMessage(api="a", provider="p", model="m", stop_reason="error", error_message="cut"),
)


class Source:
    """An async generator function that counts how often it was closed."""

    def __init__(self, function: Callable[[], Stream]) -> None:
        self._function = function
        self.closed = 0

    async def __call__(self) -> Stream:
        try:
            async with aclosing(self._function()) as events:
                async for event in events:
                    yield event
        finally:
            self.closed += 1


async def _good() -> Stream:
    for event in (START, delta(), DONE):
        yield event


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "a.jsonl"


async def _between_others(path: Path, function: Callable[[], Stream], consume: Any) -> dict[str, Any]:
    """Record a sound call, the call in question, and a sound one; returns the middle one's end."""
    source = Source(function)
    with RecordingSink(path) as sink:
        await drain(RecordingProvider(FunctionProvider(_good), sink).stream(MODEL, asking("before")))
        await consume(RecordingProvider(FunctionProvider(source), sink).stream(MODEL, asking("it")))
        assert source.closed == 1
        found = ends(path)
        await drain(RecordingProvider(FunctionProvider(_good), sink).stream(MODEL, asking("after")))
    with read_recording_file(path) as recording:
        assert [call.outcome for call in recording.calls][::2] == ["complete", "complete"]
        assert [call.event_count for call in recording.calls][::2] == [3, 3]
    assert len(found) == 2
    return found[1]


async def test_it_ends_by_itself(path: Path) -> None:
    end = await _between_others(path, _good, drain)
    assert end == {"call_index": 1, "event_count": 3, "outcome": "complete"}


async def test_it_ends_without_done(path: Path) -> None:
    async def source() -> Stream:
        yield START

    end = await _between_others(path, source, drain)
    assert end == {"call_index": 1, "event_count": 1, "outcome": "complete"}


async def test_it_yields_nothing(path: Path) -> None:
    async def source() -> Stream:
        return
        yield START

    end = await _between_others(path, source, drain)
    assert end == {"call_index": 1, "event_count": 0, "outcome": "complete"}


async def test_it_goes_on_after_done(path: Path) -> None:
    async def source() -> Stream:
        yield START
        yield DONE
        yield delta("more")

    end = await _between_others(path, source, drain)
    assert end == {"call_index": 1, "event_count": 3, "outcome": "complete"}


async def test_an_error_event_is_an_event(path: Path) -> None:
    async def source() -> Stream:
        yield START
        yield ERROR

    end = await _between_others(path, source, drain)
    assert end == {"call_index": 1, "event_count": 2, "outcome": "complete"}


@pytest.mark.parametrize("events", [0, 2])
async def test_the_provider_raises(events: int, path: Path) -> None:
    error = ProviderError("rate_limit", "slow down", retryable=True, retry_after_s=1.5, status=429)

    async def source() -> Stream:
        for event in (START, delta())[:events]:
            yield event
        raise error

    async def consume(stream: Stream) -> None:
        with pytest.raises(ProviderError) as raised:
            await drain(stream)
        assert raised.value is error

    end = await _between_others(path, source, consume)
    assert end == {
        "call_index": 1,
        "event_count": events,
        "outcome": "error",
        "error": {
            "type": "ProviderError",
            "message": "slow down",
            "kind": "rate_limit",
            "retryable": True,
            "retry_after_s": 1.5,
        },
    }


async def test_the_provider_raises_before_it_returns_a_stream(path: Path) -> None:
    def start() -> Stream:
        raise LookupError("no such model")

    with RecordingSink(path) as sink, pytest.raises(LookupError):
        await drain(RecordingProvider(FunctionProvider(start), sink).stream(MODEL, asking("x")))
    assert ends(path) == [
        {
            "call_index": 0,
            "event_count": 0,
            "outcome": "error",
            "error": {"type": "LookupError", "message": "no such model"},
        }
    ]


async def test_the_consumer_leaves(path: Path) -> None:
    async def consume(stream: Stream) -> None:
        async with aclosing(stream):
            async for _ in stream:
                break

    end = await _between_others(path, _good, consume)
    assert end == {"call_index": 1, "event_count": 1, "outcome": "abandoned"}


@pytest.mark.parametrize("last", [DONE, ERROR])
async def test_the_consumer_leaves_after_the_last_event(last: Any, path: Path) -> None:
    async def source() -> Stream:
        yield START
        yield last

    async def consume(stream: Stream) -> None:
        async with aclosing(stream):
            async for event in stream:
                if event is last:
                    break

    end = await _between_others(path, source, consume)
    assert end == {"call_index": 1, "event_count": 2, "outcome": "complete"}


async def test_the_consumer_forgets_the_stream(path: Path) -> None:
    async def forget(stream: Stream) -> None:
        async for _ in stream:
            return

    source = Source(_good)
    with RecordingSink(path) as sink:
        await forget(RecordingProvider(FunctionProvider(source), sink).stream(MODEL, asking("x")))
        for _ in range(10):
            gc.collect()
            await asyncio.sleep(0)
        assert source.closed == 1
        assert ends(path) == [{"call_index": 0, "event_count": 1, "outcome": "abandoned"}]


async def test_a_stream_still_open_when_the_sink_closes(path: Path) -> None:
    with RecordingSink(path) as sink:
        provider = RecordingProvider(FunctionProvider(_good), sink)
        done, begun = provider.stream(MODEL, asking("1")), provider.stream(MODEL, asking("2"))
        for _ in range(3):
            await done.__anext__()
        await begun.__anext__()
    assert ends(path) == [
        {"call_index": 0, "event_count": 3, "outcome": "complete"},
        {"call_index": 1, "event_count": 1, "outcome": "abandoned"},
    ]
    with pytest.raises(Exception, match="the recording was closed while the call was running"):
        await begun.__anext__()
    await done.aclose()
    read_recording_file(path).close()


async def test_the_task_is_cancelled(path: Path) -> None:
    waiting = asyncio.Event()

    async def source() -> Stream:
        yield START
        waiting.set()
        await asyncio.sleep(60)

    async def consume(stream: Stream) -> None:
        task = asyncio.create_task(drain(stream))
        await waiting.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert task.cancelled()

    end = await _between_others(path, source, consume)
    assert end == {"call_index": 1, "event_count": 1, "outcome": "cancelled"}


async def test_a_timeout_is_a_cancellation(path: Path) -> None:
    async def source() -> Stream:
        yield START
        await asyncio.sleep(60)

    async def consume(stream: Stream) -> None:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.01):
                await drain(stream)

    end = await _between_others(path, source, consume)
    assert end == {"call_index": 1, "event_count": 1, "outcome": "cancelled"}


async def test_a_provider_that_swallows_the_cancellation_goes_on(path: Path) -> None:
    async def source() -> Stream:
        yield START
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            yield DONE

    async def consume(stream: Stream) -> None:
        task = asyncio.create_task(drain(stream))
        await asyncio.sleep(0.01)
        task.cancel()
        assert await task == [START, DONE]

    end = await _between_others(path, source, consume)
    assert end == {"call_index": 1, "event_count": 2, "outcome": "complete"}


async def test_the_provider_raises_while_it_is_closed(path: Path) -> None:
    error = ConnectionError("while closing")

    async def source() -> Stream:
        try:
            yield START
            yield DONE
        finally:
            raise error

    async def consume(stream: Stream) -> None:
        await stream.__anext__()
        with pytest.raises(ConnectionError) as raised:
            await stream.aclose()
        assert raised.value is error

    end = await _between_others(path, source, consume)
    assert end["outcome"] == "error"
    assert end["error"] == {"type": "ConnectionError", "message": "while closing"}


async def test_what_the_consumer_throws_in_reaches_the_provider(path: Path) -> None:
    caught: list[BaseException] = []

    async def source() -> Stream:
        try:
            yield START
        except KeyError as error:
            caught.append(error)
            yield delta("caught")

    thrown = KeyError("x")
    with RecordingSink(path) as sink:
        stream = RecordingProvider(FunctionProvider(source), sink).stream(MODEL, asking("x"))
        await stream.__anext__()
        assert await stream.athrow(thrown) == delta("caught")
        assert caught == [thrown]
        with pytest.raises(StopAsyncIteration):
            await stream.__anext__()
    assert ends(path) == [{"call_index": 0, "event_count": 2, "outcome": "complete"}]


async def test_what_the_consumer_throws_in_and_gets_back_is_its_leaving(path: Path) -> None:
    async def consume(stream: Stream) -> None:
        await stream.__anext__()
        thrown = KeyError("x")
        with pytest.raises(KeyError) as raised:
            await stream.athrow(thrown)
        assert raised.value is thrown

    end = await _between_others(path, _good, consume)
    assert end == {"call_index": 1, "event_count": 1, "outcome": "abandoned"}


async def test_a_plain_iterator_without_a_way_to_close_it(path: Path) -> None:
    class Plain:
        def __init__(self) -> None:
            self.left = [START, DONE]

        def __aiter__(self) -> Plain:
            return self

        async def __anext__(self) -> Any:
            if not self.left:
                raise StopAsyncIteration
            return self.left.pop(0)

    def start() -> Any:
        return Plain()

    with RecordingSink(path) as sink:
        provider = RecordingProvider(FunctionProvider(start), sink)
        assert await drain(provider.stream(MODEL, asking("1"))) == [START, DONE]
        stream = provider.stream(MODEL, asking("2"))
        await stream.__anext__()
        await stream.aclose()
    assert [end["outcome"] for end in ends(path)] == ["complete", "abandoned"]


async def test_an_error_that_cannot_be_shown(path: Path) -> None:
    class StrangeError(Exception):
        def __str__(self) -> str:
            raise RuntimeError

    async def source() -> Stream:
        yield START
        raise StrangeError

    async def consume(stream: Stream) -> None:
        with pytest.raises(StrangeError):
            await drain(stream)

    end = await _between_others(path, source, consume)
    assert end["error"] == {"type": "StrangeError", "message": "[not recorded: RuntimeError]"}
