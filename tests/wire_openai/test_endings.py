"""Every way a call can end badly, made by a real server and seen by the consumer as what it is."""

from __future__ import annotations

import asyncio
import sys
import threading
import time
from contextlib import aclosing
from email.utils import formatdate
from typing import Any

import pytest

from openprogram_core.providers import (
    AbortSignal,
    AssistantMessageEvent,
    ErrorEvent,
    MissingCredentialsError,
    MissingDependencyError,
    ProviderError,
    StreamOptions,
    TextDeltaEvent,
)
from tests.support.adapter_runs import HELLO, final, run, text_of
from tests.support.wire_server import Reply, WireServer, json_reply
from tests.wire_openai.bodies import BEGINNINGS, TEXT_BODIES
from tests.wire_openai.models import PROVIDERS, model_at

pytestmark = pytest.mark.parametrize("api", PROVIDERS)

REFUSALS: list[tuple[int, Any, str, bool]] = [
    (400, {"error": {"message": "no such field", "type": "invalid_request_error"}}, "invalid_request", False),
    (400, {"error": {"message": "too long", "code": "context_length_exceeded"}}, "context_length", False),
    (400, {"error": {"message": "This model's maximum context length is 8 tokens"}}, "context_length", False),
    (400, {"error": {"message": "filtered", "code": "content_filter"}}, "content_filter", False),
    (401, {"error": {"message": "bad key", "code": "invalid_api_key"}}, "auth", False),
    (403, {"error": {"message": "not for you"}}, "auth", False),
    (404, {"detail": "no such model"}, "invalid_request", False),
    (408, {"error": {"message": "slow client"}}, "timeout", True),
    (422, {"detail": [{"loc": ["body"], "msg": "field required"}]}, "invalid_request", False),
    (429, {"error": {"message": "slow down", "type": "requests"}}, "rate_limit", True),
    (429, {"error": {"message": "pay", "code": "insufficient_quota"}}, "rate_limit", False),
    (500, {"error": {"message": "oh", "type": "server_error"}}, "overloaded", True),
    (503, "upstream connect error", "overloaded", True),
    (504, "<html>gateway</html>", "timeout", True),
    (529, {"error": "busy"}, "overloaded", True),
]


@pytest.fixture(autouse=True)
async def no_task_is_left(api: str) -> Any:
    before = asyncio.all_tasks()
    yield
    for _ in range(10):
        await asyncio.sleep(0)
    assert asyncio.all_tasks() - before <= {asyncio.current_task()}


@pytest.mark.parametrize(("status", "body", "kind", "retryable"), REFUSALS)
async def test_a_refused_request_raises_before_the_first_event(
    api: str, status: int, body: Any, kind: str, retryable: bool
) -> None:
    with WireServer(json_reply(body, status)) as server:
        with pytest.raises(ProviderError) as caught:
            await run(PROVIDERS[api], model_at(server, api))
        assert len(server.requests) == 1
    error = caught.value
    assert (error.kind, error.retryable, error.status) == (kind, retryable, status)
    if isinstance(body, dict) and isinstance(body.get("error"), dict):
        assert error.message == body["error"]["message"]


@pytest.mark.parametrize(
    ("headers", "wait"),
    [
        ({"retry-after": "7"}, 7.0),
        ({"retry-after-ms": "1500", "retry-after": "9"}, 1.5),
        ({"retry-after": "soon"}, None),
        ({}, None),
    ],
)
async def test_the_wait_a_service_asks_for(api: str, headers: dict[str, str], wait: float | None) -> None:
    reply = json_reply({"error": {"message": "slow down"}}, 429, headers)
    with WireServer(reply) as server, pytest.raises(ProviderError) as caught:
        await run(PROVIDERS[api], model_at(server, api))
    assert caught.value.retry_after_s == wait


async def test_the_wait_may_be_a_date(api: str) -> None:
    reply = json_reply({}, 503, {"retry-after": formatdate(time.time() + 86_400, usegmt=True)})
    with WireServer(reply) as server, pytest.raises(ProviderError) as caught:
        await run(PROVIDERS[api], model_at(server, api))
    assert caught.value.retry_after_s is not None
    assert 80_000 < caught.value.retry_after_s < 87_000


async def test_the_sdk_retries_only_what_the_options_ask_for(api: str) -> None:
    busy = json_reply({"error": {"message": "busy"}}, 503, {"retry-after-ms": "1"})
    with WireServer(busy, Reply(TEXT_BODIES[api]("ok"))) as server:
        events = await run(PROVIDERS[api], model_at(server, api), options=StreamOptions(max_retries=1))
        assert text_of(final(events)) == "ok"
        assert len(server.requests) == 2


async def test_a_service_that_does_not_answer(api: str) -> None:
    with WireServer(Reply(silent=True, ending="hold")) as server:
        with pytest.raises(ProviderError) as caught:
            await run(PROVIDERS[api], model_at(server, api), options=StreamOptions(timeout_s=0.2))
        assert await asyncio.to_thread(server.requests[0].client_left.wait, 5)
    assert (caught.value.kind, caught.value.retryable) == ("timeout", True)


async def test_a_service_that_falls_silent(api: str) -> None:
    with WireServer(Reply(BEGINNINGS[api], ending="hold")) as server:
        events = await run(PROVIDERS[api], model_at(server, api), options=StreamOptions(timeout_s=0.2))
        assert await asyncio.to_thread(server.requests[0].client_left.wait, 5)
    _is_failure(events, "timeout", "par")


async def test_nobody_listens(api: str) -> None:
    server = WireServer()
    server.__exit__(None, None, None)
    with pytest.raises(ProviderError) as caught:
        await run(PROVIDERS[api], model_at(server, api))
    assert (caught.value.kind, caught.value.retryable) == ("network", True)


async def test_a_connection_lost_before_the_answer(api: str) -> None:
    with WireServer(Reply(silent=True, ending="drop")) as server, pytest.raises(ProviderError) as caught:
        await run(PROVIDERS[api], model_at(server, api))
    assert caught.value.kind == "network"


@pytest.mark.parametrize("ending", ["drop", "reset"])
async def test_a_connection_lost_inside_an_event(api: str, ending: Any) -> None:
    body = BEGINNINGS[api] + TEXT_BODIES[api]("never")[:40]
    with WireServer(Reply(body, ending=ending)) as server:
        events = await run(PROVIDERS[api], model_at(server, api))
    _is_failure(events, "network", "par")


async def test_a_stream_that_stops_without_its_end(api: str) -> None:
    with WireServer(Reply(BEGINNINGS[api])) as server:
        events = await run(PROVIDERS[api], model_at(server, api))
    _is_failure(events, "protocol", "par")


async def test_an_answer_of_nothing(api: str) -> None:
    with WireServer(Reply(b"")) as server:
        events = await run(PROVIDERS[api], model_at(server, api))
    assert [event.type for event in events] == ["start", "error"]
    _is_failure(events, "protocol", "")


@pytest.mark.parametrize(
    "data", [b"{not json}", b"\xff\xfe", b'{"choices": 7, "type": "response.completed", "response": 7}']
)
async def test_an_unreadable_event(api: str, data: bytes) -> None:
    with WireServer(Reply(BEGINNINGS[api] + b"data: " + data + b"\n\n")) as server:
        events = await run(PROVIDERS[api], model_at(server, api))
    _is_failure(events, "protocol", "par")


ERROR_FORMS: list[tuple[bytes, str]] = [
    (b'event: error\ndata: {"message": "x", "code": 503}\n\n', "overloaded"),
    (b"event: error\ndata: x\n\n", "overloaded"),
    (b'data: {"error": "x"}\n\n', "overloaded"),
    (b'event: error\ndata: {"error": {"message": "x", "type": "rate_limit_error"}}\n\n', "rate_limit"),
    (b'data: {"object": "error", "type": "error", "message": "x", "code": 400}\n\n', "invalid_request"),
]


@pytest.mark.parametrize(("event", "kind"), ERROR_FORMS)
async def test_errors_in_the_stream_in_every_form(api: str, event: bytes, kind: str) -> None:
    with WireServer(Reply(BEGINNINGS[api] + event)) as server:
        events = await run(PROVIDERS[api], model_at(server, api))
    _is_failure(events, kind, "par")
    assert final(events).error_message == "x"


async def test_an_error_as_a_whole_answer_with_status_200(api: str) -> None:
    with WireServer(json_reply({"error": {"message": "no", "code": 401}})) as server:
        events = await run(PROVIDERS[api], model_at(server, api))
    _is_failure(events, "auth", "")


async def test_what_is_no_json_is_refused_before_it_is_sent(api: str) -> None:
    options = StreamOptions(extra_body={"x": float("nan")})
    with WireServer(Reply(TEXT_BODIES[api]("ok"))) as server:
        with pytest.raises(ProviderError) as caught:
            await run(PROVIDERS[api], model_at(server, api), options=options)
        assert server.requests == []
    assert caught.value.kind == "invalid_request"


async def test_cancellation_closes_the_connection(api: str) -> None:
    seen = asyncio.Event()

    async def consume() -> None:
        async with aclosing(PROVIDERS[api].stream(model_at(server, api), HELLO)) as stream:
            async for event in stream:
                if isinstance(event, TextDeltaEvent):
                    seen.set()

    with WireServer(Reply(BEGINNINGS[api], ending="hold")) as server:
        task = asyncio.create_task(consume())
        await asyncio.wait_for(seen.wait(), 5)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await asyncio.to_thread(server.requests[0].client_left.wait, 5)


async def test_cancellation_before_the_answer_closes_the_connection(api: str) -> None:
    with WireServer(Reply(silent=True, ending="hold")) as server:
        task = asyncio.create_task(run(PROVIDERS[api], model_at(server, api)))
        assert await asyncio.to_thread(server.asked.wait, 5)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await asyncio.to_thread(server.requests[0].client_left.wait, 5)


async def test_leaving_early_closes_the_connection(api: str) -> None:
    with WireServer(Reply(BEGINNINGS[api], ending="hold")) as server:
        async with aclosing(PROVIDERS[api].stream(model_at(server, api), HELLO)) as stream:
            async for event in stream:
                if isinstance(event, TextDeltaEvent):
                    break
        assert await asyncio.to_thread(server.requests[0].client_left.wait, 5)


@pytest.mark.parametrize("from_thread", [False, True])
@pytest.mark.parametrize("silent", [False, True])
async def test_the_signal_stops_a_waiting_call(api: str, silent: bool, from_thread: bool) -> None:
    signal = AbortSignal()
    with WireServer(Reply(BEGINNINGS[api], silent=silent, ending="hold")) as server:
        options = StreamOptions(signal=signal)
        task = asyncio.create_task(run(PROVIDERS[api], model_at(server, api), options=options))
        assert await asyncio.to_thread(server.asked.wait, 5)
        await asyncio.sleep(0.05)
        if from_thread:
            threading.Thread(target=signal.abort).start()
        else:
            signal.abort()
        events = await asyncio.wait_for(task, 5)
        assert await asyncio.to_thread(server.requests[0].client_left.wait, 5)
    last = events[-1]
    assert isinstance(last, ErrorEvent)
    assert last.reason == "aborted"
    assert text_of(last.error) == ("" if silent else "par")


async def test_a_failure_is_seen_with_its_connection_closed(api: str) -> None:
    body = BEGINNINGS[api] + b'data: {"error": {"message": "x", "code": 503}}\n\n'
    with WireServer(Reply(body, ending="hold")) as server:
        stream = PROVIDERS[api].stream(model_at(server, api), HELLO)
        async for event in stream:
            if event.type == "error":
                break
        # The consumer neither reads on nor closes.
        assert await asyncio.to_thread(server.requests[0].client_left.wait, 5)
        await stream.aclose()


async def test_a_signal_set_before_sends_nothing(api: str) -> None:
    signal = AbortSignal()
    signal.abort()
    with WireServer() as server:
        events = await run(PROVIDERS[api], model_at(server, api), options=StreamOptions(signal=signal))
        assert server.requests == []
    assert [event.type for event in events] == ["start", "error"]
    assert final(events).stop_reason == "aborted"


async def test_an_error_does_not_repeat_the_key(api: str) -> None:
    key = "k-" + "0123456789abcdef" * 2
    body = {"error": {"message": f"Incorrect API key provided: {key}"}}
    with WireServer(json_reply(body, 401), json_reply(body, 401)) as server:
        for options in (
            StreamOptions(api_key=key),
            StreamOptions(headers={"Authorization": f"Bearer {key}"}),
        ):
            with pytest.raises(ProviderError) as caught:
                await run(PROVIDERS[api], model_at(server, api), options=options)
            assert key not in str(caught.value)
        assert [request.headers["authorization"] for request in server.requests] == [f"Bearer {key}"] * 2


async def test_a_missing_key(api: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ACME_API_KEY", raising=False)
    with WireServer() as server:
        model = model_at(server, api, provider="acme", base_url="http://models.example/v1")
        with pytest.raises(MissingCredentialsError, match="ACME_API_KEY"):
            await run(PROVIDERS[api], model)


@pytest.mark.parametrize("module", ["openai", "httpx2"])
async def test_an_sdk_that_is_missing_or_too_old(
    api: str, module: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with WireServer() as server:
        with pytest.raises(MissingDependencyError, match=r"pip install 'openprogram-core\[openai\]'"):
            await run(PROVIDERS[api], model_at(server, api))
        assert server.requests == []


def _is_failure(events: list[AssistantMessageEvent], kind: str, text: str) -> None:
    last = events[-1]
    assert isinstance(last, ErrorEvent)
    assert last.reason == "error"
    assert last.error.error_details is not None
    assert last.error.error_details.kind == kind
    assert last.error.error_message
    assert text_of(last.error) == text
