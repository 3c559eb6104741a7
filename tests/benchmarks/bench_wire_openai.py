"""What reading a stream through the OpenAI wire APIs costs: ``python -m tests.benchmarks.bench_wire_openai``.

The floor is the vendor's SDK reading the same bytes from the same server into its own objects and nothing
else. Times are CPU time of this process, the server's threads included on both sides; of several rounds the
best counts.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable

from openai import AsyncOpenAI

from tests.support.adapter_runs import HELLO
from tests.support.wire_bytes import pieces_of
from tests.support.wire_server import Reply, WireServer
from tests.wire_openai.bodies import chat_text, response_text
from tests.wire_openai.models import PROVIDERS, model_at

EVENTS = 8_000
ROUNDS = 5
BODIES = {"openai-completions": chat_text, "openai-responses": response_text}


async def with_the_sdk(server: WireServer, api: str) -> float:
    """CPU seconds of the SDK alone."""
    async with AsyncOpenAI(api_key="k", base_url=f"{server.url}/v1") as client:
        start = time.process_time()
        if api == "openai-completions":
            async for _ in await client.chat.completions.create(model="m", messages=[], stream=True):
                pass
        else:
            async for _ in await client.responses.create(model="m", input=[], stream=True):
                pass
        return time.process_time() - start


async def with_the_provider(server: WireServer, api: str) -> float:
    """CPU seconds of the provider."""
    model = model_at(server, api)
    start = time.process_time()
    async for _ in PROVIDERS[api].stream(model, HELLO):
        pass
    return time.process_time() - start


def best(run: Callable[[WireServer, str], Awaitable[float]], server: WireServer, api: str) -> float:
    """The best of some rounds, each in a loop of its own; the first call of a process counts in none."""

    async def once() -> float:
        await run(server, api)
        return await run(server, api)

    return min(asyncio.run(once()) for _ in range(ROUNDS))


def main() -> None:
    """Measure and print."""
    for api, make in BODIES.items():
        body = make(*(f"word{number} " for number in range(EVENTS)))
        replies = [Reply(body, cut=pieces_of(1400))] * (4 * ROUNDS)
        with WireServer(*replies) as server:
            floor = best(with_the_sdk, server, api)
            ours = best(with_the_provider, server, api)
        each = ours / EVENTS * 1e6
        print(f"{api}: {ours / floor:.2f} x the SDK alone ({each:.0f} µs an event, {EVENTS} events)")


if __name__ == "__main__":
    main()
