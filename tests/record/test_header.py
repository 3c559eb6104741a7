"""A recording made before anybody recorded into it says, once somebody does, which rules removed secrets."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest

from openprogram_core.recordings import header_row, read_recording_file
from openprogram_core.recordings.store import create_recording
from openprogram_record import RecordingProvider, RecordingSink
from tests.record.recorded import DONE, MODEL, START, FunctionProvider, Stream, asking, drain, rows
from tests.support.interpreter import run_python


async def _answer() -> Stream:
    yield START
    yield DONE


def record(sink: RecordingSink) -> None:
    asyncio.run(drain(RecordingProvider(FunctionProvider(_answer), sink).stream(MODEL, asking("a"))))


@pytest.fixture
def prepared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("OPENPROGRAM_HOME", str(tmp_path))
    return create_recording("prepared")


def test_the_recorder_says_who_it_is_and_keeps_the_rest(prepared: Path) -> None:
    before = rows(prepared)[0]
    assert before["redaction"] == {}
    with RecordingSink(prepared, append=True) as sink:
        record(sink)
    with read_recording_file(prepared) as recording:
        after = recording.header
        assert len(recording.calls) == 1
    assert (after["recording_id"], after["created_at"]) == ("prepared", before["created_at"])
    assert "openprogram_redaction" in after["redaction"]["plugins"]
    assert after["redaction"]["rules"]
    assert prepared.stat().st_mode & 0o777 == 0o600


def test_what_others_put_into_the_header_stays(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    facts = {"note": "ours", "generator": "never"}
    path.write_bytes(
        header_row(recording_id="mine", created_at="then", generator="them", redaction={}, facts=facts)
    )
    RecordingSink(path, append=True).close()
    after = rows(path)[0]
    assert (after["note"], after["recording_id"], after["created_at"]) == ("ours", "mine", "then")
    assert after["generator"].startswith("openprogram-core ")
    before = path.read_bytes()
    RecordingSink(path, append=True).close()
    assert path.read_bytes() == before


def test_a_header_with_calls_behind_it_is_left_alone(prepared: Path) -> None:
    content = prepared.read_bytes()
    with RecordingSink(prepared, append=True) as sink:
        record(sink)
    header, calls = prepared.read_bytes().split(b"\n", 1)
    prepared.write_bytes(content + calls)
    with RecordingSink(prepared, append=True) as sink:
        record(sink)
    assert prepared.read_bytes().startswith(content + calls)
    assert header + b"\n" != content


@pytest.mark.skipif(sys.platform == "win32", reason="needs locks to know of the other writer")
def test_a_header_is_left_alone_while_somebody_else_has_the_file(prepared: Path, tmp_path: Path) -> None:
    from openprogram_core.recordings import WriterLocks

    before = prepared.read_bytes()
    with prepared.open("r+b") as file:
        locks = WriterLocks(file.fileno())
        locks.lock_append()
        locks.join_writers()
        locks.unlock_append()
        code = f"from openprogram_record import RecordingSink; RecordingSink({str(prepared)!r}, append=True)"
        ran = run_python(code, home=tmp_path)
        locks.leave_writers()
    assert (ran.returncode, ran.stderr) == (0, "")
    assert prepared.read_bytes() == before


FULL_DISK = """
import os, resource, signal, sys
from pathlib import Path
from openprogram_record import RecordingSink
path = Path({path!r})
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
_, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
before = path.read_bytes()
resource.setrlimit(resource.RLIMIT_FSIZE, (len(before), hard))
RecordingSink(path, append=True).close()
print(path.read_bytes() == before)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs resource limits")
def test_a_disk_without_room_for_the_longer_header_keeps_the_old(prepared: Path, tmp_path: Path) -> None:
    ran = run_python(FULL_DISK.format(path=str(prepared)), home=tmp_path)
    assert (ran.stdout, ran.stderr) == ("True\n", "")


def test_a_recording_by_configuration_names_its_rules(tmp_path: Path) -> None:
    from tests.support.command_line import run

    assert run("recordings", "record", "--name", "whole", home=tmp_path).code == 0
    code = "import openprogram_core; print(openprogram_core.initialize_provider_runtime().mode)"
    assert run_python(code, home=tmp_path).stdout == "record\n"
    header = rows(tmp_path / "recordings" / "whole.jsonl")[0]
    assert header["recording_id"] == "whole"
    assert "openprogram_redaction" in header["redaction"]["plugins"]
