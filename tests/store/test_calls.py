"""The summary of a recording is the same however it is cut into blocks, and as the strict reader has it."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from openprogram_core.providers import Context, UserMessage
from openprogram_core.recordings import read_recording_file, store_blocks
from openprogram_core.recordings.store_calls import RecordingSummary, rows_of_call, summarize
from tests.support.recording_files import call, header, text_events, write


def interleaved(calls: int, events: int) -> bytes:
    """Calls that overlap: their rows take turns."""
    context = Context(messages=[UserMessage(content="w\n\x1b" * 30)])
    made = (call(number, context, text_events("y" * number) * events) for number in range(calls))
    rows = [part.splitlines(True) for part in made]
    begun = [row for part in rows for row in part[:1]]
    rest = [row for turn in zip(*(part[1:] for part in rows), strict=True) for row in turn]
    return header() + b"".join(begun + rest)


def respelled(content: bytes) -> bytes:
    rows = [json.loads(row) for row in content.splitlines()]
    return b"".join(json.dumps(row, sort_keys=True).encode() + b"\n" for row in rows)


def look(content: bytes) -> RecordingSummary:
    return summarize(io.BytesIO(content), lambda done: None)


CONTENT = interleaved(5, 30)


@pytest.mark.parametrize("block_bytes", [1, 7, 64, 1000, 1 << 20])
@pytest.mark.parametrize("few", [1, 10**9])
@pytest.mark.parametrize("spelled", [CONTENT, respelled(CONTENT)], ids=["compact", "respelled"])
def test_blocks_of_every_size_give_the_same(
    spelled: bytes, few: int, block_bytes: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = look(CONTENT)
    with read_recording_file(write(tmp_path / "one.jsonl", spelled)) as read:
        for recorded in read.calls:
            found = expected.calls[recorded.call_index]
            assert (found.events, found.outcome, found.model, found.api, found.at, found.duration_ms) == (
                recorded.event_count,
                recorded.outcome,
                recorded.model_id,
                recorded.api,
                recorded.at,
                recorded.duration_ms,
            )
    monkeypatch.setattr(store_blocks, "BLOCK_BYTES", block_bytes)
    monkeypatch.setattr(store_blocks, "FEW_ROWS", few)
    assert look(spelled) == expected
    parsed = [json.loads(row) for row in CONTENT.splitlines()]
    for index in (0, 4):
        rows = list(rows_of_call(io.BytesIO(spelled), index))
        assert rows == [row for row in parsed if row.get("call_index") == index]


@given(
    st.integers(min_value=0, max_value=len(CONTENT)),
    st.sampled_from([1, 100, 1 << 20]),
    st.sampled_from([1, 64]),
)
@settings(deadline=None, max_examples=150)
def test_a_recording_cut_anywhere_is_shown_as_far_as_it_goes(cut: int, block_bytes: int, few: int) -> None:
    content = CONTENT[:cut]
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr(store_blocks, "BLOCK_BYTES", block_bytes)
        monkeypatch.setattr(store_blocks, "FEW_ROWS", few)
        summary = look(content)
    whole = [json.loads(row) for row in content.splitlines(True) if row.endswith(b"\n")]
    for index, found in summary.calls.items():
        rows = [row for row in whole if row.get("call_index") == index]
        assert found.events == sum(row["type"] == "event" for row in rows)
        assert (found.outcome is not None) == any(row["type"] == "call_end" for row in rows)
    assert len(summary.calls) == sum(row["type"] == "request" for row in whole)
    if content and not content.endswith(b"\n"):
        assert summary.fault is not None
    elif content:
        open_calls = any(found.outcome is None for found in summary.calls.values())
        assert (summary.problem(writing=False) is not None) == open_calls
        assert summary.problem(writing=True) is None


@pytest.mark.parametrize(
    ("row", "fault"),
    [
        (b"oops\n", "it is no JSON"),
        (b"[]\n", "it is no row of a recording"),
        (b'{"type":"header","format_version":1}\n', "it is a second header"),
        (b'{"type":"later","call_index":0}\n', "it is no row of a recording"),
        (b'{"type":"request"}\n', "it has no call_index"),
        (
            b'{"type":"call_end","call_index":9,"event_count":0}\n',
            "it belongs to call 9, which has not begun",
        ),
        (b'{"type":"request","call_index":0,"model":{}}\n', "it is a second request of call 0"),
    ],
)
def test_a_fault_is_named_with_its_line(row: bytes, fault: str) -> None:
    rows = CONTENT.splitlines(True)
    summary = look(b"".join([*rows[:20], row, *rows[20:]]))
    assert summary.fault == f"line 21: {fault}"
    assert summary.calls.keys() == {0, 1, 2, 3, 4}
    assert sum(found.events for found in summary.calls.values()) == 14


def test_a_row_that_is_too_long_is_a_fault_and_not_held() -> None:
    rows = CONTENT.splitlines(True)
    blocks = list(store_blocks.read_blocks(io.BytesIO(rows[0] + b"x" * 3_000_000), 2_000_000))
    assert [(block.number, block.too_long) for block in blocks] == [(1, False), (2, True)]
    assert list(blocks[1].lines()) == [(2, None)]
