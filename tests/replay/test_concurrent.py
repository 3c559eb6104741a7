from __future__ import annotations

import asyncio
import contextvars
import random
import re
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, TypeVar

import pytest

from openprogram_core import hookimpl
from openprogram_core.comparison import FieldVerdict
from openprogram_core.providers import ApiProvider, AssistantMessageEvent, StreamOptions, UserMessage
from openprogram_core.recordings import call_lane
from openprogram_core.testing import ScriptedProvider
from openprogram_record import RecordingProvider, RecordingSink
from openprogram_replay import ReplayMismatch, ReplayProvider
from tests.replay.sessions import MODEL, Call, ask, say, write_recording

T = TypeVar("T")
ORDERS: tuple[Literal["ordered", "any-order"], ...] = ("ordered", "any-order")
CALLS = 50
ROUNDS = 20


async def play(provider: ApiProvider, call: Call) -> list[AssistantMessageEvent]:
    events = []
    async for event in provider.stream(call.model, call.context, call.options):
        events.append(event)
        await asyncio.sleep(0)
    return events


async def play_in_lane(provider: ApiProvider, call: Call) -> list[AssistantMessageEvent]:
    if call.lane is None:
        return await play(provider, call)
    with call_lane(call.lane):
        return await play(provider, call)


def shuffled(items: Sequence[T], seed: int) -> list[T]:
    order = list(items)
    random.Random(seed).shuffle(order)
    return order


@pytest.mark.parametrize("order", ORDERS)
async def test_lanes_keep_their_answers_however_they_overlap(
    tmp_path: Path, order: Literal["ordered", "any-order"]
) -> None:
    # The same question in every lane: only the lane tells the answers apart.
    calls = [
        Call(ask(f"question {number % 5}"), say(f"answer {number}"), lane=f"lane {number}")
        for number in range(CALLS)
    ]
    path = write_recording(tmp_path / "run.jsonl", calls)
    for seed in range(ROUNDS):
        provider = ReplayProvider(path, order=order)
        chosen = shuffled(calls, seed)
        answers = await asyncio.gather(*(play_in_lane(provider, call) for call in chosen))
        assert answers == [list(call.events) for call in chosen]
        provider.assert_consumed()


async def test_any_order_finds_the_answer_by_the_request(tmp_path: Path) -> None:
    calls = [Call(ask(f"question {number}"), say(f"answer {number}")) for number in range(CALLS)]
    path = write_recording(tmp_path / "run.jsonl", calls)
    for seed in range(ROUNDS):
        provider = ReplayProvider(path, order="any-order")
        chosen = shuffled(calls, seed)
        answers = await asyncio.gather(*(play(provider, call) for call in chosen))
        assert answers == [list(call.events) for call in chosen]
        provider.assert_consumed()


async def test_equal_requests_with_different_answers_each_once_in_order(tmp_path: Path) -> None:
    calls = [Call(ask(f"question {number % 2}"), say(f"answer {number}")) for number in range(CALLS)]
    provider = ReplayProvider(write_recording(tmp_path / "run.jsonl", calls), order="any-order")
    odd_first = [*calls[1::2], *calls[0::2]]
    answers = await asyncio.gather(*(play(provider, call) for call in odd_first))
    assert answers == [list(call.events) for call in odd_first]
    with pytest.raises(ReplayMismatch) as caught:
        await play(provider, calls[0])
    assert str(caught.value) == (
        "replay mismatch at call 50, field call_index: recorded '25 calls equal to it', "
        "incoming 'one more call'"
    )
    assert "recorded 25 times, used 25 times, this is the 26th time" in caught.value.report()


@pytest.mark.parametrize("order", ORDERS)
def test_threads_never_get_each_others_answers(
    tmp_path: Path, order: Literal["ordered", "any-order"]
) -> None:
    calls = [
        Call(ask(f"question {number}"), say(f"answer {number}"), lane=f"lane {number % 8}")
        for number in range(400)
    ]
    provider = ReplayProvider(
        write_recording(tmp_path / "run.jsonl", calls),
        order=order,
    )
    wrong: list[Call] = []

    def run_lane(lane: int) -> None:
        for call in calls[lane::8]:
            if asyncio.run(play_in_lane(provider, call)) != list(call.events):
                wrong.append(call)

    threads = [threading.Thread(target=contextvars.copy_context().run, args=(run_lane, n)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    provider.assert_consumed()


async def test_a_mismatch_in_one_task_disturbs_no_other(tmp_path: Path) -> None:
    calls = [
        Call(ask(f"question {number}"), say(f"answer {number}"), lane=f"lane {number}")
        for number in range(10)
    ]
    provider = ReplayProvider(write_recording(tmp_path / "run.jsonl", calls))
    wrong = Call(ask("question 4, changed"), [], lane="lane 4")
    results = await asyncio.gather(
        *(play_in_lane(provider, call) for call in [*calls[:4], wrong, *calls[5:]]), return_exceptions=True
    )
    assert isinstance(results[4], ReplayMismatch)
    assert results[4].call_index == 4
    del results[4]
    assert results == [list(call.events) for call in [*calls[:4], *calls[5:]]]
    assert await play_in_lane(provider, calls[4]) == list(calls[4].events)


async def test_a_lane_that_was_not_recorded_says_which_were(tmp_path: Path) -> None:
    call = Call(ask("hi"), say("hello"), lane="writer")
    provider = ReplayProvider(write_recording(tmp_path / "run.jsonl", [call]))
    with pytest.raises(ReplayMismatch) as caught:
        await play(provider, Call(call.context, []))
    assert "recorded 'no call outside every lane', incoming 'one more call'" in str(caught.value)
    report = caught.value.report()
    assert (
        "equal to call 0, which was recorded in lane 'writer'; this call was made outside every lane"
        in report
    )
    assert "recorded: 1 call in lane 'writer'" in report


async def test_any_order_refuses_with_the_closest_call(tmp_path: Path) -> None:
    calls = [Call(ask(f"question {number}", system="be brief"), say("x")) for number in range(5)]
    provider = ReplayProvider(write_recording(tmp_path / "run.jsonl", calls), order="any-order")
    changed = Call(ask("question 3", system="be long"), [], options=StreamOptions())
    with pytest.raises(ReplayMismatch) as caught:
        await play(provider, changed)
    assert (caught.value.call_index, caught.value.field_path) == (3, "context.system_prompt")
    assert provider.calls_used == 0


async def test_recorded_concurrently_and_replayed_in_any_start_order(tmp_path: Path) -> None:
    source = ScriptedProvider([f"answer {number}" for number in range(CALLS)], chunking=3)
    path = tmp_path / "run.jsonl"
    calls = [Call(ask(f"question {number % 7}"), [], lane=f"lane {number}") for number in range(CALLS)]
    with RecordingSink(path) as sink:
        recorder = RecordingProvider(source, sink)
        recorded = await asyncio.gather(*(play_in_lane(recorder, call) for call in calls))
    for seed in range(ROUNDS):
        for order in ORDERS:
            provider = ReplayProvider(path, order=order)
            chosen = shuffled(range(CALLS), seed)
            replayed = await asyncio.gather(*(play_in_lane(provider, calls[number]) for number in chosen))
            assert replayed == [recorded[number] for number in chosen]
            provider.assert_consumed()


SKIPS: dict[str, tuple[list[str], Callable[[Call], None]]] = {
    "api": (["model.api"], lambda call: setattr(call, "model", MODEL.model_copy(update={"api": "other"}))),
    "model": (
        ["model"],
        lambda call: setattr(call, "model", MODEL.model_copy(update={"id": "m", "api": "o"})),
    ),
    "id": (["id"], lambda call: setattr(call, "model", MODEL.model_copy(update={"id": "other"}))),
    "messages": (["context.messages"], lambda call: call.context.messages.append(UserMessage(content="x"))),
    "name": (["messages"], lambda call: call.context.messages.append(UserMessage(content="x"))),
    "context": (["context"], lambda call: call.context.messages.clear()),
    "one": (["context.messages[1]"], lambda call: call.context.messages.append(UserMessage(content="x"))),
    "each": (["context.messages[*]"], lambda call: call.context.messages.clear()),
}


class SkipPaths:
    """Says of places that they do not count, one difference after the other."""

    def __init__(self, paths: Sequence[str]) -> None:
        self.paths = paths

    @hookimpl
    def compare_field(self, field_path: str, recorded: Any, incoming: Any) -> FieldVerdict | None:
        steps = re.sub(r"\[\d+\]", "[*]", field_path)
        names = field_path.split(".")
        skipped = {field_path, steps, names[-1]} & set(self.paths)
        return FieldVerdict.SKIP if skipped else None


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("by_hook", [False, True])
@pytest.mark.parametrize("name", SKIPS)
async def test_what_is_skipped_is_no_reason_to_refuse(
    tmp_path: Path, order: Literal["ordered", "any-order"], by_hook: bool, name: str
) -> None:
    skip, change = SKIPS[name]
    path = write_recording(tmp_path / "run.jsonl", [Call(ask("a"), say("1")), Call(ask("a"), say("2"))])
    plugins = [SkipPaths(skip)] if by_hook else []
    provider = ReplayProvider(path, order=order, plugins=plugins, skip=[] if by_hook else skip)
    call = Call(ask("a"), [])
    change(call)
    assert await play(provider, call) == say("1")
    # Another difference is one, and is named.
    with pytest.raises(ReplayMismatch, match=r"call 1, field options\.seed") as caught:
        await play(provider, replace(call, options=StreamOptions(seed=1)))
    assert "call 1 has 1 difference" in caught.value.report()
    assert await play(provider, call) == say("2")
    with pytest.raises(ReplayMismatch, match="field call_index") as caught:
        await play(provider, call)
    assert "used twice, this is the third time" in caught.value.report()
