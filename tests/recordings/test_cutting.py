"""A recording cut at any byte: refused, or cut behind a complete call; and repaired to the complete calls."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from openprogram_core.recordings import (
    RecordingFileError,
    check_recording_file,
    read_recording_file,
    repair_recording_file,
)
from tests.recordings.building import Call, delta, interleaved_rows, sessions, whole_rows, write_rows

_settings = settings(
    max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def _kept(rows: list[bytes], cut: int) -> tuple[list[bytes], bool]:
    """The rows that are whole in front of the cut, and whether the cut is between rows."""
    whole: list[bytes] = []
    position = 0
    for row in rows:
        if position + len(row) > cut:
            return whole, position == cut
        whole.append(row)
        position += len(row)
    return whole, True


def _indexes(rows: list[bytes], kind: str) -> list[int]:
    head = f'{{"type":"{kind}","call_index":'.encode()
    return [int(row[len(head) :].split(b",")[0]) for row in rows if row.startswith(head)]


@_settings
@given(session=sessions, share=st.floats(0, 1))
def test_any_cut_is_refused_or_behind_a_complete_call(
    session: tuple[list[Call], list[int]], share: float, tmp_path: Path
) -> None:
    rows = interleaved_rows(*session)
    _check_cut(rows, int(share * sum(map(len, rows))), tmp_path)


def test_cuts_all_over_a_small_recording(tmp_path: Path) -> None:
    rows = interleaved_rows([Call([delta("é\U0001f600")] * 2), Call([delta()])], [0, 0, 1, 1, 0, 1, 0])
    ends = [sum(map(len, rows[:count])) for count in range(len(rows) + 1)]
    near_an_end = {end + distance for end in ends for distance in (-2, -1, 0, 1)}
    for cut in range(ends[-1] + 1):
        if cut in near_an_end or cut % 5 == 0:
            _check_cut(rows, cut, tmp_path)


def _check_cut(rows: list[bytes], cut: int, folder: Path) -> None:
    path = write_rows(folder / "cut.jsonl", [b"".join(rows)[:cut]])
    whole, between_rows = _kept(rows, cut)
    begun, ended = _indexes(whole, "request"), _indexes(whole, "call_end")
    if whole and between_rows and len(begun) == len(ended):
        read_recording_file(path).close()
    else:
        with pytest.raises(RecordingFileError) as refusal:
            read_recording_file(path)
        error = refusal.value
        assert error.path == path
        assert error.reason
        if not between_rows:
            assert error.line_number == len(whole) + 1
        elif whole:
            assert error.call_index == min(set(begun) - set(ended))
    if len(whole) < len(rows) and sum(map(len, whole)) + len(rows[len(whole)]) - 1 == cut:
        # Only the newline is gone: to the strict reader a fault, to the repair a whole row.
        whole = [*whole, rows[len(whole)]]
        begun, ended = _indexes(whole, "request"), _indexes(whole, "call_end")
    found = check_recording_file(path)
    assert found.repairable == bool(whole)
    if not whole:
        with pytest.raises(RecordingFileError, match="no recording"):
            repair_recording_file(path)
        return
    assert found.complete_calls == tuple(sorted(ended))
    assert found.incomplete_calls == tuple(sorted(set(begun) - set(ended)))
    repaired = repair_recording_file(path).path
    assert path.read_bytes() == b"".join(rows)[:cut]
    with read_recording_file(repaired) as recording:
        assert len(recording.calls) == len(ended)
        original = write_rows(folder / "all.jsonl", rows)
        with read_recording_file(original) as whole_recording:
            for kept, old in zip(recording.calls, sorted(ended), strict=True):
                before = whole_recording.calls[old]
                assert repr(list(kept.events())) == repr(list(before.events()))
                assert repr(kept.request()) == repr(before.request())
                assert (kept.lane, kept.outcome) == (before.lane, before.outcome)
    repaired.unlink()


def test_cut_recordings_say_where(tmp_path: Path) -> None:
    rows = whole_rows([Call([delta()]), Call([delta()])])
    path = write_rows(tmp_path / "a.jsonl", rows[:-2])
    with pytest.raises(RecordingFileError, match=r"a\.jsonl, call 1: the call has no call_end.*--repair"):
        read_recording_file(path)
    write_rows(path, [*rows[:-1], rows[-1][:10]])
    with pytest.raises(RecordingFileError, match=r"a\.jsonl, line 7: the line has no end"):
        read_recording_file(path)
