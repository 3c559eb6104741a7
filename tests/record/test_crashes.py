"""Writers that die: what is complete stays readable, what goes on mends the end."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from openprogram_core.recordings import (
    RecordingFileError,
    check_recording_file,
    is_being_written,
    read_recording_file,
)
from openprogram_record import RecordingProvider, RecordingSink
from tests.record.recorded import (
    DONE,
    MODEL,
    START,
    FunctionProvider,
    Stream,
    asking,
    delta,
    drain,
    ends,
    rows,
)
from tests.support.interpreter import run_python

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")


async def _good() -> Stream:
    for event in (START, delta(), DONE):
        yield event


async def _record(path: Path, text: str = "more") -> None:
    with RecordingSink(path, append=True) as sink:
        await drain(RecordingProvider(FunctionProvider(_good), sink).stream(MODEL, asking(text)))


_KILLED = """
    import asyncio, os, random, signal, sys, time, warnings
    warnings.simplefilter("ignore", DeprecationWarning)
    from openprogram_record import RecordingProvider, RecordingSink
    from tests.record.recorded import DONE, MODEL, START, FunctionProvider, asking, delta, drain

    path, rounds, writers = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])

    async def good():
        yield START
        for number in range(20):
            # Longer than a page now and then: the kernel may stop inside such a write.
            yield delta("x" * random.choice((1, 50, 20_000)))
        yield DONE

    async def forever():
        with RecordingSink(path, append=True) as sink:
            provider = RecordingProvider(FunctionProvider(good), sink)
            while True:
                await asyncio.gather(*(drain(provider.stream(MODEL, asking("x"))) for _ in range(3)))

    def ended():
        # On a busy machine the first call takes its time; without one there is nothing to lose.
        return os.path.exists(path) and b'"call_end"' in open(path, "rb", buffering=0).readall()

    # Loads and compiles what the children will need.
    RecordingSink(path + ".warm").close()
    for turn in range(rounds):
        children = []
        for _ in range(writers):
            child = os.fork()
            if child == 0:
                random.seed(os.getpid())
                asyncio.run(forever())
            children.append(child)
        while turn == 0 and not ended():
            time.sleep(0.01)
        for child in children:
            time.sleep(random.uniform(0, 0.06))
            os.kill(child, signal.SIGKILL)
            assert os.WIFSIGNALED(os.waitpid(child, 0)[1])
"""


@needs_fork
@pytest.mark.parametrize(("rounds", "writers"), [(25, 1), (8, 3)])
async def test_killed_at_any_instant_and_gone_on_with(rounds: int, writers: int, tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    code = _KILLED.replace(
        "sys.argv[1], int(sys.argv[2]), int(sys.argv[3])", f"{str(path)!r}, {rounds}, {writers}"
    )
    done = run_python(code, home=tmp_path)
    assert done.returncode == 0, done.stderr
    assert not is_being_written(path)
    found = check_recording_file(path)
    # Every fault is an end that is missing, and the last row at most is torn.
    lines = path.read_bytes().count(b"\n")
    assert {problem.line_number for problem in found.problems} <= {None, lines + 1}
    complete = len(found.complete_calls)
    assert complete
    await _record(path)
    with read_recording_file(path) as recording:
        assert len(recording.calls) == complete + len(found.incomplete_calls) + 1
        outcomes = [call.outcome for call in recording.calls]
        assert outcomes[-1] == "complete"
        assert set(outcomes) <= {"complete", "abandoned"}


async def test_a_torn_row_is_cut_off_and_an_open_call_ended(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    await _record(path, "first")
    whole = path.read_bytes()
    lines = whole.split(b"\n")
    second = b"\n".join(lines[1:4]).replace(b'"call_index":0', b'"call_index":1')
    for torn in range(len(second)):
        path.write_bytes(whole + second[:torn])
        # The rows of the second call that are whole.
        kept = second[:torn].count(b"\n")
        if torn % 37 and second[torn - 1 : torn] != b"\n":
            continue
        await _record(path)
        expected = [{"call_index": 0, "event_count": 3, "outcome": "complete"}]
        if kept:
            expected.append({"call_index": 1, "event_count": kept - 1, "outcome": "abandoned"})
        expected.append({"call_index": len(expected), "event_count": 3, "outcome": "complete"})
        assert ends(path) == expected
        read_recording_file(path).close()


async def test_a_torn_header_is_written_anew(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'{"type":"header","format_ver')
    await _record(path)
    with read_recording_file(path) as recording:
        assert len(recording.calls) == 1


async def test_another_process_dies_while_this_one_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    with RecordingSink(path) as sink:
        provider = RecordingProvider(FunctionProvider(_good), sink)
        await drain(provider.stream(MODEL, asking("1")))
        done = run_python(
            f"""
            import asyncio, os, signal
            from openprogram_record import RecordingProvider, RecordingSink
            from tests.record.recorded import MODEL, FunctionProvider, asking, START
            async def one():
                yield START
            async def main():
                sink = RecordingSink({str(path)!r}, append=True)
                stream = RecordingProvider(FunctionProvider(one), sink).stream(MODEL, asking("2"))
                await stream.__anext__()
                os.write(os.open({str(path)!r}, os.O_WRONLY | os.O_APPEND), b'{{"type":"event","call_in')
                os.kill(os.getpid(), signal.SIGKILL)
            asyncio.run(main())
            """,
            home=tmp_path,
        )
        assert done.returncode == -signal.SIGKILL
        await drain(provider.stream(MODEL, asking("3")))
        with pytest.raises(RecordingFileError, match="call 1: the call has no call_end"):
            read_recording_file(path)
    # The last writer to leave ends what nobody else will.
    with read_recording_file(path) as recording:
        assert [(call.outcome, call.event_count) for call in recording.calls] == [
            ("complete", 3),
            ("abandoned", 1),
            ("complete", 3),
        ]


def test_an_exit_without_closing(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    done = run_python(
        f"""
        import asyncio
        from openprogram_record import RecordingProvider
        from tests.record.recorded import MODEL, FunctionProvider, asking
        from tests.record.test_crashes import _good
        provider = RecordingProvider(FunctionProvider(_good), {str(path)!r})
        stream = provider.stream(MODEL, asking("x"))
        async def main():
            await stream.__anext__()
            return stream
        loop = asyncio.new_event_loop()
        kept = loop.run_until_complete(main())
        """,
        home=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    assert ends(path) == [{"call_index": 0, "event_count": 1, "outcome": "abandoned"}]
    assert [row["type"] for row in rows(path)] == ["header", "request", "event", "call_end"]


async def test_a_forgotten_provider_lets_go_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    for number in range(50):
        provider = RecordingProvider(FunctionProvider(_good), path, append=True)
        await drain(provider.stream(MODEL, asking(str(number))))
        assert is_being_written(path)
        del provider
    assert not is_being_written(path)
    with read_recording_file(path) as recording:
        assert len(recording.calls) == 50
