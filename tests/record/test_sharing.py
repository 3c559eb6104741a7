"""Tasks, threads and processes that write one file: whole rows, contiguous indexes, every call complete."""

from __future__ import annotations

import asyncio
import os
import random
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import pytest

from openprogram_core.providers import Context, Model, StreamOptions, UserMessage
from openprogram_core.recordings import Recording, RecordingWriteError, read_recording_file
from openprogram_record import RecordingProvider, RecordingSink
from tests.record.recorded import DONE, MODEL, START, FunctionProvider, Stream, asking, delta, drain
from tests.support.interpreter import run_python


class Echo(FunctionProvider):
    """Answers with the question, a letter an event, letting others run in between."""

    def __init__(self, seed: int = 0) -> None:
        self._random = random.Random(seed)

    def stream(self, model: Model, context: Context, options: StreamOptions | None = None) -> Stream:
        return self._echo(_question(context))

    async def _echo(self, question: str) -> Stream:
        yield START
        for letter in question:
            await asyncio.sleep(self._random.choice((0, 0, 0.001)))
            yield delta(letter)
        yield DONE


def _question(context: Context) -> str:
    message = context.messages[0]
    assert isinstance(message, UserMessage)
    assert isinstance(message.content, str)
    return message.content


def _check_answers(recording: Recording, expected: int) -> list[str]:
    """Every call is complete and holds its own answer; returns the questions."""
    questions = []
    for call in recording.calls:
        question = call.request()["context"]["messages"][0]["content"]
        events = list(call.events())
        assert "".join(getattr(event, "delta", "") for event in events) == question
        assert call.outcome == "complete"
        questions.append(question)
    assert len(questions) == expected
    return questions


async def test_a_hundred_tasks(tmp_path: Path) -> None:
    with RecordingSink(tmp_path / "a.jsonl") as sink:
        provider = RecordingProvider(Echo(), sink)
        await asyncio.gather(
            *(drain(provider.stream(MODEL, asking(f"question {number}"))) for number in range(100))
        )
    with read_recording_file(tmp_path / "a.jsonl") as recording:
        assert len(set(_check_answers(recording, 100))) == 100


def test_eight_threads_and_two_sinks_of_one_path(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    link = tmp_path / "link.jsonl"
    sinks = [RecordingSink(path)]
    link.symlink_to(path)
    sinks.append(RecordingSink(link))

    def work(number: int) -> None:
        provider = RecordingProvider(Echo(number), sinks[number % 2])
        for turn in range(5):
            asyncio.run(drain(provider.stream(MODEL, asking(f"{number}-{turn}"))))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    sinks[0].close()
    asyncio.run(drain(RecordingProvider(Echo(), sinks[1]).stream(MODEL, asking("last"))))
    sinks[1].close()
    with read_recording_file(path) as recording:
        assert _check_answers(recording, 41)[-1] == "last"


_WORKER = """
    import asyncio, sys, threading
    from openprogram_record import RecordingProvider, RecordingSink
    from tests.record.recorded import MODEL, asking, drain
    from tests.record.test_sharing import Echo

    path, name = sys.argv[1:]
    def work(number):
        provider = RecordingProvider(Echo(number), sink)
        async def turns():
            for turn in range(4):
                texts = [f"{name}-{number}-{turn}-{task}" for task in range(3)]
                await asyncio.gather(*(drain(provider.stream(MODEL, asking(text))) for text in texts))
        asyncio.run(turns())

    with RecordingSink(path, append=True) as sink:
        print("ready", flush=True)
        sys.stdin.readline()
        threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
        [thread.start() for thread in threads]
        [thread.join() for thread in threads]
"""


def test_four_processes_with_four_threads_each(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    workers = [
        subprocess.Popen(
            [sys.executable, "-c", textwrap.dedent(_WORKER), str(path), str(number)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "OPENPROGRAM_HOME": str(tmp_path)},
            cwd=Path(__file__).parents[2],
        )
        for number in range(4)
    ]
    for worker in workers:
        assert worker.stdout is not None
        assert worker.stdout.readline() == b"ready\n"
    for worker in workers:
        # Closes the pipe, which lets all of them begin at about the same time.
        worker.stdin.close()  # type: ignore[union-attr]  # it is a pipe
    for worker in workers:
        assert worker.wait(60) == 0
        worker.stdout.close()  # type: ignore[union-attr]  # it is a pipe
    with read_recording_file(path) as recording:
        assert len(set(_check_answers(recording, 4 * 4 * 4 * 3))) == 192


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_fork_in_the_middle_of_a_call(tmp_path: Path) -> None:
    done = run_python(
        f"""
        import asyncio, os, sys, warnings
        from openprogram_core.recordings import RecordingWriteError
        from openprogram_record import RecordingProvider, RecordingSink
        from tests.record.recorded import MODEL, asking, drain
        from tests.record.test_sharing import Echo

        warnings.simplefilter("ignore", DeprecationWarning)
        sink = RecordingSink({str(tmp_path / "a.jsonl")!r})
        provider = RecordingProvider(Echo(), sink)

        async def main():
            await drain(provider.stream(MODEL, asking("before")))
            stream = provider.stream(MODEL, asking("while"))
            await stream.__anext__()
            return stream

        # Not asyncio.run, which closes the streams that are open at its end.
        loop = asyncio.new_event_loop()
        stream = loop.run_until_complete(main())
        child = os.fork()
        if child == 0:
            loop = asyncio.new_event_loop()
            # The open call is the parent's: this must write nothing of it.
            try:
                loop.run_until_complete(drain(stream))
            except RecordingWriteError as error:
                assert "belongs to the parent process" in str(error), error
            else:
                raise AssertionError("the child went on with its parent's call")
            loop.run_until_complete(drain(provider.stream(MODEL, asking("child"))))
            sink.close()
            loop.close()
            sys.exit(0)
        loop.run_until_complete(drain(stream))
        loop.run_until_complete(drain(provider.stream(MODEL, asking("after"))))
        assert os.waitpid(child, 0)[1] == 0
        sink.close()
        loop.close()
        """,
        home=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    with read_recording_file(tmp_path / "a.jsonl") as recording:
        questions = _check_answers(recording, 4)
    assert questions[:2] == ["before", "while"]
    assert set(questions[2:]) == {"child", "after"}


def test_a_sink_closed_while_threads_begin_calls(tmp_path: Path) -> None:
    for number in range(5):
        path = tmp_path / f"{number}.jsonl"
        sink = RecordingSink(path)
        provider = RecordingProvider(Echo(number), sink)
        begun = threading.Barrier(5)

        ends: list[str] = []

        def work(provider: RecordingProvider, begun: threading.Barrier, ends: list[str]) -> None:
            begun.wait()
            try:
                while True:
                    asyncio.run(drain(provider.stream(MODEL, asking("question"))))
            except RecordingWriteError as error:
                ends.append(error.reason)

        threads = [threading.Thread(target=work, args=(provider, begun, ends)) for _ in range(4)]
        for thread in threads:
            thread.start()
        begun.wait()
        time.sleep(number * 0.006)
        sink.close()
        for thread in threads:
            thread.join()
        assert len(ends) == 4
        assert all(reason.startswith("the recording was closed") for reason in ends)
        with read_recording_file(path) as recording:
            assert {call.outcome for call in recording.calls} <= {"complete", "abandoned"}
