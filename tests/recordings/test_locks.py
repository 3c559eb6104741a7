"""Locks on a recording: who writes it, on systems of every kind."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from openprogram_core.recordings import WriterLocks, is_being_written, read_recording_file
from tests.recordings.building import HEADER
from tests.support.interpreter import run_python


def _open(path: Path) -> int:
    return os.open(path, os.O_RDWR | os.O_CREAT, 0o600)


def test_nobody_writes(tmp_path: Path) -> None:
    assert not is_being_written(tmp_path / "missing")
    assert not is_being_written(tmp_path)
    (tmp_path / "a").write_bytes(HEADER)
    assert not is_being_written(tmp_path / "a")


def test_writers_come_and_go(tmp_path: Path) -> None:
    path = tmp_path / "a"
    first, second = _open(path), _open(path)
    one, other = WriterLocks(first), WriterLocks(second)
    assert one.join_writers()
    assert is_being_written(path)
    assert one.alone() == one.working
    if one.working:
        assert not other.join_writers()
        assert not one.alone()
        assert not other.alone()
    one.leave_writers()
    os.close(first)
    other.leave_writers()
    os.close(second)
    assert not is_being_written(path)


def test_another_process_is_seen(tmp_path: Path) -> None:
    path = tmp_path / "a"
    code = f"""
        import os, sys
        from openprogram_core.recordings import WriterLocks
        locks = WriterLocks(os.open({str(path)!r}, os.O_RDWR | os.O_CREAT, 0o600))
        locks.join_writers()
        print("joined", flush=True)
        sys.stdin.read()
    """
    with subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"joined\n"
        if sys.platform != "win32":
            assert is_being_written(path)
        process.kill()
        process.wait()
    assert not is_being_written(path)


@pytest.mark.skipif(os.name != "posix", reason="stands in for other systems than Windows")
@pytest.mark.parametrize(
    "system",
    ["locks._OWNED_BY_FILE = False", "locks.fcntl = None; locks._OWNED_BY_FILE = False"],
    ids=["process-owned locks", "no locks"],
)
def test_recording_where_the_system_has_lesser_locks(system: str, tmp_path: Path) -> None:
    done = run_python(
        f"""
        import asyncio
        from openprogram_core.recordings import locks, is_being_written, read_recording_file
        {system}
        from openprogram_record import RecordingProvider, RecordingSink
        from openprogram_core.testing import ScriptedProvider, scripted_model
        from tests.record.recorded import asking, drain

        path = {str(tmp_path / "a.jsonl")!r}

        async def record(text):
            provider = RecordingProvider(ScriptedProvider([text] * 3), sink)
            await asyncio.gather(*(drain(provider.stream(scripted_model(), asking(text))) for _ in range(3)))

        for append in (False, True):
            with RecordingSink(path, append=append) as sink:
                asyncio.run(record("x" * 50))
                assert is_being_written(path)
                # Closing a descriptor of the file, which drops locks that a process owns.
                read_recording_file(path).close()
                asyncio.run(record("y" * 50))
            assert not is_being_written(path)
        """,
        home=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    with read_recording_file(tmp_path / "a.jsonl") as recording:
        assert len(recording.calls) == 12
