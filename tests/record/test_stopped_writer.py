"""A writer that is alone takes no file lock for a moment. What if it is stopped, or fails, in that moment?"""

from __future__ import annotations

import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from openprogram_core.providers import Context
from openprogram_core.recordings import RecordingWriteError, locks, read_recording_file
from openprogram_core.testing import scripted_model
from openprogram_record import RecordingSink
from openprogram_record._journal import Journal

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs SIGSTOP and resource limits")

STOPPED = """
import os, signal, sys, time
from openprogram_core.providers import Context, TextDeltaEvent
from openprogram_core.testing import scripted_model
from openprogram_record import RecordingSink, _journal

path, stop = sys.argv[1], sys.argv[2] == "stop"
sink = RecordingSink(path, append=True)
call = sink.begin_call(scripted_model(), Context(), None)
write = _journal._write

def stop_before_writing(fd, rows):
    _journal._write = write
    print("ready", flush=True)
    os.kill(os.getpid(), signal.SIGSTOP)
    return write(fd, rows)

for number in range(20):
    if stop and number == 10:
        _journal._write = stop_before_writing
    call.event(TextDeltaEvent(content_index=0, delta=f"{number}" + "x" * (3 if stop else 40)))
call.end("complete")
sink.close()
"""

FAILED = """
import os, resource, signal, subprocess, sys
from openprogram_core.errors import RecordingWriteError
from openprogram_core.providers import Context, TextDeltaEvent
from openprogram_core.testing import scripted_model
from openprogram_record import RecordingSink

path, other = sys.argv[1], sys.argv[2]
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
sink = RecordingSink(path)
call = sink.begin_call(scripted_model(), Context(), None)
call.event(TextDeltaEvent(content_index=0, delta="a"))
soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
resource.setrlimit(resource.RLIMIT_FSIZE, (os.path.getsize(path) + 20, hard))
try:
    call.event(TextDeltaEvent(content_index=0, delta="b" * 100))
except RecordingWriteError:
    print("refused", flush=True)
resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
subprocess.run([sys.executable, "-c", other, path, "go"], check=True, timeout=30)
call.event(TextDeltaEvent(content_index=0, delta="c"))
call.end("complete")
sink.close()
"""


def test_a_writer_stopped_before_its_write_goes_on_after_another_has_written(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    code = textwrap.dedent(STOPPED)
    stopped = subprocess.Popen(
        [sys.executable, "-c", code, str(path), "stop"], stdout=subprocess.PIPE, text=True
    )
    assert stopped.stdout is not None
    assert stopped.stdout.readline() == "ready\n"
    try:
        subprocess.run([sys.executable, "-c", code, str(path), "go"], check=True, timeout=30)
    finally:
        stopped.send_signal(signal.SIGCONT)
        stopped.communicate(timeout=30)
    assert stopped.returncode == 0
    with read_recording_file(path) as recording:
        assert [(call.call_index, call.event_count, call.outcome) for call in recording.calls] == [
            (0, 20, "complete"),
            (1, 20, "complete"),
        ]


def test_a_write_that_fell_short_is_taken_back_and_keeps_nobody_waiting(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    ran = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(FAILED), str(path), textwrap.dedent(STOPPED)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (ran.returncode, ran.stdout) == (0, "refused\n"), ran.stderr
    with read_recording_file(path) as recording:
        assert [(call.call_index, call.event_count, call.outcome) for call in recording.calls] == [
            (0, 2, "complete"),
            (1, 20, "complete"),
        ]


HOLDING = """
import sys, time
from openprogram_core.recordings import WriterLocks

with open(sys.argv[1], "r+b") as file:
    locks = WriterLocks(file.fileno())
    locks.lock_append()
    print("held", flush=True)
    time.sleep(60)
"""


def test_a_lock_that_somebody_keeps_fails_the_call_and_is_never_taken_for_no_lock(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(locks, "LONGEST_WAIT_S", 0.3)
    path = tmp_path / "r.jsonl"
    sink = RecordingSink(path)
    holder = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(HOLDING), str(path)], stdout=subprocess.PIPE, text=True
    )
    try:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        for attempt in (
            lambda: sink.begin_call(scripted_model(), Context(), None),
            lambda: Journal(path, b"", append=True, max_row_bytes=1000),
        ):
            with pytest.raises(RecordingWriteError, match="another process has kept its lock"):
                attempt()
    finally:
        holder.kill()
        holder.communicate()
    sink.begin_call(scripted_model(), Context(), None).end("complete")
    sink.close()
    with read_recording_file(path) as recording:
        assert len(recording.calls) == 1
