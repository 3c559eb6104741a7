"""An exception out of a signal handler may come between any two lines: the recording stays true."""

from __future__ import annotations

import linecache
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import openprogram_record
from openprogram_core.providers import AssistantMessageEvent, Context
from openprogram_core.recordings import RecordingWriteError, read_recording_file
from openprogram_core.testing import Say, ScriptedProvider, scripted_model
from openprogram_record import RecordingProvider, RecordingSink

RECORDER = str(Path(openprogram_record.__file__).parent)


class Interrupted(BaseException):
    pass


@contextmanager
def interrupted_at(line: int) -> Iterator[list[int]]:
    """Raise `Interrupted` before the given line, counted from 0, that runs in the recorder; once."""
    seen = [0]

    def trace(frame: FrameType, event: str, argument: Any) -> Any:
        if not frame.f_code.co_filename.startswith(RECORDER):
            return None
        # Where a `with` ends is no place for a signal: the interpreter looks for them after the call of
        # __exit__, and a trace function that raises there would leave the lock taken.
        source = linecache.getline(frame.f_code.co_filename, frame.f_lineno).lstrip()
        if event == "line" and not source.startswith("with "):
            seen[0] += 1
            if seen[0] == line + 1:
                sys.settrace(None)
                raise Interrupted
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        yield seen
    finally:
        sys.settrace(before)


def step(provider: RecordingProvider, got: list[AssistantMessageEvent]) -> None:
    # Driven by hand: no event loop stands between the exception and the generator.
    events = provider.stream(scripted_model(), Context())
    while True:
        try:
            events.__anext__().send(None)
        except StopIteration as given:
            got.append(given.value)
        except StopAsyncIteration:
            return


def record_interrupted(path: Path, line: int) -> bool:
    """Record three calls, the second one interrupted; returns whether there was such a line."""
    happened = False
    delivered: list[list[AssistantMessageEvent]] = [[], [], []]
    sink = RecordingSink(path)
    provider = RecordingProvider(ScriptedProvider([[Say("hello there")]] * 3), sink)
    step(provider, delivered[0])
    try:
        with interrupted_at(line) as seen:
            step(provider, delivered[1])
    except Interrupted:
        happened = True
    step(provider, delivered[2])
    try:
        sink.close()
    except RecordingWriteError as error:
        raise AssertionError(f"line {line}: {error}") from error
    with read_recording_file(path) as recording:
        calls = list(recording.calls)
        assert [calls[0].outcome, calls[-1].outcome] == ["complete", "complete"], line
        assert [list(calls[0].events()), list(calls[-1].events())] == [delivered[0], delivered[2]], line
        assert len(calls) == 3 or (len(calls) == 2 and delivered[1] == []), line
        if len(calls) == 3:
            on_file = list(calls[1].events())
            # Each row is on file before its event is given out; at most one was written and not given out.
            assert on_file[: len(delivered[1])] == delivered[1], line
            assert len(on_file) <= len(delivered[1]) + 1, line
            if calls[1].outcome == "complete":
                assert on_file[-1].type == "done", line
    return happened or seen[0] > line


# Between the making of a step and its await there is a step that nobody awaits.
@pytest.mark.filterwarnings("ignore:coroutine method:RuntimeWarning")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_an_exception_between_any_two_lines_of_the_recorder(tmp_path: Path) -> None:
    line = 0
    while record_interrupted(tmp_path / f"{line}.jsonl", line):
        line += 1
    assert line > 100


def test_a_last_row_that_lacks_only_its_newline_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    for _ in range(2):
        with RecordingSink(path, append=True) as sink:
            step(RecordingProvider(ScriptedProvider(["hi"]), sink), [])
        path.write_bytes(path.read_bytes().removesuffix(b"\n"))
    with RecordingSink(path, append=True) as sink:
        step(RecordingProvider(ScriptedProvider(["hi"]), sink), [])
    with read_recording_file(path) as recording:
        assert [call.outcome for call in recording.calls] == ["complete"] * 3


def test_a_killed_writers_call_whose_message_had_ended_is_complete(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    with RecordingSink(path) as sink:
        step(RecordingProvider(ScriptedProvider(["hi", "ho"]), sink), [])
    rows = path.read_bytes().splitlines(keepends=True)
    for kept, outcome in ((-1, "complete"), (-2, "abandoned")):
        path.write_bytes(b"".join(rows[:kept]))
        RecordingSink(path, append=True).close()
        with read_recording_file(path) as recording:
            assert [call.outcome for call in recording.calls] == [outcome]
