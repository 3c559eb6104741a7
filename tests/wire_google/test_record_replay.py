"""Record → replay: the same events and the same failures, with every socket refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support import wire_recording as checks
from tests.support.shared import shared_path
from tests.support.wire_bytes import sse
from tests.wire_google.test_sessions import ANSWERS
from tests.wire_google.wire import PROVIDER, call, chunk, gemini, stop

SIGNATURE = "EqQB" + "x" * 60
WIRE = checks.Wire(
    provider=PROVIDER,
    model=gemini,
    tool_turn=sse(
        chunk({"text": "hm", "thought": True}),
        chunk({"text": "", "thoughtSignature": SIGNATURE}, {"executableCode": {"code": "1"}}),
        chunk(call(args={"a": 1}, signature=SIGNATURE), call("g")),
        stop(),
        newline="\r\n",
    ),
    text_turn=lambda *pieces: sse(*(chunk({"text": piece}) for piece in pieces), stop(), newline="\r\n"),
    beginning=sse(chunk({"text": "par"}), newline="\r\n"),
    failed=sse({"error": {"code": 503, "message": "x", "status": "UNAVAILABLE"}}, newline="\r\n"),
    key_header="x-goog-api-key",
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
