"""How a call may end, each produced by a real server."""

from __future__ import annotations

import asyncio
import gzip
import subprocess
import sys
import textwrap
import threading
import time
from contextlib import aclosing
from typing import Any

import pytest

from openprogram_core.providers import (
    AbortSignal,
    Context,
    ErrorEvent,
    Model,
    ProviderError,
    StreamOptions,
    TextDeltaEvent,
    UserMessage,
)
from tests.support.wire_bytes import CUTS, by_lines, bytewise, sse
from tests.support.wire_calls import HELLO, bad_calls_of, calls_of, collect, final, text_of
from tests.support.wire_server import ReceivedRequest, Reply, WireServer, json_reply
from tests.wire_anthropic.wire import PROVIDER, answer, ask, begin, claude, end, text, tool


def refusal(kind: str, message: str = "no") -> dict[str, Any]:
    return {"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_1"}


@pytest.mark.parametrize(
    ("status", "word", "message", "kind", "retryable"),
    [
        (400, "invalid_request_error", "max_tokens: must be positive", "invalid_request", False),
        (400, "invalid_request_error", "prompt is too long: 9 tokens > 8", "context_length", False),
        (401, "authentication_error", "invalid x-api-key", "auth", False),
        (403, "permission_error", "not yours", "auth", False),
        (404, "not_found_error", "model: x", "invalid_request", False),
        (413, "request_too_large", "too large", "context_length", False),
        (429, "rate_limit_error", "slow down", "rate_limit", True),
        (500, "api_error", "oops", "overloaded", True),
        (504, "timeout_error", "late", "timeout", True),
        (529, "overloaded_error", "Overloaded", "overloaded", True),
    ],
)
async def test_a_refused_request_raises_before_the_first_event(
    status: int, word: str, message: str, kind: str, retryable: bool
) -> None:
    with WireServer(json_reply(refusal(word, message), status)) as server:
        with pytest.raises(ProviderError) as raised:
            await collect(PROVIDER, claude(server))
        assert len(server.requests) == 1
    error = raised.value
    assert (error.kind, error.retryable, error.status) == (kind, retryable, status)
    assert message in error.message


async def test_the_wait_the_service_asks_for() -> None:
    reply = json_reply(refusal("rate_limit_error"), 429, {"retry-after": "7"})
    with WireServer(reply) as server, pytest.raises(ProviderError) as raised:
        await collect(PROVIDER, claude(server))
    assert raised.value.retry_after_s == 7


async def test_a_refusal_that_is_no_json() -> None:
    page = Reply(b"<html>Bad gateway</html>", status=502, headers={"content-type": "text/html"})
    with WireServer(page) as server, pytest.raises(ProviderError) as raised:
        await collect(PROVIDER, claude(server))
    assert (raised.value.kind, raised.value.retryable) == ("overloaded", True)
    assert "Bad gateway" in raised.value.message


async def test_the_key_is_never_in_an_error() -> None:
    key = "sk-ant-" + "api03-" + "q" * 40
    reply = json_reply(refusal("authentication_error", f"invalid key {key}"), 401)
    with WireServer(reply) as server, pytest.raises(ProviderError) as raised:
        await collect(PROVIDER, claude(server), HELLO, StreamOptions(api_key=key))
    assert key not in str(raised.value)


async def test_the_sdk_retries_only_as_often_as_it_is_told() -> None:
    busy = json_reply(refusal("overloaded_error"), 529, {"retry-after-ms": "1"})
    good = answer(begin(), *text(0, "ok"), *end())
    with WireServer(busy, busy, good) as server:
        events = await collect(PROVIDER, claude(server), HELLO, StreamOptions(max_retries=2))
        assert text_of(final(events)) == "ok"
        assert len(server.requests) == 3


async def test_a_good_status_that_is_no_stream() -> None:
    reply = json_reply(refusal("overloaded_error", "busy"))
    with WireServer(reply) as server, pytest.raises(ProviderError, match="busy") as raised:
        await collect(PROVIDER, claude(server))
    assert raised.value.kind == "overloaded"


@pytest.mark.parametrize(
    ("word", "kind"),
    [
        ("overloaded_error", "overloaded"),
        ("rate_limit_error", "rate_limit"),
        ("api_error", "overloaded"),
        ("authentication_error", "auth"),
        ("a_word_of_tomorrow", "overloaded"),
    ],
)
async def test_an_error_event_after_a_good_status(word: str, kind: str) -> None:
    events = await ask(begin(), *text(0, "par")[:2], refusal(word, "why"))
    message = final(events)
    assert isinstance(events[-1], ErrorEvent)
    assert (message.stop_reason, text_of(message)) == ("error", "par")
    assert message.error_details is not None
    assert message.error_details.kind == kind
    assert message.error_message == "why"
    assert message.usage.input == 5


async def test_a_refusal_by_the_model_is_no_success() -> None:
    why = {"type": "refusal", "category": "cyber", "explanation": "not this"}
    message = final(await ask(begin(), *text(0, "I"), *end("refusal", stop_details=why)))
    assert message.error_details is not None
    assert (message.error_details.kind, message.error_details.retryable) == ("content_filter", False)
    assert (message.service_stop_reason, message.error_message) == ("refusal", "not this")


@pytest.mark.parametrize("kept", range(8))
async def test_a_stream_that_stops_before_its_end_is_no_success(kept: int) -> None:
    payloads = [begin(), *text(0, "par"), *tool(1, "{}"), *end()][:kept]
    message = final(await ask(*payloads))
    assert message.error_details is not None
    assert (message.error_details.kind, message.error_details.retryable) == ("protocol", True)


async def test_the_end_without_a_stop_reason_is_no_success() -> None:
    message = final(await ask(begin(), *text(0, "x"), {"type": "message_stop"}))
    assert message.error_details is not None
    assert message.error_details.kind == "protocol"


async def test_a_call_that_was_open_when_the_stream_broke_is_not_to_be_run() -> None:
    message = final(await ask(begin(), *tool(0, '{"a": 1}')[:2]))
    assert calls_of(message) == []
    assert bad_calls_of(message)[0].reason == "incomplete"


@pytest.mark.parametrize("ending", ["drop", "reset"])
async def test_a_connection_lost_inside_an_event(ending: Any) -> None:
    body = sse(begin(), *text(0, "par", "tial"), named=True)[:-120]
    with WireServer(Reply(body, cut=bytewise, ending=ending)) as server:
        events = await collect(PROVIDER, claude(server))
    message = final(events)
    assert text_of(message) == "par"
    assert message.error_details is not None
    assert (message.error_details.kind, message.error_details.retryable) == ("network", True)


@pytest.mark.parametrize("broken", [b"data: {\n\n", b"data: \xff\xfe\n\n"])
async def test_an_event_nobody_can_read(broken: bytes) -> None:
    message = final(await ask(begin(), *text(0, "par")[:2], broken))
    assert text_of(message) == "par"
    assert message.error_details is not None
    assert message.error_details.kind == "protocol"


async def test_no_connection() -> None:
    with WireServer() as server:
        model = claude(server)
    with pytest.raises(ProviderError) as raised:
        await collect(PROVIDER, model)
    assert (raised.value.kind, raised.value.retryable) == ("network", True)


async def test_a_service_that_does_not_answer() -> None:
    with WireServer(Reply(silent=True, ending="hold")) as server, pytest.raises(ProviderError) as raised:
        await collect(PROVIDER, claude(server), HELLO, StreamOptions(timeout_s=0.2))
    assert (raised.value.kind, raised.value.retryable) == ("timeout", True)


async def test_a_service_that_stops_talking() -> None:
    reply = answer(begin(), *text(0, "par")[:2], ending="hold")
    with WireServer(reply) as server:
        events = await collect(PROVIDER, claude(server), HELLO, StreamOptions(timeout_s=0.3))
    message = final(events)
    assert text_of(message) == "par"
    assert message.error_details is not None
    assert message.error_details.kind == "timeout"


def talking() -> Reply:
    return answer(begin(), *text(0, "par")[:2], ending="hold")


async def test_cancellation_closes_the_connection() -> None:
    heard = asyncio.Event()

    async def listen(model: Model) -> None:
        async with aclosing(PROVIDER.stream(model, HELLO)) as stream:
            async for event in stream:
                if isinstance(event, TextDeltaEvent):
                    heard.set()

    with WireServer(talking()) as server:
        task = asyncio.create_task(listen(claude(server)))
        await heard.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await asyncio.to_thread(server.requests[0].client_left.wait, 5)


async def test_cancellation_before_the_answer_closes_the_connection() -> None:
    arrived = threading.Event()

    def keep_waiting(request: ReceivedRequest) -> Reply:
        arrived.set()
        return Reply(silent=True, ending="hold")

    with WireServer(script=keep_waiting) as server:
        task = asyncio.create_task(collect(PROVIDER, claude(server)))
        assert await asyncio.to_thread(arrived.wait, 5)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await asyncio.to_thread(server.requests[0].client_left.wait, 5)


async def test_leaving_early_closes_the_connection() -> None:
    with WireServer(talking()) as server:
        async with aclosing(PROVIDER.stream(claude(server), HELLO)) as stream:
            async for event in stream:
                if isinstance(event, TextDeltaEvent):
                    break
        assert await asyncio.to_thread(server.requests[0].client_left.wait, 5)


async def test_the_abort_signal_ends_the_stream_with_what_had_come() -> None:
    signal = AbortSignal()
    with WireServer(talking()) as server:
        events = []
        options = StreamOptions(signal=signal)
        async with aclosing(PROVIDER.stream(claude(server), HELLO, options)) as stream:
            async for event in stream:
                events.append(event)
                if isinstance(event, TextDeltaEvent):
                    threading.Timer(0.05, signal.abort).start()
        assert await asyncio.to_thread(server.requests[0].client_left.wait, 5)
    message = final(events)
    assert (message.stop_reason, text_of(message)) == ("aborted", "par")


async def test_a_connection_serves_the_next_call_when_the_answer_was_complete() -> None:
    replies = [answer(begin(), *text(0, "ok"), *end(), cut=cut) for cut in CUTS.values()]
    with WireServer(*replies) as server:
        for _ in replies:
            await collect(PROVIDER, claude(server))
        assert server.connections == 1


def all_closed(server: WireServer) -> bool:
    # The server's threads notice a closed connection in their own time.
    until = time.monotonic() + 5
    while server.open_connections and time.monotonic() < until:
        time.sleep(0.01)
    return server.open_connections == 0


def test_each_event_loop_has_its_own_client() -> None:
    replies = [answer(begin(), *text(0, "ok"), *end()) for _ in range(3)]
    with WireServer(*replies) as server:
        for _ in replies:
            assert text_of(final(asyncio.run(collect(PROVIDER, claude(server))))) == "ok"
        assert all_closed(server)


def test_a_missing_sdk_names_the_extra_that_brings_it() -> None:
    code = """
    import asyncio, sys
    sys.modules["anthropic"] = None
    from openprogram_anthropic import API, AnthropicMessagesProvider
    from openprogram_core.providers import Context, MissingDependencyError, Model
    model = Model(id="m", api=API, provider="anthropic", base_url="http://127.0.0.1:9")
    async def call():
        async for event in AnthropicMessagesProvider().stream(model, Context()):
            pass
    try:
        asyncio.run(call())
    except MissingDependencyError as error:
        print(error)
    """
    run = subprocess.run(
        [sys.executable, "-W", "error", "-c", textwrap.dedent(code)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert "openprogram-core[anthropic]" in run.stdout, run.stderr


def test_the_sdk_is_imported_by_the_first_call_only() -> None:
    code = (
        "import sys, openprogram_anthropic; sys.exit('anthropic' in sys.modules or 'httpx2' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


async def test_calls_at_the_same_time_do_not_mix_and_leave_no_task_behind() -> None:
    before = asyncio.all_tasks()

    def echo(request: ReceivedRequest) -> Reply:
        word = request.json()["messages"][0]["content"][0]["text"]
        return answer(begin(), *text(0, *word), *end(), cut=by_lines, pause_s=0.002)

    with WireServer(script=echo) as server:
        contexts = [Context(messages=[UserMessage(content=f"word {number}")]) for number in range(8)]
        runs = await asyncio.gather(*(collect(PROVIDER, claude(server), one) for one in contexts))
    assert [text_of(final(events)) for events in runs] == [f"word {number}" for number in range(8)]
    assert asyncio.all_tasks() == before


async def test_a_compressed_answer() -> None:
    body = gzip.compress(sse(begin(), *text(0, "ok"), *end(), named=True))
    headers = {"content-type": "text/event-stream; charset=utf-8", "content-encoding": "gzip"}
    with WireServer(Reply(body, headers=headers, cut=bytewise)) as server:
        assert text_of(final(await collect(PROVIDER, claude(server)))) == "ok"
