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
from tests.support.wire_calls import HELLO, calls_of, collect, final, text_of
from tests.support.wire_server import ReceivedRequest, Reply, WireServer, json_reply
from tests.wire_google.wire import PROVIDER, answer, ask, call, chunk, gemini, stop


def refusal(code: int, status: str, message: str = "no", **more: Any) -> dict[str, Any]:
    return {"error": {"code": code, "message": message, "status": status, **more}}


@pytest.mark.parametrize(
    ("code", "word", "message", "kind", "retryable"),
    [
        (400, "INVALID_ARGUMENT", "Invalid value at 'contents'", "invalid_request", False),
        (400, "INVALID_ARGUMENT", "The input token count (9) exceeds the maximum", "context_length", False),
        (401, "UNAUTHENTICATED", "who are you", "auth", False),
        (403, "PERMISSION_DENIED", "not yours", "auth", False),
        (404, "NOT_FOUND", "models/x is not found", "invalid_request", False),
        (429, "RESOURCE_EXHAUSTED", "slow down", "rate_limit", True),
        (500, "INTERNAL", "oops", "overloaded", True),
        (503, "UNAVAILABLE", "The model is overloaded", "overloaded", True),
        (504, "DEADLINE_EXCEEDED", "late", "timeout", True),
    ],
)
async def test_a_refused_request_raises_before_the_first_event(
    code: int, word: str, message: str, kind: str, retryable: bool
) -> None:
    with WireServer(json_reply(refusal(code, word, message), code)) as server:
        with pytest.raises(ProviderError) as raised:
            await collect(PROVIDER, gemini(server))
        assert len(server.requests) == 1
    error = raised.value
    assert (error.kind, error.retryable, error.status) == (kind, retryable, code)
    assert message in error.message


async def test_a_wrong_key_is_a_matter_of_the_key_although_the_service_calls_it_an_argument() -> None:
    reason = {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID"}
    body = refusal(400, "INVALID_ARGUMENT", "API key not valid.", details=[reason])
    with WireServer(json_reply(body, 400)) as server, pytest.raises(ProviderError) as raised:
        await collect(PROVIDER, gemini(server))
    assert raised.value.kind == "auth"


async def test_the_wait_the_service_asks_for_in_the_body() -> None:
    retry = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "43.5s"}
    body = refusal(429, "RESOURCE_EXHAUSTED", details=[retry])
    with WireServer(json_reply(body, 429)) as server, pytest.raises(ProviderError) as raised:
        await collect(PROVIDER, gemini(server))
    assert raised.value.retry_after_s == 43.5


async def test_the_wait_the_service_asks_for() -> None:
    reply = json_reply(refusal(429, "RESOURCE_EXHAUSTED"), 429, {"retry-after": "7"})
    with WireServer(reply) as server, pytest.raises(ProviderError) as raised:
        await collect(PROVIDER, gemini(server))
    assert raised.value.retry_after_s == 7


async def test_a_refusal_that_is_no_json() -> None:
    page = Reply(b"<html>Bad gateway</html>", status=502, headers={"content-type": "text/html"})
    with WireServer(page) as server, pytest.raises(ProviderError) as raised:
        await collect(PROVIDER, gemini(server))
    assert (raised.value.kind, raised.value.retryable) == ("overloaded", True)
    assert "Bad gateway" in raised.value.message


async def test_the_key_is_never_in_an_error() -> None:
    key = "AI" + "za" + "q" * 35
    reply = json_reply(refusal(403, "PERMISSION_DENIED", f"invalid key {key}"), 403)
    with WireServer(reply) as server, pytest.raises(ProviderError) as raised:
        await collect(PROVIDER, gemini(server), HELLO, StreamOptions(api_key=key))
    assert key not in str(raised.value)


async def test_the_sdk_retries_only_as_often_as_it_is_told() -> None:
    busy = json_reply(refusal(503, "UNAVAILABLE"), 503)
    good = answer(chunk({"text": "ok"}), stop())
    with WireServer(busy, good) as server:
        events = await collect(PROVIDER, gemini(server), HELLO, StreamOptions(max_retries=1))
        assert text_of(final(events)) == "ok"
        assert len(server.requests) == 2


async def test_a_good_status_that_is_no_stream() -> None:
    reply = json_reply(refusal(503, "UNAVAILABLE", "busy"))
    with WireServer(reply) as server, pytest.raises(ProviderError, match="busy") as raised:
        await collect(PROVIDER, gemini(server))
    assert raised.value.kind == "overloaded"


@pytest.mark.parametrize(
    ("code", "word", "kind"),
    [
        (503, "UNAVAILABLE", "overloaded"),
        (429, "RESOURCE_EXHAUSTED", "rate_limit"),
        (500, "INTERNAL", "overloaded"),
        (403, "PERMISSION_DENIED", "auth"),
        (0, "A_WORD_OF_TOMORROW", "overloaded"),
    ],
)
async def test_an_error_after_a_good_status(code: int, word: str, kind: str) -> None:
    failed = {"usageMetadata": {"promptTokenCount": 9}, **refusal(code, word, "why")}
    events = await ask(chunk({"text": "par"}, usage={"promptTokenCount": 5}), failed)
    message = final(events)
    assert isinstance(events[-1], ErrorEvent)
    assert (message.stop_reason, text_of(message)) == ("error", "par")
    assert message.error_details is not None
    assert message.error_details.kind == kind
    assert message.error_message == "why"
    assert message.usage.input == 5


@pytest.mark.parametrize(
    ("word", "kind", "retryable"),
    [
        ("SAFETY", "content_filter", False),
        ("RECITATION", "content_filter", False),
        ("PROHIBITED_CONTENT", "content_filter", False),
        ("IMAGE_SAFETY", "content_filter", False),
        ("PUP_LIMITED_DISABLED", "auth", False),
        ("MISSING_THOUGHT_SIGNATURE", "invalid_request", False),
        ("MALFORMED_FUNCTION_CALL", "protocol", True),
        ("UNEXPECTED_TOOL_CALL", "protocol", True),
        ("OTHER", "protocol", True),
        ("A_WORD_OF_TOMORROW", "protocol", True),
    ],
)
async def test_a_finish_that_is_no_stop_is_no_success(word: str, kind: str, retryable: bool) -> None:
    message = final(await ask(chunk({"text": "par"}), stop(word, finishMessage="the reason")))
    assert message.error_details is not None
    assert (message.error_details.kind, message.error_details.retryable) == (kind, retryable)
    assert (message.service_stop_reason, message.error_message) == (word, "the reason")
    assert (message.stop_reason, text_of(message)) == ("error", "par")


async def test_a_malformed_call_can_be_read_though_not_run() -> None:
    said = "Malformed function call: print(default_api.f(a=))" + "x" * 2000
    message = final(await ask(stop("MALFORMED_FUNCTION_CALL", finishMessage=said)))
    assert calls_of(message) == []
    assert message.service_details is not None
    assert message.service_details["finishMessage"] == said


async def test_a_blocked_prompt_says_why() -> None:
    blocked = {"promptFeedback": {"blockReason": "PROHIBITED_CONTENT", "safetyRatings": []}}
    message = final(await ask(blocked))
    assert message.error_details is not None
    assert message.error_details.kind == "content_filter"
    assert message.service_stop_reason == "PROHIBITED_CONTENT"
    assert message.service_details == blocked


@pytest.mark.parametrize("kept", range(3))
async def test_a_stream_that_stops_before_its_end_is_no_success(kept: int) -> None:
    message = final(await ask(*[chunk({"text": "par"}), chunk(call(args={})), stop()][:kept]))
    assert message.error_details is not None
    assert (message.error_details.kind, message.error_details.retryable) == ("protocol", True)


@pytest.mark.parametrize("ending", ["drop", "reset"])
async def test_a_connection_lost_inside_an_event(ending: Any) -> None:
    body = sse(chunk({"text": "par"}), chunk({"text": "tial"}), newline="\r\n")[:-20]
    with WireServer(Reply(body, cut=bytewise, ending=ending)) as server:
        events = await collect(PROVIDER, gemini(server))
    message = final(events)
    assert text_of(message) == "par"
    assert message.error_details is not None
    assert (message.error_details.kind, message.error_details.retryable) == ("network", True)


@pytest.mark.parametrize("broken", [b"data: {\n\n", b"data: \xff\xfe\n\n", b"data: {}}\n\n"])
async def test_an_event_nobody_can_read(broken: bytes) -> None:
    message = final(await ask(chunk({"text": "par"}), broken))
    assert text_of(message) == "par"
    assert message.error_details is not None
    assert message.error_details.kind == "protocol"


async def test_no_connection() -> None:
    with WireServer() as server:
        model = gemini(server)
    with pytest.raises(ProviderError) as raised:
        await collect(PROVIDER, model)
    assert (raised.value.kind, raised.value.retryable) == ("network", True)


async def test_a_service_that_does_not_answer() -> None:
    with WireServer(Reply(silent=True, ending="hold")) as server, pytest.raises(ProviderError) as raised:
        await collect(PROVIDER, gemini(server), HELLO, StreamOptions(timeout_s=0.2))
    assert (raised.value.kind, raised.value.retryable) == ("timeout", True)


async def test_a_service_that_stops_talking() -> None:
    reply = answer(chunk({"text": "par"}), ending="hold")
    with WireServer(reply) as server:
        events = await collect(PROVIDER, gemini(server), HELLO, StreamOptions(timeout_s=0.3))
    message = final(events)
    assert text_of(message) == "par"
    assert message.error_details is not None
    assert message.error_details.kind == "timeout"


def talking() -> Reply:
    return answer(chunk({"text": "par"}), ending="hold")


async def test_cancellation_closes_the_connection() -> None:
    heard = asyncio.Event()

    async def listen(model: Model) -> None:
        async with aclosing(PROVIDER.stream(model, HELLO)) as stream:
            async for event in stream:
                if isinstance(event, TextDeltaEvent):
                    heard.set()

    with WireServer(talking()) as server:
        task = asyncio.create_task(listen(gemini(server)))
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
        task = asyncio.create_task(collect(PROVIDER, gemini(server)))
        assert await asyncio.to_thread(arrived.wait, 5)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await asyncio.to_thread(server.requests[0].client_left.wait, 5)


async def test_leaving_early_closes_the_connection() -> None:
    with WireServer(talking()) as server:
        async with aclosing(PROVIDER.stream(gemini(server), HELLO)) as stream:
            async for event in stream:
                if isinstance(event, TextDeltaEvent):
                    break
        assert await asyncio.to_thread(server.requests[0].client_left.wait, 5)


async def test_the_abort_signal_ends_the_stream_with_what_had_come() -> None:
    signal = AbortSignal()
    with WireServer(talking()) as server:
        events = []
        options = StreamOptions(signal=signal)
        async with aclosing(PROVIDER.stream(gemini(server), HELLO, options)) as stream:
            async for event in stream:
                events.append(event)
                if isinstance(event, TextDeltaEvent):
                    threading.Timer(0.05, signal.abort).start()
        assert await asyncio.to_thread(server.requests[0].client_left.wait, 5)
    message = final(events)
    assert (message.stop_reason, text_of(message)) == ("aborted", "par")


async def test_a_connection_serves_the_next_call_when_the_answer_was_complete() -> None:
    replies = [answer(chunk({"text": "ok"}), stop(), cut=cut) for cut in CUTS.values()]
    with WireServer(*replies) as server:
        for _ in replies:
            await collect(PROVIDER, gemini(server))
        assert server.connections == 1


def all_closed(server: WireServer) -> bool:
    # The server's threads notice a closed connection in their own time.
    until = time.monotonic() + 5
    while server.open_connections and time.monotonic() < until:
        time.sleep(0.01)
    return server.open_connections == 0


def test_each_event_loop_has_its_own_client() -> None:
    replies = [answer(chunk({"text": "ok"}), stop()) for _ in range(3)]
    with WireServer(*replies) as server:
        for _ in replies:
            assert text_of(final(asyncio.run(collect(PROVIDER, gemini(server))))) == "ok"
        assert all_closed(server)


def test_a_missing_sdk_names_the_extra_that_brings_it() -> None:
    code = """
    import asyncio, sys
    sys.modules["google.genai"] = None
    from openprogram_google import API, GoogleGenerativeAiProvider
    from openprogram_core.providers import Context, MissingDependencyError, Model
    model = Model(id="m", api=API, provider="google", base_url="http://127.0.0.1:9")
    async def call():
        async for event in GoogleGenerativeAiProvider().stream(model, Context()):
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
    assert "openprogram-core[google]" in run.stdout, run.stderr


def test_the_sdk_is_imported_by_the_first_call_only() -> None:
    code = (
        "import sys, openprogram_google; sys.exit('google.genai' in sys.modules or 'httpx2' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


async def test_calls_at_the_same_time_do_not_mix_and_leave_no_task_behind() -> None:
    before = asyncio.all_tasks()

    def echo(request: ReceivedRequest) -> Reply:
        word = request.json()["contents"][0]["parts"][0]["text"]
        return answer(*(chunk({"text": letter}) for letter in word), stop(), cut=by_lines, pause_s=0.005)

    with WireServer(script=echo) as server:
        contexts = [Context(messages=[UserMessage(content=f"word {number}")]) for number in range(8)]
        runs = await asyncio.gather(*(collect(PROVIDER, gemini(server), one) for one in contexts))
    assert [text_of(final(events)) for events in runs] == [f"word {number}" for number in range(8)]
    assert asyncio.all_tasks() == before


async def test_a_compressed_answer() -> None:
    body = gzip.compress(sse(chunk({"text": "ok"}), stop()))
    headers = {"content-type": "text/event-stream; charset=utf-8", "content-encoding": "gzip"}
    with WireServer(Reply(body, headers=headers, cut=bytewise)) as server:
        assert text_of(final(await collect(PROVIDER, gemini(server)))) == "ok"
