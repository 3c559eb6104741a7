from __future__ import annotations

import stat
from pathlib import Path

import pytest
from click.testing import CliRunner

from openprogram_core.cli.recordings_check import command
from openprogram_core.recordings import (
    RecordingFileError,
    RecordingWriteError,
    check_recording_file,
    read_recording_file,
    repair_recording_file,
)
from tests.recordings.building import HEADER, Call, delta, interleaved_rows, whole_rows, write_rows


def _calls(count: int) -> list[Call]:
    return [Call([delta(f"call {number}")] * 2) for number in range(count)]


def test_a_sound_recording(tmp_path: Path) -> None:
    found = check_recording_file(write_rows(tmp_path / "a.jsonl", whole_rows(_calls(3))))
    assert found.ok
    assert (found.complete_calls, found.incomplete_calls, found.problems) == ((0, 1, 2), (), ())


def test_a_bad_line_costs_its_own_call_only(tmp_path: Path) -> None:
    rows = interleaved_rows(_calls(3), [0, 1, 1, 2, 1, 1, 2, 2, 1])
    bad = rows.index(next(row for row in rows if b"call 1" in row))
    rows[bad] = b"\xff garbage\n"
    path = write_rows(tmp_path / "a.jsonl", rows)
    found = check_recording_file(path)
    assert found.complete_calls == (0, 2)
    assert found.incomplete_calls == (1,)
    assert next(problem.line_number for problem in found.problems) == bad + 1
    report = repair_recording_file(path)
    assert report.path == tmp_path / "a.repaired.jsonl"
    with read_recording_file(report.path) as recording:
        assert [next(iter(call.events())) for call in recording.calls] == [delta("call 0"), delta("call 2")]
    assert stat.S_IMODE(report.path.stat().st_mode) == 0o600


def test_a_lost_request_is_reported_once(tmp_path: Path) -> None:
    rows = whole_rows(_calls(4))
    del rows[rows.index(next(row for row in rows if row.startswith(b'{"type":"request","call_index":1,')))]
    path = write_rows(tmp_path / "a.jsonl", rows)
    found = check_recording_file(path)
    assert found.complete_calls == (0, 2, 3)
    assert "expected 1" in str(found.problems[-1])
    with read_recording_file(repair_recording_file(path).path) as recording:
        assert [next(iter(call.events())) for call in recording.calls] == [
            delta("call 0"),
            delta("call 2"),
            delta("call 3"),
        ]


def test_the_same_index_twice_keeps_the_first(tmp_path: Path) -> None:
    rows = [*whole_rows(_calls(1)), *Call([delta("again")]).rows(0)]
    path = write_rows(tmp_path / "a.jsonl", rows)
    with read_recording_file(repair_recording_file(path).path) as recording:
        assert [next(iter(call.events())) for call in recording.calls] == [delta("call 0")]


def test_a_wild_index_costs_nothing_but_a_report(tmp_path: Path) -> None:
    rows = [HEADER, *Call().rows(0), *Call([delta("far")]).rows(10**17), *Call([delta("near")]).rows(1)]
    path = write_rows(tmp_path / "a.jsonl", rows)
    found = check_recording_file(path)
    assert found.problem_count == 2
    with read_recording_file(repair_recording_file(path).path) as recording:
        assert [list(call.events()) for call in recording.calls] == [[], [delta("far")], [delta("near")]]


def test_a_broken_call_is_told_once_however_many_rows_follow(tmp_path: Path) -> None:
    rows = whole_rows([Call([delta()] * 3000)])
    del rows[2]
    assert check_recording_file(write_rows(tmp_path / "a.jsonl", rows)).problem_count == 1


def test_rows_written_by_people_are_renumbered_too(tmp_path: Path) -> None:
    rows = [
        HEADER,
        Call().rows(0)[0],
        b'{"call_index": 1, "type": "request", "model": {"api": "a", "id": "m"},'
        b' "context": {"messages": []}, "options": {}}\n',
        b'{"call_index": 1, "type": "call_end", "event_count": 0}\n',
    ]
    with read_recording_file(repair_recording_file(write_rows(tmp_path / "a.jsonl", rows)).path) as recording:
        assert [call.model_id for call in recording.calls] == ["m"]


def test_repair_overwrites_nothing(tmp_path: Path) -> None:
    path = write_rows(tmp_path / "a.jsonl", whole_rows(_calls(2))[:-1])
    before = path.read_bytes()
    names = [repair_recording_file(path).path.name for _ in range(3)]
    assert names == ["a.repaired.jsonl", "a.repaired-2.jsonl", "a.repaired-3.jsonl"]
    with pytest.raises(RecordingWriteError, match="exists already"):
        repair_recording_file(path, tmp_path / "a.repaired.jsonl")
    with pytest.raises(RecordingWriteError, match="exists already"):
        repair_recording_file(path, path)
    with pytest.raises(RecordingWriteError, match="cannot be created"):
        repair_recording_file(path, tmp_path / "missing" / "b.jsonl")
    assert path.read_bytes() == before


def test_what_is_no_recording_is_not_repaired(tmp_path: Path) -> None:
    path = write_rows(tmp_path / "a.jsonl", [b"a,b,c\n1,2,3\n"])
    assert check_recording_file(path).problem_count == 1
    with pytest.raises(RecordingFileError, match="is no recording, nothing can be kept"):
        repair_recording_file(path)
    assert [one.name for one in tmp_path.iterdir()] == ["a.jsonl"]


def test_the_command(tmp_path: Path) -> None:
    run = CliRunner().invoke
    sound = write_rows(tmp_path / "sound.jsonl", whole_rows(_calls(2)))
    result = run(command, [str(sound)], standalone_mode=False)
    assert (result.return_value, result.stdout) == (0, "")
    assert "2 complete calls, 0 incomplete, 0 problems." in result.stderr

    broken = write_rows(tmp_path / "broken.jsonl", whole_rows(_calls(2))[:-1])
    result = run(command, [str(broken), "--repair"], standalone_mode=False)
    assert result.return_value == 1
    assert "call 1: the call has no call_end" in result.stdout
    assert "broken.repaired.jsonl" in result.stderr
    result = run(command, [str(tmp_path / "broken.repaired.jsonl"), "--json"], standalone_mode=False)
    assert result.return_value == 0
    assert '"complete_calls": [\n    0\n  ]' in result.stdout
