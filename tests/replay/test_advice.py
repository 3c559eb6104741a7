"""What a report advises depends on what happened, and is never of no use."""

from __future__ import annotations

from pathlib import Path

import pytest

from openprogram_core.errors import RecordingFileError
from openprogram_core.providers import StreamOptions, UserMessage
from openprogram_core.recordings import call_lane
from openprogram_replay import ReplayMismatch, ReplayProvider, ReplayWording, replaying
from tests.replay.sessions import MODEL, Call, ask, say, write_recording

AB = [Call(ask("a"), say("1")), Call(ask("b"), say("2"))]


async def advice(provider: ReplayProvider, call: Call) -> str:
    with pytest.raises(ReplayMismatch) as caught:
        async for _ in provider.stream(call.model, call.context, call.options):
            pass
    return caught.value.report().rpartition("\n\n")[2]


async def use(provider: ReplayProvider, *calls: Call) -> None:
    for call in calls:
        async for _ in provider.stream(call.model, call.context, call.options):
            pass


def provider_of(folder: Path, calls: list[Call]) -> ReplayProvider:
    return ReplayProvider(write_recording(folder / "run.jsonl", calls))


async def test_another_order(tmp_path: Path) -> None:
    text = await advice(provider_of(tmp_path, AB), AB[1])
    assert 'replaying(..., order="any-order")' in text
    assert "call_lane()" in text
    assert "skip" not in text


async def test_a_lane_that_is_missing(tmp_path: Path) -> None:
    text = await advice(provider_of(tmp_path, [Call(ask("a"), say("1"), lane="writer")]), AB[0])
    assert "with call_lane('writer')" in text
    assert "skip" not in text


async def test_a_lane_too_much(tmp_path: Path) -> None:
    with call_lane("writer"):
        text = await advice(provider_of(tmp_path, AB[:1]), AB[0])
    assert "outside every lane" in text
    assert "skip" not in text


async def test_a_lane_that_was_not_recorded(tmp_path: Path) -> None:
    with call_lane("writer"):
        text = await advice(provider_of(tmp_path, AB[:1]), AB[1])
    assert "no call in lane 'writer'" in text
    assert "skip" not in text


@pytest.mark.parametrize("call", AB, ids=["the same", "another"])
async def test_one_call_more(tmp_path: Path, call: Call) -> None:
    provider = provider_of(tmp_path, AB[:1])
    await use(provider, AB[0])
    assert await advice(provider, call) == "If one more call is meant, record again."


async def test_a_call_made_twice(tmp_path: Path) -> None:
    provider = provider_of(tmp_path, AB)
    await use(provider, AB[0])
    assert await advice(provider, AB[0]) == "If one more call is meant, record again."


@pytest.mark.parametrize(
    ("call", "skip"),
    [
        (Call(ask("a"), [], options=StreamOptions(metadata={"id": 1})), 'skip=["options.metadata"]'),
        (
            Call(ask("a"), [], options=StreamOptions(headers={"x-id": "1"})),
            "skip=['options.headers[\"x-id\"]']",
        ),
        (Call(ask("b"), []), 'skip=["context.messages[*].content"]'),
        (
            Call(ask("a"), [], options=StreamOptions(seed=1, temperature=0.5)),
            'skip=["options.seed", "options.temperature"]',
        ),
    ],
    ids=["metadata", "header", "text", "two"],
)
async def test_a_field_is_skipped_by_its_very_path(tmp_path: Path, call: Call, skip: str) -> None:
    recorded = Call(ask("a"), say("1"), options=StreamOptions(headers={"x-id": "0"}))
    if call.options == StreamOptions() or "x-id" not in (call.options.headers if call.options else {}):
        recorded = AB[0]
    text = await advice(provider_of(tmp_path, [recorded]), call)
    assert f"replaying(..., {skip})" in text
    assert text.startswith("If the change is meant, record again.")
    # And it helps.
    provider = ReplayProvider(tmp_path / "run.jsonl", skip=eval(skip.removeprefix("skip=")))
    await use(provider, call)


async def test_an_address_is_called_one(tmp_path: Path) -> None:
    moved = Call(ask("a"), [], model=MODEL.model_copy(update={"base_url": "http://127.0.0.1:1/v1"}))
    text = await advice(provider_of(tmp_path, AB[:1]), moved)
    assert 'If the address differs from run to run, skip it: replaying(..., skip=["model.base_url"])' in text


async def test_no_skip_where_none_helps(tmp_path: Path) -> None:
    longer = ask("a")
    longer.messages.append(UserMessage(content="more"))
    for call in (
        Call(longer, []),
        Call(ask("a"), [], model=MODEL.model_copy(update={"id": "small-2"})),
        Call(ask("c", system="x"), [], options=StreamOptions(seed=1, temperature=0.5, max_tokens=9)),
    ):
        text = await advice(provider_of(tmp_path, AB[:1]), call)
        assert text == "If the change is meant, record again."


async def test_reading_on(tmp_path: Path) -> None:
    call = Call(ask("a"), say("1")[:3], outcome="abandoned")
    text = await advice(provider_of(tmp_path, [call]), call)
    assert text == "The recorded run left the stream here. If reading on is meant, record again."


async def test_calls_not_made(tmp_path: Path) -> None:
    provider = provider_of(tmp_path, AB)
    with pytest.raises(ReplayMismatch) as caught:
        provider.assert_consumed()
    assert caught.value.report().endswith("\n\nIf they are left out on purpose, record again.")


async def test_whoever_replays_says_how_it_is_spelled(tmp_path: Path) -> None:
    path = write_recording(tmp_path / "run.jsonl", AB)
    wording = ReplayWording(skip="@mark(skip={})", any_order="@mark(order='any-order')", closing="The end.")
    changed = Call(ask("a"), [], options=StreamOptions(seed=1))
    assert '@mark(skip=["options.seed"])\n' in await advice_and_end(path, wording, changed)
    assert "@mark(order='any-order')" in await advice_and_end(path, wording, AB[1])


async def advice_and_end(path: Path, wording: ReplayWording, call: Call) -> str:
    text = await advice(ReplayProvider(path, wording=wording), call)
    assert text.endswith("\nThe end.")
    assert "replaying" not in text
    return text


async def test_skips_that_met_nothing_are_listed(tmp_path: Path) -> None:
    options = StreamOptions(metadata={"trace_id": "1"}, seed=5)
    path = write_recording(tmp_path / "run.jsonl", [Call(ask("a"), say("1"), options=options)])
    skip = ["options.metadata.traceid", "options.seed", "stamp", "trace_id", "context.messages[*].contents"]
    provider = ReplayProvider(path, skip=skip)
    with pytest.raises(ReplayMismatch) as caught:
        await use(provider, AB[0])
    listed = next(line for line in caught.value.report().splitlines() if "met nothing" in line)
    assert listed == ("skips that met nothing: options.metadata.traceid, stamp, context.messages[*].contents")


async def test_skips_of_plugins_that_met_nothing_are_not(tmp_path: Path) -> None:
    with pytest.raises(ReplayMismatch) as caught:
        await use(provider_of(tmp_path, AB), AB[1])
    assert "met nothing" not in caught.value.report()


def test_no_recording_yet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(RecordingFileError) as caught, replaying("nothere.jsonl"):
        pass
    assert str(caught.value).endswith(
        "nothere.jsonl: there is no such file. Record it first: with recording('nothere.jsonl')"
    )
