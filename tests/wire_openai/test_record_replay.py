"""Record → replay over both wire APIs: the same events and the same failures, with every socket refused."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Iterator
from contextlib import aclosing, contextmanager
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
    ToolResultMessage,
)
from openprogram_core.recordings import read_recording_file
from openprogram_record import RecordingProvider
from openprogram_replay import RecordedCallError, ReplayMismatch, ReplayProvider
from tests.support.adapter_runs import HELLO, calls_of, final
from tests.support.wire_bytes import bytewise
from tests.support.wire_server import Reply, WireServer, json_reply
from tests.wire_openai.bodies import (
    BEGINNINGS,
    TEXT_BODIES,
    call_item,
    call_piece,
    chat,
    chunk,
    created,
    done,
    ended,
    responses,
)
from tests.wire_openai.models import PROVIDERS, model_at

pytestmark = pytest.mark.parametrize("api", PROVIDERS)

REASONING = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAAA" + "x" * 60}
TOOL_TURNS = {
    "openai-completions": chat(
        chunk({"reasoning": "look"}),
        chunk({"tool_calls": [call_piece(0, '{"a"', id="call_1", name="f")]}),
        chunk({"tool_calls": [call_piece(0, ":1}"), call_piece(1, "{}", id="call_2", name="g")]}),
        chunk(finish="tool_calls", usage={"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}),
    ),
    "openai-responses": responses(
        created(),
        done(0, REASONING),
        done(1, call_item('{"a":1}')),
        done(2, call_item("{}", id="fc_2", call_id="call_2", name="g")),
        ended(usage={"input_tokens": 3, "output_tokens": 2, "total_tokens": 5}),
    ),
}


@contextmanager
def no_sockets(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    def refuse(*arguments: Any) -> None:
        raise AssertionError("replay opened a connection")

    with monkeypatch.context() as patch:
        patch.setattr(socket.socket, "connect", refuse)
        patch.setattr(socket.socket, "connect_ex", refuse)
        yield


async def collect(
    provider: ApiProvider, model: Model, context: Context = HELLO, options: StreamOptions | None = None
) -> tuple[list[AssistantMessageEvent], Exception | None]:
    """Return the events, and what was raised behind them."""
    events: list[AssistantMessageEvent] = []
    try:
        async with aclosing(provider.stream(model, context, options or StreamOptions())) as stream:
            async for event in stream:
                events.append(event)
    except ProviderError as error:
        return events, error
    return events, None


def loop_context(events: list[AssistantMessageEvent]) -> Context:
    message = final(events)
    results = [
        ToolResultMessage(tool_call_id=call.id, tool_name=call.name, content=[TextContent(text="found")])
        for call in calls_of(message)
    ]
    return Context(messages=[*HELLO.messages, message, *results])


async def test_a_tool_loop(api: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "loop.jsonl"
    replies = [Reply(TOOL_TURNS[api], cut=bytewise), Reply(TEXT_BODIES[api]("dö", "ne"), cut=bytewise)]
    with WireServer(*replies) as server:
        model = model_at(server, api, reasoning=True)
        recorder = RecordingProvider(PROVIDERS[api], path)
        first, _ = await collect(recorder, model)
        context = loop_context(first)
        second, _ = await collect(recorder, model, context)
        recorder.close()
    with no_sockets(monkeypatch):
        replay = ReplayProvider(path)
        assert (await collect(replay, model))[0] == first
        assert loop_context(first) == context
        assert (await collect(replay, model, context))[0] == second
        replay.assert_consumed()
    assert len(calls_of(final(first))) == 2


async def test_a_changed_tool_result_is_named(api: str, tmp_path: Path) -> None:
    path = tmp_path / "loop.jsonl"
    with WireServer(Reply(TOOL_TURNS[api]), Reply(TEXT_BODIES[api]("done"))) as server:
        model = model_at(server, api)
        recorder = RecordingProvider(PROVIDERS[api], path)
        first, _ = await collect(recorder, model)
        context = loop_context(first)
        second, _ = await collect(recorder, model, context)
        recorder.close()
    replay = ReplayProvider(path)
    await collect(replay, model)
    changed = context.model_copy(deep=True)
    answer = changed.messages[-1]
    assert isinstance(answer, ToolResultMessage)
    answer.content = [TextContent(text="lost")]
    with pytest.raises(ReplayMismatch) as caught:
        await collect(replay, model, changed)
    found = caught.value
    assert (found.call_index, found.recorded, found.incoming) == (1, "found", "lost")
    assert found.field_path == f"context.messages[{len(changed.messages) - 1}].content[0].text"
    assert (await collect(replay, model, context))[0] == second


async def test_two_recordings_of_one_run_hold_the_same_requests(api: str, tmp_path: Path) -> None:
    requests = []
    with WireServer(*[Reply(TOOL_TURNS[api]), Reply(TEXT_BODIES[api]("done"))] * 2) as server:
        model = model_at(server, api)
        for name in ("one", "two"):
            recorder = RecordingProvider(PROVIDERS[api], tmp_path / name)
            first, _ = await collect(recorder, model)
            # The time of the message is the one thing that differs from run to run.
            final(first).timestamp = 0
            await collect(recorder, model, loop_context(first))
            recorder.close()
            with read_recording_file(tmp_path / name) as recording:
                requests.append([call.request() for call in recording.calls])
        bodies = [request.body for request in server.requests]
    assert requests[0] == requests[1]
    assert bodies[:2] == bodies[2:]


ENDINGS: dict[str, Any] = {
    "429": json_reply({"error": {"message": "slow down"}}, 429, {"retry-after": "7"}),
    "500": json_reply({"error": {"message": "oh"}}, 500),
    "401": json_reply({"error": {"message": "no"}}, 401),
    "lost-before": Reply(silent=True, ending="drop"),
    "timeout-before": Reply(silent=True, ending="hold"),
    "lost-inside": lambda api: Reply(BEGINNINGS[api] + b'data: {"ch', ending="drop"),
    "timeout-inside": lambda api: Reply(BEGINNINGS[api], ending="hold"),
    "no-end": lambda api: Reply(BEGINNINGS[api]),
    "error-inside": lambda api: Reply(
        BEGINNINGS[api] + b'data: {"error": {"message": "x", "code": 503}}\n\n'
    ),
}


@pytest.mark.parametrize("ending", ENDINGS)
async def test_failures_replay_as_the_same(
    api: str, ending: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reply = ENDINGS[ending]
    path = tmp_path / "failure.jsonl"
    options = StreamOptions(timeout_s=0.3)
    with WireServer(reply(api) if callable(reply) else reply) as server:
        model = model_at(server, api)
        recorder = RecordingProvider(PROVIDERS[api], path)
        events, error = await collect(recorder, model, HELLO, options)
        recorder.close()
    with no_sockets(monkeypatch):
        again, same = await collect(ReplayProvider(path), model, HELLO, options)
    assert again == events
    assert (error is None) == (same is None)
    assert (error is None) == bool(events)
    if isinstance(error, ProviderError):
        assert isinstance(same, RecordedCallError)
        assert (same.kind, same.retryable, same.retry_after_s) == (
            error.kind,
            error.retryable,
            error.retry_after_s,
        )


async def test_an_aborted_call_replays_as_one(api: str, tmp_path: Path) -> None:
    path = tmp_path / "aborted.jsonl"
    signal = AbortSignal()
    with WireServer(Reply(BEGINNINGS[api], ending="hold")) as server:
        model = model_at(server, api)
        recorder = RecordingProvider(PROVIDERS[api], path)
        events: list[AssistantMessageEvent] = []
        async with aclosing(recorder.stream(model, HELLO, StreamOptions(signal=signal))) as stream:
            async for event in stream:
                events.append(event)
                if isinstance(event, TextDeltaEvent):
                    signal.abort()
        recorder.close()
    assert final(events).stop_reason == "aborted"
    assert (await collect(ReplayProvider(path), model))[0] == events


async def test_a_cancelled_call_is_recorded_as_cancelled(api: str, tmp_path: Path) -> None:
    path = tmp_path / "cancelled.jsonl"
    seen = asyncio.Event()
    with WireServer(Reply(BEGINNINGS[api], ending="hold")) as server:
        recorder = RecordingProvider(PROVIDERS[api], path)

        async def consume() -> None:
            async with aclosing(recorder.stream(model_at(server, api), HELLO)) as stream:
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


async def test_no_key_reaches_the_file(api: str, tmp_path: Path) -> None:
    path = tmp_path / "key.jsonl"
    key = "k-" + "0123456789abcdef" * 2
    echo = json_reply({"error": {"message": f"Incorrect API key provided: {key}"}}, 401)
    with WireServer(Reply(TEXT_BODIES[api](f"your key is {key}, ", "yes")), echo) as server:
        recorder = RecordingProvider(PROVIDERS[api], path)
        model = model_at(server, api)
        events, _ = await collect(recorder, model, HELLO, StreamOptions(api_key=key))
        assert key in str(final(events))
        await collect(recorder, model, HELLO, StreamOptions(api_key=key))
        recorder.close()
        assert {request.headers["authorization"] for request in server.requests} == {f"Bearer {key}"}
    assert key not in path.read_text()
    replay = ReplayProvider(path)
    await collect(replay, model, HELLO, StreamOptions(api_key="another-key-altogether"))
    await collect(replay, model)
    replay.assert_consumed()
