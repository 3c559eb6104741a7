"""What can go wrong with the file: one clear error, nothing half written, the calls before it safe."""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from openprogram_core.errors import OpenProgramError
from openprogram_core.providers import OpaqueContent, OpaqueEvent, StreamOptions
from openprogram_core.recordings import RecordingFileError, RecordingWriteError, read_recording_file
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
)
from tests.support.interpreter import run_python


async def _good() -> Stream:
    for event in (START, delta(), DONE):
        yield event


def _stream(sink: RecordingSink, function: Callable[[], Stream] = _good, **options: Any) -> Stream:
    return RecordingProvider(FunctionProvider(function), sink).stream(
        MODEL, asking("hi"), StreamOptions(**options)
    )


def test_paths_that_cannot_be_written(tmp_path: Path) -> None:
    cases = [
        (tmp_path, "is a folder"),
        (tmp_path / "missing" / "a.jsonl", "missing does not exist; create it"),
        (Path("/dev/null"), "is no regular file"),
        (tmp_path / ("x" * 300), "cannot be opened for writing"),
    ]
    for path, words in cases:
        with pytest.raises(RecordingWriteError, match=words):
            RecordingSink(path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    refused: list[str] = []

    def write() -> None:
        try:
            RecordingSink(tmp_path / "pipe")
        except RecordingWriteError as error:
            refused.append(error.reason)

    thread = threading.Thread(target=write, daemon=True)
    thread.start()
    thread.join(10)
    assert refused == ["is no regular file (a pipe, socket or device)"]


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may write everywhere")
def test_a_read_only_folder(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(RecordingWriteError, match="cannot be opened for writing: Permission denied"):
            RecordingSink(tmp_path / "a.jsonl")
        assert list(tmp_path.iterdir()) == []
    finally:
        tmp_path.chmod(0o700)


@pytest.mark.parametrize(
    "content",
    [
        b"hello\n",
        b"{",
        b'{"type":"header","format_version":2}\n',
        b"\x00" * 100,
        b'{"type":"request"}\n',
        b"\n",
        b'{"type": "header", "format_version": 1}',
    ],
)
@pytest.mark.parametrize("append", [True, False])
def test_what_is_no_recording_is_not_touched(content: bytes, append: bool, tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(content)
    with pytest.raises(RecordingFileError, match="is no recording"):
        RecordingSink(path, append=append)
    assert path.read_bytes() == content


async def test_a_recording_with_a_bad_row_is_not_gone_on_with(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    with RecordingSink(path) as sink:
        await drain(_stream(sink))
    path.write_bytes(path.read_bytes() + b'"half a row that ends"\n')
    before = path.read_bytes()
    with pytest.raises(RecordingWriteError, match=r"holds a row that is none.*--repair"):
        RecordingSink(path, append=True)
    assert path.read_bytes() == before


async def test_calls_are_appended_only_when_asked(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    for append in (False, False, True):
        # A header alone holds no calls.
        RecordingSink(path, append=append).close()
    with RecordingSink(path) as sink:
        await drain(_stream(sink))
    before = path.read_bytes()
    with pytest.raises(RecordingWriteError, match=r"holds calls already\. Delete it to record anew"):
        RecordingSink(path)
    assert path.read_bytes() == before
    with RecordingSink(path, append=True) as sink:
        await drain(_stream(sink))
    assert path.read_bytes().startswith(before)
    assert [end["call_index"] for end in ends(path)] == [0, 1]


async def test_rows_people_wrote_are_counted_too(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(
        '{"type": "header", "format_version": 1}\n'
        '{"type": "request", "call_index": 0, "model": {"api": "a", "id": "m"},'
        ' "context": {"messages": []}, "options": {}}\n'
        '{"event_count": 0, "call_index": 0, "type": "call_end"}\n'
    )
    with RecordingSink(path, append=True) as sink:
        await drain(_stream(sink))
    with read_recording_file(path) as recording:
        assert [call.event_count for call in recording.calls] == [0, 3]


@pytest.mark.parametrize("replacement", ["deleted or moved", "replaced by another"])
async def test_the_file_goes_away_beneath_the_writer(replacement: str, tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    sink = RecordingSink(path)
    await drain(_stream(sink))

    async def endless() -> Stream:
        while True:
            yield delta()

    running = _stream(sink, endless)
    await running.__anext__()
    path.rename(tmp_path / "old.jsonl")
    if replacement != "deleted or moved":
        path.write_text("mine\n")
    with pytest.raises(RecordingWriteError, match=f"the file was {replacement} while it was being written"):
        await asyncio.wait_for(drain(running), 10)
    with pytest.raises(RecordingWriteError, match=replacement):
        await drain(_stream(sink))
    with pytest.raises(RecordingWriteError, match=replacement):
        sink.close()
    assert path.exists() == (replacement != "deleted or moved")
    if path.exists():
        assert path.read_text() == "mine\n"
    # What was written is whole, and a new recording at the same path is another file.
    path.unlink(missing_ok=True)
    with RecordingSink(path) as again:
        await drain(_stream(again))
    assert len(ends(path)) == 1
    assert ends(tmp_path / "old.jsonl")[0]["outcome"] == "complete"


async def test_the_file_is_cut_beneath_the_writer(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    sink = RecordingSink(path)
    await drain(_stream(sink))
    os.truncate(path, 50)
    for _ in range(2):
        with pytest.raises(RecordingWriteError, match="the file was cut while it was being written"):
            await drain(_stream(sink))
    sink.close()
    assert path.stat().st_size == 50


async def test_a_deleted_file_is_never_the_new_one(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    first = RecordingSink(path)
    path.unlink()
    with RecordingSink(path) as second:
        await drain(_stream(second))
        with pytest.raises(RecordingWriteError, match="replaced"):
            await drain(_stream(first))
    first.close()
    with read_recording_file(path) as recording:
        assert len(recording.calls) == 1


async def test_a_closed_sink(tmp_path: Path) -> None:
    sink = RecordingSink(tmp_path / "a.jsonl")
    sink.close()
    sink.close()
    with pytest.raises(RecordingWriteError, match="the recording was closed"):
        await drain(_stream(sink))


async def test_rows_too_long_or_too_deep_fail_their_call_and_no_other(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    closed: list[str] = []

    def yielding(event: Any) -> Callable[[], Stream]:
        async def source() -> Stream:
            try:
                yield START
                yield event
            finally:
                closed.append("closed")

        return source

    deep: list[Any] = []
    for _ in range(130):
        deep = [deep]
    huge = OpaqueEvent(content_index=0, content=OpaqueContent(kind="x", data=10**4999))
    strange = OpaqueEvent(content_index=0, content=OpaqueContent(kind="x", data={1: "a", "1": "b"}))
    nothing = OpaqueEvent(content_index=0, content=OpaqueContent(kind="x", data=object()))
    nested = OpaqueEvent(content_index=0, content=OpaqueContent(kind="x", data=deep))
    with RecordingSink(path, max_row_bytes=5000) as sink:
        for event in (delta("x" * 6000), huge, strange, nothing, nested):
            # Redaction may be the one that refuses or replaces it; either way the file stays sound.
            try:
                await drain(_stream(sink, yielding(event)))
            except OpenProgramError:
                assert ends(path)[-1]["outcome"] == "error"
        assert closed == ["closed"] * 5
        with pytest.raises(RecordingWriteError, match="longer than 5,000 bytes"):
            await drain(_stream(sink, metadata={"a": "x" * 6000}))
        await drain(_stream(sink))
    with read_recording_file(path) as recording:
        assert recording.calls[0].outcome == "error"
        assert recording.calls[0].event_count == 1
        assert recording.calls[5].outcome == "complete"
        assert len(recording.calls) == 6


@pytest.mark.skipif(sys.platform == "win32", reason="limits of a process are POSIX")
def test_a_full_disk(tmp_path: Path) -> None:
    done = run_python(
        f"""
        import asyncio, os, resource
        from pathlib import Path
        from openprogram_core.recordings import RecordingWriteError, read_recording_file
        from openprogram_record import RecordingSink
        from tests.record.recorded import drain, rows
        from tests.record.test_trouble import _stream

        def set_limit(size):
            resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))

        def count(path, kind):
            return sum(row["type"] == kind for row in rows(path))

        async def fill(path, room):
            with RecordingSink(path) as sink:
                await drain(_stream(sink))
            whole = path.read_bytes()
            sink = RecordingSink(path, append=True)
            set_limit(len(whole) + room)
            try:
                await drain(_stream(sink))
            except RecordingWriteError as error:
                assert "cannot be written: " in str(error), error
            # Not one byte of a row that did not fit.
            assert path.read_bytes().startswith(whole)
            assert path.read_bytes().endswith(b"\\n")
            begun = count(path, "request")
            # Room again: the sink writes the end that is missing.
            set_limit(resource.RLIM_INFINITY)
            sink.close()
            with read_recording_file(path) as recording:
                assert len(recording.calls) == begun
                outcomes.add(tuple(call.outcome for call in recording.calls))

        outcomes = set()
        for room in range(0, 2000, 40):
            asyncio.run(fill(Path({str(tmp_path)!r}) / f"{{room}}.jsonl", room))
        print(sorted(outcomes))
        """,
        home=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "[('complete',), ('complete', 'complete'), ('complete', 'error')]\n"
