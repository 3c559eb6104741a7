"""Record → replay over a wire API: what every one of them must show, given a few of its answers."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import aclosing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from openprogram_core.providers import (
    AbortSignal,
    ApiProvider,
    AssistantMessageEvent,
    Context,
    Model,
    ProviderError,
    StreamOptions,
    TextContent,
    TextDeltaEvent,
    TextEndEvent,
    ThinkingDeltaEvent,
    ThinkingEndEvent,
    ToolCallDeltaEvent,
    ToolCallEndEvent,
    ToolResultMessage,
    check_event_protocol,
)
from openprogram_core.recordings import read_recording_file
from openprogram_record import RecordingProvider
from openprogram_replay import RecordedCallError, ReplayMismatch, ReplayProvider
from tests.support.wire_bytes import bytewise
from tests.support.wire_calls import HELLO, calls_of, final
from tests.support.wire_server import Reply, WireServer, json_reply


@dataclass(frozen=True)
class Wire:
    """A wire API: its provider, a model at a server, and bodies of answers.

    ``tool_turn`` makes calls with signatures, ``text_turn`` ends the loop, ``beginning`` is an answer up to
    its first piece of text, ``failed`` an error event inside a stream.
    """

    provider: ApiProvider
    model: Callable[[WireServer], Model]
    tool_turn: bytes
    text_turn: Callable[..., bytes]
    beginning: bytes
    failed: bytes
    key_header: str


def endings(wire: Wire) -> Mapping[str, Reply]:
    """The ways a call may fail, by name."""
    return {
        "429": json_reply({"error": {"message": "slow down"}}, 429, {"retry-after": "7"}),
        "500": json_reply({"error": {"message": "oh"}}, 500),
        "401": json_reply({"error": {"message": "no"}}, 401),
        "lost-before": Reply(silent=True, ending="drop"),
        "timeout-before": Reply(silent=True, ending="hold"),
        "lost-inside": Reply(wire.beginning + b'data: {"ty', ending="drop"),
        "timeout-inside": Reply(wire.beginning, ending="hold"),
        "no-end": Reply(wire.beginning),
        "error-inside": Reply(wire.beginning + wire.failed),
    }


ENDING_NAMES = (
    *("429", "500", "401", "lost-before", "timeout-before"),
    *("lost-inside", "timeout-inside", "no-end", "error-inside"),
)


@contextmanager
def no_sockets() -> Iterator[None]:
    """Refuse every connection while the block runs."""

    def refuse(*arguments: Any) -> None:
        raise AssertionError("replay opened a connection")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket.socket, "connect", refuse)
        patch.setattr(socket.socket, "connect_ex", refuse)
        yield


async def gather(
    provider: ApiProvider, model: Model, context: Context = HELLO, options: StreamOptions | None = None
) -> tuple[list[AssistantMessageEvent], ProviderError | None]:
    """Return the events, and what was raised behind them."""
    events: list[AssistantMessageEvent] = []
    try:
        async with aclosing(provider.stream(model, context, options or StreamOptions())) as stream:
            async for event in stream:
                events.append(event)
    except ProviderError as error:
        return events, error
    return events, None


def answered(events: list[AssistantMessageEvent], result: str = "found") -> Context:
    """The conversation with every call of ``events`` answered."""
    message = final(events)
    results = [
        ToolResultMessage(tool_call_id=call.id, tool_name=call.name, content=[TextContent(text=result)])
        for call in calls_of(message)
    ]
    return Context(messages=[*HELLO.messages, message, *results])


async def check_tool_loop(wire: Wire, path: Path) -> None:
    """A loop replays event by event, offline; a changed tool result is named; the right one still works."""
    replies = [Reply(wire.tool_turn, cut=bytewise), Reply(wire.text_turn("dö", "ne"), cut=bytewise)]
    with WireServer(*replies) as server:
        model = wire.model(server)
        recorder = RecordingProvider(wire.provider, path)
        first, _ = await gather(recorder, model)
        context = answered(first)
        second, _ = await gather(recorder, model, context)
        recorder.close()
    assert len(calls_of(final(first))) == 2
    with no_sockets():
        replay = ReplayProvider(path)
        assert (await gather(replay, model))[0] == first
        with pytest.raises(ReplayMismatch) as caught:
            await gather(replay, model, answered(first, "lost"))
        assert (caught.value.call_index, caught.value.recorded) == (1, "found")
        assert caught.value.field_path.endswith(".content[0].text")
        assert (await gather(replay, model, context))[0] == second


async def check_two_runs(wire: Wire, folder: Path) -> None:
    """Two recordings of one run hold the same requests, and the service got the same bytes."""
    requests = []
    with WireServer(*[Reply(wire.tool_turn), Reply(wire.text_turn("done"))] * 2) as server:
        model = wire.model(server)
        for name in ("one", "two"):
            recorder = RecordingProvider(wire.provider, folder / name)
            first, _ = await gather(recorder, model)
            # The time of the message is the one thing that differs from run to run.
            final(first).timestamp = 0
            await gather(recorder, model, answered(first))
            recorder.close()
            with read_recording_file(folder / name) as recording:
                requests.append([call.request() for call in recording.calls])
        bodies = [request.body for request in server.requests]
    assert requests[0] == requests[1]
    assert bodies[:2] == bodies[2:]


async def check_failure(wire: Wire, ending: str, path: Path) -> None:
    """A failed call replays as the same failure: the same events, the same error behind them."""
    options = StreamOptions(timeout_s=0.3)
    with WireServer(endings(wire)[ending]) as server:
        model = wire.model(server)
        recorder = RecordingProvider(wire.provider, path)
        events, error = await gather(recorder, model, HELLO, options)
        recorder.close()
    with no_sockets():
        again, same = await gather(ReplayProvider(path), model, HELLO, options)
    assert again == events
    assert (error is None) == (same is None) == bool(events)
    if error is not None:
        assert isinstance(same, RecordedCallError)
        facts = (error.kind, error.retryable, error.retry_after_s)
        assert (same.kind, same.retryable, same.retry_after_s) == facts


async def check_abort(wire: Wire, path: Path) -> None:
    """An aborted call replays as one."""
    signal = AbortSignal()
    events: list[AssistantMessageEvent] = []
    with WireServer(Reply(wire.beginning, ending="hold")) as server:
        model = wire.model(server)
        recorder = RecordingProvider(wire.provider, path)
        async with aclosing(recorder.stream(model, HELLO, StreamOptions(signal=signal))) as stream:
            async for event in stream:
                events.append(event)
                if isinstance(event, TextDeltaEvent):
                    threading.Timer(0.02, signal.abort).start()
        recorder.close()
    assert final(events).stop_reason == "aborted"
    assert (await gather(ReplayProvider(path), model))[0] == events


async def check_cancellation(wire: Wire, path: Path) -> None:
    """A cancelled call is recorded as cancelled, and its connection closed."""
    seen = asyncio.Event()
    with WireServer(Reply(wire.beginning, ending="hold")) as server:
        recorder = RecordingProvider(wire.provider, path)

        async def consume() -> None:
            async with aclosing(recorder.stream(wire.model(server), HELLO)) as stream:
                async for event in stream:
                    if isinstance(event, TextDeltaEvent):
                        seen.set()

        task = asyncio.create_task(consume())
        await asyncio.wait_for(seen.wait(), 5)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await asyncio.to_thread(server.requests[0].client_left.wait, 5)
        recorder.close()
    with read_recording_file(path) as recording:
        assert [call.outcome for call in recording.calls] == ["cancelled"]


async def check_no_key_in_the_file(wire: Wire, path: Path) -> None:
    """No key reaches the file, not even when the service repeats it; replay needs none."""
    key = "k-" + "0123456789abcdef" * 2
    echo = json_reply({"error": {"message": f"wrong key: {key}"}}, 401)
    with WireServer(Reply(wire.text_turn(f"your key is {key}, ", "yes")), echo) as server:
        recorder = RecordingProvider(wire.provider, path)
        model = wire.model(server)
        events, _ = await gather(recorder, model, HELLO, StreamOptions(api_key=key))
        assert key in str(final(events))
        await gather(recorder, model, HELLO, StreamOptions(api_key=key))
        recorder.close()
        assert all(key in request.headers[wire.key_header] for request in server.requests)
    assert key not in await asyncio.to_thread(path.read_text, "utf-8")
    replay = ReplayProvider(path)
    await gather(replay, model, HELLO, StreamOptions(api_key="another-key-altogether"))
    await gather(replay, model)
    replay.assert_consumed()


def joined(events: list[AssistantMessageEvent]) -> list[Any]:
    """Events with each block's deltas joined, before its end."""
    pieces: dict[int, list[str]] = {}
    found: list[Any] = []
    for event in events:
        if isinstance(event, TextDeltaEvent | ThinkingDeltaEvent | ToolCallDeltaEvent):
            pieces.setdefault(event.content_index, []).append(event.delta)
            continue
        if isinstance(event, TextEndEvent | ThinkingEndEvent | ToolCallEndEvent):
            found.append("".join(pieces.pop(event.content_index, [])))
        found.append(event)
    return found


async def check_sessions(wire: Wire, answers: list[bytes], path: Path) -> None:
    """Answers of the real service replay, piece by piece where no secret could have begun.

    Where one could, the recorder holds the piece back until it knows, at most to the block's end.
    """
    with WireServer(*(Reply(body) for body in answers)) as server:
        model = wire.model(server)
        recorder = RecordingProvider(wire.provider, path)
        live = [(await gather(recorder, model))[0] for _ in answers]
        recorder.close()
    with no_sockets():
        replay = ReplayProvider(path)
        again = [(await gather(replay, model))[0] for _ in answers]
        assert [joined(events) for events in again] == [joined(events) for events in live]
        assert all(check_event_protocol(events) == [] for events in again)
        replay.assert_consumed()
