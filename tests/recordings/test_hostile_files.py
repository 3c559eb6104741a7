"""Files made to hurt: refused quickly, with a reason, in little memory."""

from __future__ import annotations

import os
import threading
import tracemalloc
from pathlib import Path

import pytest

from openprogram_core.recordings import RecordingFileError, check_recording_file, read_recording_file
from tests.recordings.building import HEADER, Call, delta, interleaved_rows, whole_rows, write_rows


def test_a_line_of_two_hundred_megabytes(tmp_path: Path) -> None:
    path = write_rows(tmp_path / "a.jsonl", [HEADER])
    with path.open("r+b") as file:
        # Sparse: it takes no room on the disk.
        file.truncate(200_000_000)
    with pytest.raises(RecordingFileError, match="the line is longer than 67,108,864 bytes") as refusal:
        read_recording_file(path)
    assert refusal.value.line_number == 2


def test_the_limit_of_a_row_can_be_set(tmp_path: Path) -> None:
    rows = whole_rows([Call([delta("x" * 1000)])])
    path = write_rows(tmp_path / "a.jsonl", rows)
    longest = max(map(len, rows))
    read_recording_file(path, max_row_bytes=longest).close()
    with pytest.raises(RecordingFileError, match=f"longer than {longest - 1:,} bytes"):
        read_recording_file(path, max_row_bytes=longest - 1)
    found = check_recording_file(path, max_row_bytes=longest - 1)
    assert [problem.line_number for problem in found.problems] == [3, 4]


@pytest.mark.parametrize("value", [b"[]", b"0", b'""'])
def test_a_line_whose_values_would_fill_the_memory(value: bytes, tmp_path: Path) -> None:
    many = b",".join([value] * 9_000_000)
    path = write_rows(
        tmp_path / "a.jsonl", [HEADER, b'{"type":"event","call_index":0,"a":[' + many + b"]}\n"]
    )
    tracemalloc.start()
    try:
        with pytest.raises(RecordingFileError, match="more than 1,000,000 lists and objects, or"):
            read_recording_file(path)
        assert tracemalloc.get_traced_memory()[1] < 10 * path.stat().st_size
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    ("brackets", "reason"),
    [
        (b"[", "no JSON object"),
        (b'{"a":', "nested deeper than 128 levels"),
        (b'{"a":[', "more than 1,000,000 lists and objects"),
    ],
)
def test_a_million_nested_brackets(brackets: bytes, reason: str, tmp_path: Path) -> None:
    path = write_rows(tmp_path / "a.jsonl", [HEADER, brackets * 1_000_000 + b"\n"])
    with pytest.raises(RecordingFileError, match=reason) as refusal:
        read_recording_file(path)
    assert refusal.value.line_number == 2


@pytest.mark.parametrize(("depth", "read"), [(128, True), (129, False)])
@pytest.mark.parametrize("kind", ["request", "event"])
def test_nesting(kind: str, depth: int, read: bool, tmp_path: Path) -> None:
    # The row's own levels: options in the row; data in content in event in the row.
    levels = depth - (2 if kind == "request" else 3)
    value = b"[" * levels + b"]" * levels
    call = Call([delta()]).rows(0)
    if kind == "request":
        call[0] = call[0].replace(b'"options": {}', b'"options":{"a":' + value + b"}")
    else:
        call[1] = (
            b'{"type":"event","call_index":0,"event_index":0,"event":{"type":"opaque","content_index":0,'
            b'"content":{"type":"opaque","kind":"x","data":' + value + b"}}}\n"
        )
    path = write_rows(tmp_path / "a.jsonl", [HEADER, *call])
    if read:
        with read_recording_file(path) as recording:
            assert recording.calls[0].request()
            assert len(list(recording.calls[0].events())) == 1
    else:
        with pytest.raises(RecordingFileError, match="nested deeper than 128 levels"):
            read_recording_file(path)


def test_brackets_inside_texts_are_no_nesting(tmp_path: Path) -> None:
    events = [delta("[{" * 500)]
    path = write_rows(tmp_path / "a.jsonl", whole_rows([Call(events)]))
    with read_recording_file(path) as recording:
        assert list(recording.calls[0].events()) == events


def test_a_number_nobody_can_read(tmp_path: Path) -> None:
    row = Call().rows(0)[0].replace(b'"options": {}', b'"options":{"n":' + b"9" * 5000 + b"}")
    path = write_rows(tmp_path / "a.jsonl", [HEADER, row])
    with pytest.raises(RecordingFileError, match="an integer with more than 4,300 digits"):
        read_recording_file(path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_pipe_is_refused_and_never_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    refused: list[str] = []

    def read() -> None:
        try:
            read_recording_file(path)
        except RecordingFileError as error:
            refused.append(error.reason)

    thread = threading.Thread(target=read, daemon=True)
    thread.start()
    thread.join(10)
    assert refused == ["is no regular file (a pipe, socket or device), not a recording file"]


def test_a_folder(tmp_path: Path) -> None:
    with pytest.raises(RecordingFileError, match="is a folder, not a recording file"):
        read_recording_file(tmp_path)


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="this system has no /dev/zero")
def test_a_device() -> None:
    with pytest.raises(RecordingFileError, match="is no regular file"):
        read_recording_file("/dev/zero")


@pytest.mark.parametrize("content", [b"\x00" * 1000, b"PK\x03\x04" + bytes(range(256)), b"{" * 1000])
def test_other_files(content: bytes, tmp_path: Path) -> None:
    path = write_rows(tmp_path / "a.jsonl", [content])
    with pytest.raises(RecordingFileError) as refusal:
        read_recording_file(path)
    assert refusal.value.line_number == 1
    assert len(str(refusal.value)) < 500


def test_memory_holds_an_index_and_not_the_file(tmp_path: Path) -> None:
    calls = [Call([delta(f"{number:0100}") for number in range(4000)]) for _ in range(8)]
    path = write_rows(tmp_path / "a.jsonl", interleaved_rows(calls, [0, *range(1, 9)] * 4000))
    size = path.stat().st_size
    read_recording_file(path).close()
    tracemalloc.start()
    try:
        with read_recording_file(path) as recording:
            assert sum(1 for call in recording.calls for _ in call.events()) == 32_000
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < size / 6
