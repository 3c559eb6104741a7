"""What checking a request costs: ``python -m tests.benchmarks.bench_comparison``.

Every figure is a ratio inside one run: to ``json.dumps`` of the same request, and to ``deepdiff`` where that
is installed.
"""

from __future__ import annotations

import asyncio
import json
import random
import string
import tempfile
import time
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from openprogram_core.comparison import ComparisonPolicy, find_differences, find_first_difference
from openprogram_core.providers import (
    AssistantMessage,
    Context,
    Message,
    SimpleStreamOptions,
    TextContent,
    ToolCall,
    ToolResultMessage,
)
from openprogram_replay import ReplayMismatch, ReplayProvider
from tests.replay.sessions import MODEL, Call, say, write_recording

TURNS = 100
HISTORY_BYTES = 400_000


def best_ms(run: Callable[[], object], times: int = 21) -> float:
    """Return the shortest time of ``run`` in milliseconds."""
    spans = []
    for _ in range(times):
        start = time.perf_counter()
        run()
        spans.append(time.perf_counter() - start)
    return min(spans) * 1e3


def history(turns: int) -> list[Message]:
    """A loop's messages: a tool call and its result a turn, about `HISTORY_BYTES` in `TURNS` turns."""
    chance = random.Random(1)
    messages: list[Message] = []
    for turn in range(turns):
        words = (
            "".join(chance.choices(string.ascii_lowercase, k=6)) for _ in range(HISTORY_BYTES // TURNS // 9)
        )
        text = " ".join(words)
        call = ToolCall(id=f"call_{turn}", name="read", arguments={"path": text[:60]})
        messages.append(
            AssistantMessage(
                api=MODEL.api, provider=MODEL.provider, model=MODEL.id, content=[call], timestamp=turn
            )
        )
        messages.append(
            ToolResultMessage(
                tool_call_id=call.id, tool_name="read", content=[TextContent(text=text)], timestamp=turn
            )
        )
    return messages


def loop() -> list[Call]:
    """The calls of a loop, each with the whole history before it."""
    messages = history(TURNS)
    options = SimpleStreamOptions(temperature=0.0)
    return [
        Call(
            Context(system_prompt="Use the tools.", messages=messages[: 2 * turn]), say("ok"), options=options
        )
        for turn in range(TURNS + 1)
    ]


def dumped(call: Call) -> dict[str, Any]:
    """The request as JSON values."""
    options = call.options.model_dump(mode="json") if call.options else {}
    return {
        "model": call.model.model_dump(mode="json"),
        "context": call.context.model_dump(mode="json"),
        "options": options,
    }


def later(call: Call) -> Call:
    """The same call made on another day: every timestamp differs."""
    messages = [
        message.model_copy(update={"timestamp": message.timestamp + 1_000})
        for message in call.context.messages
    ]
    return Call(call.context.model_copy(update={"messages": messages}), call.events, options=call.options)


def with_another_last_word(call: Call) -> Call:
    """The same call, one character longer in its last message."""
    *before, result = call.context.messages
    assert isinstance(result, ToolResultMessage)
    assert isinstance(result.content[0], TextContent)
    changed = result.model_copy(update={"content": [TextContent(text=result.content[0].text + "!")]})
    context = call.context.model_copy(update={"messages": [*before, changed]})
    return Call(context, call.events, options=call.options)


async def first_event(provider: ReplayProvider, call: Call) -> None:
    events = provider.stream(call.model, call.context, call.options)
    try:
        await anext(events)
    finally:
        await events.aclose()


async def replay_ratios(path: Path, calls: list[Call]) -> tuple[float, float]:
    """Checking the last turn, redaction and file included: unchanged, and with its last word changed."""
    plain, changed = [], []
    for _ in range(9):
        provider = ReplayProvider(path)
        for call in calls[:-1]:
            await first_event(provider, call)
        last = calls[-1]
        request = dumped(last)
        floor = best_ms(partial(json.dumps, request), 5)
        wrong = with_another_last_word(last)
        start = time.perf_counter()
        try:
            await first_event(provider, wrong)
        except ReplayMismatch:
            changed.append((time.perf_counter() - start) * 1e3 / floor)
        start = time.perf_counter()
        await first_event(provider, last)
        plain.append((time.perf_counter() - start) * 1e3 / floor)
    return min(plain), min(changed)


def main() -> None:
    """Print the figures."""
    calls = loop()
    live = [later(call) for call in calls]
    recorded, incoming = dumped(calls[-1]), json.loads(json.dumps(dumped(live[-1])))
    changed = json.loads(json.dumps(incoming))
    changed["context"]["messages"][-1]["content"][0]["text"] += "!"
    policy = ComparisonPolicy.exact(["timestamp"])
    floor = best_ms(lambda: json.dumps(recorded))
    print(f"turn {TURNS}: a request of {len(json.dumps(recorded)):,} bytes; ratios to json.dumps of it")
    for name, other in (("nothing changed", incoming), ("the last word changed", changed)):
        first = best_ms(partial(find_first_difference, recorded, other, policy=policy))
        every = best_ms(partial(find_differences, recorded, other, policy=policy))
        print(f"  {name}: find_first_difference {first / floor:.2f}, find_differences {every / floor:.2f}")
        if find_spec("deepdiff") is not None:
            from deepdiff import DeepDiff

            skips = [r"\['timestamp'\]$"]
            slow = best_ms(partial(DeepDiff, recorded, other, exclude_regex_paths=skips), 3)
            print(f"  {name}: deepdiff {slow / floor:.1f}, {slow / first:.0f} times find_first_difference")
    with tempfile.TemporaryDirectory() as folder:
        path = write_recording(Path(folder) / "loop.jsonl", calls)
        plain, with_change = asyncio.run(replay_ratios(path, live))
    print(f"  replay's whole check, redaction and reading included: {plain:.2f} (target 2)")
    print(f"  the same, refused for the last word: {with_change:.2f}")


if __name__ == "__main__":
    main()
