"""One client per event loop: connections are used again, closed with the loop, and never shared."""

from __future__ import annotations

import asyncio
import gc
import subprocess
import sys
import threading
import warnings
from contextlib import aclosing

import pytest

from openprogram_core.providers import TextDeltaEvent
from openprogram_core.providers.adapter import LoopClients
from tests.support.adapter_runs import HELLO, final, run, text_of
from tests.support.wire_server import Reply, WireServer
from tests.wire_openai.bodies import BEGINNINGS, TEXT_BODIES
from tests.wire_openai.models import PROVIDERS, model_at


@pytest.mark.parametrize("api", PROVIDERS)
def test_calls_of_one_loop_use_one_connection_and_the_loop_closes_it(api: str) -> None:
    with WireServer(*[Reply(TEXT_BODIES[api]("ok"))] * 6) as server:
        model = model_at(server, api)

        async def three_calls() -> None:
            for _ in range(3):
                await run(PROVIDERS[api], model)
            assert server.open_connections == 1

        for loops in (1, 2):
            asyncio.run(three_calls())
            assert server.connections == loops
        gc.collect()
    assert len(server.requests) == 6


@pytest.mark.parametrize("api", PROVIDERS)
def test_loops_in_threads_do_not_share_a_client(api: str) -> None:
    answers: list[str] = []
    with WireServer(*[Reply(TEXT_BODIES[api]("ok"))] * 8) as server:
        model = model_at(server, api)

        async def two_calls() -> None:
            for _ in range(2):
                answers.append(text_of(final(await run(PROVIDERS[api], model))))

        threads = [threading.Thread(target=lambda: asyncio.run(two_calls())) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert server.connections == 4
    assert answers == ["ok"] * 8


@pytest.mark.parametrize("api", PROVIDERS)
async def test_overlapping_calls_do_not_mix(api: str) -> None:
    with WireServer(
        script=lambda request: Reply(TEXT_BODIES[api](request.json()["model"]), pause_s=0.01)
    ) as server:
        models = [model_at(server, api, id=f"m{number}") for number in range(8)]
        runs = await asyncio.gather(*(run(PROVIDERS[api], model) for model in models))
    assert [text_of(final(events)) for events in runs] == [f"m{number}" for number in range(8)]


@pytest.mark.parametrize("api", PROVIDERS)
def test_a_loop_that_ends_in_the_middle_of_a_stream_leaves_nothing_open(api: str) -> None:
    async def leave() -> None:
        stream = PROVIDERS[api].stream(model_at(server, api), HELLO)
        async for event in stream:
            if isinstance(event, TextDeltaEvent):
                return

    with warnings.catch_warnings(), WireServer(Reply(BEGINNINGS[api], ending="hold")) as server:
        warnings.simplefilter("error")
        asyncio.run(leave())
        gc.collect()
        assert server.requests[0].client_left.wait(5)


@pytest.mark.parametrize("api", PROVIDERS)
async def test_a_stream_nobody_finishes_is_closed_when_it_is_forgotten(api: str) -> None:
    with WireServer(Reply(BEGINNINGS[api], ending="hold")) as server:
        stream = PROVIDERS[api].stream(model_at(server, api), HELLO)
        async for event in stream:
            if isinstance(event, TextDeltaEvent):
                break
        del stream
        gc.collect()
        assert await asyncio.to_thread(server.requests[0].client_left.wait, 5)


async def test_a_stream_never_begun_sends_nothing() -> None:
    with WireServer() as server:
        async with aclosing(
            PROVIDERS["openai-completions"].stream(model_at(server, "openai-completions"), HELLO)
        ):
            pass
        assert server.requests == []


def test_clients_are_closed_with_their_loop_and_made_anew() -> None:
    closed: list[int] = []

    async def close(client: int) -> None:
        closed.append(client)

    clients: LoopClients[int] = LoopClients(close)
    made: list[int] = []

    def make() -> int:
        made.append(len(made))
        return made[-1]

    async def twice() -> list[int]:
        return [await clients.get("a", make), await clients.get("a", make), await clients.get("b", make)]

    assert asyncio.run(twice()) == [0, 0, 1]
    assert sorted(closed) == [0, 1]

    async def close_early() -> int:
        await clients.get("a", make)
        await clients.close_all()
        return await clients.get("a", make)

    assert asyncio.run(close_early()) == 3
    assert sorted(closed) == [0, 1, 2, 3]


def test_the_plugin_imports_no_sdk() -> None:
    code = "import sys, openprogram_openai; print('openai' in sys.modules, 'httpx2' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]
