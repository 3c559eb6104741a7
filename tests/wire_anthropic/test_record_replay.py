"""Record → replay: the same events and the same failures, with every socket refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support import wire_recording as checks
from tests.support.shared import shared_path
from tests.support.wire_bytes import sse
from tests.wire_anthropic.test_sessions import ANSWERS
from tests.wire_anthropic.wire import PROVIDER, begin, block, claude, end, text, tool

THINKING = block(
    0,
    {"type": "thinking", "thinking": "", "signature": ""},
    {"type": "thinking_delta", "thinking": "hm"},
    {"type": "signature_delta", "signature": "EqQB" + "x" * 60},
)
HIDDEN = block(1, {"type": "redacted_thinking", "data": "Eo8B" + "y" * 60})
CALLS = [*tool(2, '{"a"', ":1}", call_id="toolu_1"), *tool(3, call_id="toolu_2", name="g")]
WIRE = checks.Wire(
    provider=PROVIDER,
    model=claude,
    tool_turn=sse(begin(), *THINKING, *HIDDEN, *CALLS, *end("tool_use"), named=True),
    text_turn=lambda *pieces: sse(begin(), *text(0, *pieces), *end(), named=True),
    beginning=sse(begin(), *text(0, "par")[:2], named=True),
    failed=sse({"type": "error", "error": {"type": "overloaded_error", "message": "x"}}, named=True),
    key_header="authorization",
)


async def test_a_tool_loop(tmp_path: Path) -> None:
    await checks.check_tool_loop(WIRE, tmp_path / "loop.jsonl")


async def test_two_recordings_of_one_run(tmp_path: Path) -> None:
    await checks.check_two_runs(WIRE, tmp_path)


@pytest.mark.parametrize("ending", checks.ENDING_NAMES)
async def test_a_failure(ending: str, tmp_path: Path) -> None:
    await checks.check_failure(WIRE, ending, tmp_path / "failure.jsonl")


async def test_an_aborted_call(tmp_path: Path) -> None:
    await checks.check_abort(WIRE, tmp_path / "aborted.jsonl")


async def test_a_cancelled_call(tmp_path: Path) -> None:
    await checks.check_cancellation(WIRE, tmp_path / "cancelled.jsonl")


async def test_no_key_reaches_the_file(tmp_path: Path) -> None:
    await checks.check_no_key_in_the_file(WIRE, tmp_path / "key.jsonl")


async def test_the_real_sessions(tmp_path: Path) -> None:
    answers = [shared_path(f"streams/{one}.response.sse").read_bytes() for one in ANSWERS]
    await checks.check_sessions(WIRE, answers, tmp_path / "sessions.jsonl")
