from __future__ import annotations

import copy
import json
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Literal

import pytest

from openprogram_core.comparison import MISSING
from openprogram_core.errors import ProviderError
from openprogram_core.providers import StreamOptions, UserMessage
from openprogram_replay import RecordedCallError, ReplayMismatch, ReplayProvider
from tests.replay.sessions import MODEL, Call, ask, say, write_recording


async def refused(provider: ReplayProvider, call: Call) -> ReplayMismatch:
    with pytest.raises(ReplayMismatch) as caught:
        await anext(provider.stream(call.model, call.context, call.options))
    return caught.value


async def test_bounded_escaped_and_whole_in_its_attributes(tmp_path: Path) -> None:
    recorded, incoming = "\x1b[2J\n" + "x" * 5_000, "\x1b[2J\n" + "y" * 5_000
    provider = ReplayProvider(write_recording(tmp_path / "run.jsonl", [Call(ask(recorded), say("1"))]))
    mismatch = await refused(provider, Call(ask(incoming), []))
    assert len(str(mismatch)) <= 512
    assert str(mismatch).isprintable()
    assert str(mismatch).startswith(
        "replay mismatch at call 0, field context.messages[0].content: recorded '\\x1b[2J\\nxxx"
    )
    assert (mismatch.recorded, mismatch.incoming) == (recorded, incoming)


async def test_no_secret_in_message_attributes_or_report(tmp_path: Path) -> None:
    key = "sk-" + "proj-" + "Ab3xY9kQ7mZ2wR5tL8vN4pS6"
    path = write_recording(
        tmp_path / "run.jsonl", [Call(ask(f"old {key} recorded by an older version"), say("1"))]
    )
    provider = ReplayProvider(path)
    live = Call(ask(f"new {key}1 and words"), [], options=StreamOptions(api_key=key[::-1]))
    mismatch = await refused(provider, live)
    told = str(mismatch) + mismatch.report() + repr(mismatch.__dict__)
    assert key not in told
    assert key[::-1] not in told
    assert "[secret removed]" in str(mismatch)


WAYS: dict[str, Callable[[ReplayMismatch], ReplayMismatch]] = {
    "pickle": lambda one: pickle.loads(pickle.dumps(one)),
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
}


@pytest.mark.parametrize("way", WAYS)
async def test_survives_pickling_and_copying(tmp_path: Path, way: str) -> None:
    context = ask("a")
    context.messages.append(UserMessage(content="more"))
    provider = ReplayProvider(write_recording(tmp_path / "run.jsonl", [Call(ask("a"), say("1"))]))
    mismatch = await refused(provider, Call(context, []))
    twin = WAYS[way](mismatch)
    assert type(twin) is ReplayMismatch
    assert str(twin) == str(mismatch)
    assert twin.report() == mismatch.report()
    assert "context.messages[1] inserted: user message 'more'" in twin.report()
    assert (twin.call_index, twin.field_path, twin.event_index) == (0, "context.messages[1]", None)
    assert twin.recorded is MISSING
    assert twin.incoming["content"] == "more"


async def test_recorded_failures_survive_too(tmp_path: Path) -> None:
    error = RecordedCallError(3, "error", {"kind": "timeout", "message": "late", "retryable": True})
    twin = pickle.loads(pickle.dumps(error))
    assert isinstance(twin, RecordedCallError)
    assert isinstance(twin, ProviderError)
    assert (twin.kind, str(twin), twin.retryable, twin.call_index) == ("timeout", "late", True, 3)


@pytest.mark.parametrize("facts", [{"kind": "nonsense", "retry_after_s": "soon", "type": 5}, {}, None])
def test_strange_facts_of_a_failure_are_no_trouble(facts: dict[str, object] | None) -> None:
    error = RecordedCallError(0, "cancelled", facts)
    assert (error.kind, error.retry_after_s, error.type) == ("protocol", None, None)
    assert str(error) == "call 0 was recorded as cancelled"


async def test_the_report_outlives_the_recording(tmp_path: Path) -> None:
    path = write_recording(tmp_path / "run.jsonl", [Call(ask("a"), say("1"))])
    provider = ReplayProvider(path)
    mismatch = await refused(provider, Call(ask("b"), []))
    provider.close()
    assert "call 0 has 1 difference" in mismatch.report()


async def test_a_report_that_cannot_be_made_says_so(tmp_path: Path) -> None:
    path = write_recording(tmp_path / "run.jsonl", [Call(ask("a"), say("1"))])
    provider = ReplayProvider(path)
    mismatch = await refused(provider, Call(ask("b"), []))
    provider._recording.close()
    assert mismatch.report().startswith(str(mismatch))
    assert "no report: RecordingFileError" in mismatch.report()


async def test_what_was_skipped_and_by_whom_is_in_the_report(tmp_path: Path) -> None:
    context = ask("a")
    provider = ReplayProvider(
        write_recording(tmp_path / "run.jsonl", [Call(context, say("1"))]), skip=["options.seed"]
    )
    changed = ask("b")
    changed.messages[0].timestamp = 77
    mismatch = await refused(provider, Call(changed, [], options=StreamOptions(seed=4)))
    report = mismatch.report()
    skipped = "skipped timestamp at 1 place (openprogram_field_skips: wall-clock time)"
    assert f"{skipped}: context.messages[0].timestamp" in report
    assert "skipped options.seed at 1 place (skip argument): options.seed" in report


async def test_a_hole_where_the_replaying_side_no_longer_knows_the_secret(tmp_path: Path) -> None:
    recorded = "my pin is [secret removed], keep it"
    path = write_recording(tmp_path / "run.jsonl", [Call(ask(recorded), say("1"))] * 2)
    orders: tuple[Literal["ordered", "any-order"], ...] = ("ordered", "any-order")
    for order in orders:
        provider = ReplayProvider(path, order=order)
        await anext(provider.stream(MODEL, ask("my pin is tulip-87, keep it"), StreamOptions()))
        assert provider.calls_used == 1
    mismatch = await refused(
        provider, Call(ask("my pin is tulip-87, keep it"), [], options=StreamOptions(seed=1))
    )
    assert "a placeholder stood for a removed secret once" in mismatch.report()


async def test_a_secret_header_may_be_absent_when_replaying(tmp_path: Path) -> None:
    with_header = StreamOptions(headers={"authorization": "Bearer x", "x-team": "blue"})
    path = write_recording(tmp_path / "run.jsonl", [Call(ask("a"), say("1"), options=with_header)] * 2)
    provider = ReplayProvider(path)
    await anext(provider.stream(MODEL, ask("a"), StreamOptions(headers={"x-team": "blue"})))
    mismatch = await refused(provider, Call(ask("a"), [], options=StreamOptions()))
    assert (mismatch.field_path, mismatch.recorded) == ('options.headers["x-team"]', "blue")


async def test_an_agent_that_retries_for_ever_fills_no_memory(tmp_path: Path) -> None:
    provider = ReplayProvider(write_recording(tmp_path / "run.jsonl", [Call(ask("a"), say("1"))]))
    for number in range(300):
        await refused(provider, Call(ask(f"b{number}"), []))
    assert len(provider.mismatches) == 100
    assert json.dumps([one.incoming for one in provider.mismatches[:2]]) == '["b0", "b1"]'


async def test_changing_what_a_mismatch_holds_changes_nothing_else(tmp_path: Path) -> None:
    provider = ReplayProvider(write_recording(tmp_path / "run.jsonl", [Call(ask("a"), say("1"))]))
    context = ask("a")
    context.messages.append(UserMessage(content="a rather long message, so that it is remembered " * 3))
    mismatch = await refused(provider, Call(context, []))
    mismatch.incoming["content"] = "changed"
    again = await refused(provider, Call(context, []))
    assert again.incoming["content"].startswith("a rather long message")
