from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from openprogram_core.providers import (
    AssistantMessageEvent,
    OpaqueContent,
    OpaqueEvent,
    TextContent,
    TextDeltaEvent,
    TextEndEvent,
)
from openprogram_core.recordings import read_recording_file
from tests.recordings.building import (
    Call,
    delta,
    event_row,
    interleaved_rows,
    same,
    sessions,
    whole_rows,
    write_rows,
)

_settings = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def _dumped(events: list[AssistantMessageEvent]) -> list[object]:
    return [event.model_dump() for event in events]


@_settings
@given(session=sessions)
def test_what_was_written_is_read(session: tuple[list[Call], list[int]], tmp_path: Path) -> None:
    calls, choices = session
    path = write_rows(tmp_path / "a.jsonl", interleaved_rows(calls, choices))
    with read_recording_file(path) as recording:
        assert len(recording.calls) == len(calls)
        for index, (written, read) in enumerate(zip(calls, recording.calls, strict=True)):
            assert read.call_index == index
            request = read.request()
            assert all(same(request[part], written.request[part]) for part in written.request)
            assert same(_dumped(list(read.events())), _dumped(list(written.events)))
            assert (read.lane, read.outcome, read.duration_ms) == (
                written.lane,
                written.outcome,
                written.duration_ms,
            )
            assert same(read.error, written.error)
            assert read.event_count == len(written.events)
            assert read.message_count == len(written.request["context"]["messages"])
            assert (read.api, read.model_id) == ("openai-completions", "gpt")
            assert read.at == "2026-01-01T00:00:00.000Z"


@pytest.mark.parametrize(
    "value",
    [
        float("inf"),
        float("-inf"),
        -0.0,
        5e-324,
        1e16,
        10**99,
        -(10**99),
        2**64,
        "\ud83d",
        "\udc00\ud800",
        "\U0001f600",
        "\u2028\u2029",
        "",
        "\x00\x1f\x7f",
        {"\ud800": 1, "": 2},
        True,
        1,
        1.0,
    ],
)
def test_values_no_other_format_keeps(value: object, tmp_path: Path) -> None:
    events: list[AssistantMessageEvent] = [
        OpaqueEvent(content_index=0, content=OpaqueContent(kind="x", data=value)),
        delta(value if isinstance(value, str) else "x"),
    ]
    request = {**Call().request, "options": {"value": value}}
    path = write_rows(tmp_path / "a.jsonl", whole_rows([Call(events, request)]))
    with read_recording_file(path) as recording:
        read = list(recording.calls[0].events())
        assert same(_dumped(read), _dumped(events))
        assert same(recording.calls[0].request()["options"]["value"], value)


def test_enormous_texts_and_many_blocks(tmp_path: Path) -> None:
    events: list[AssistantMessageEvent] = [delta("é" * 3_000_000), delta("")]
    events += [
        TextEndEvent(content_index=index, content=TextContent(text=str(index))) for index in range(1000)
    ]
    path = write_rows(tmp_path / "a.jsonl", whole_rows([Call(events), Call(events[:2])]))
    with read_recording_file(path) as recording:
        assert list(recording.calls[0].events()) == events
        assert list(recording.calls[1].events()) == events[:2]


@_settings
@given(sizes=st.lists(st.integers(1, 3000), min_size=1, max_size=30))
def test_rows_of_any_length_lie_where_the_index_says(sizes: list[int], tmp_path: Path) -> None:
    events = [TextDeltaEvent(content_index=0, delta="x" * size * 7) for size in sizes]
    two = [Call(events), Call(list(reversed(events)))]
    path = write_rows(tmp_path / "a.jsonl", interleaved_rows(two, sizes * 5))
    with read_recording_file(path) as recording:
        assert [list(call.events()) for call in recording.calls] == [list(call.events) for call in two]


def test_calls_are_read_side_by_side(tmp_path: Path) -> None:
    path = write_rows(
        tmp_path / "a.jsonl", whole_rows([Call([delta(f"{n}-{i}") for i in range(200)]) for n in range(3)])
    )
    with read_recording_file(path) as recording:
        streams = [call.events() for call in recording.calls] + [recording.calls[0].events()]
        for number in range(200):
            texts = [event.delta for event in map(next, streams) if isinstance(event, TextDeltaEvent)]
            assert texts == [f"0-{number}", f"1-{number}", f"2-{number}", f"0-{number}"]


def test_rows_as_people_write_them(tmp_path: Path) -> None:
    path = write_rows(
        tmp_path / "a.jsonl",
        [
            b'{"type": "header", "format_version": 1}\n',
            b'{"call_index": 0, "type": "request", "model": {"api": "a", "id": "m"},'
            b' "context": {"messages": [{}]}, "options": null, "unknown": 1}\n',
            b'{"call_index": 0, "type": "event", "event_index": 0, "more": [],'
            b' "event": {"delta": "\\u0068i", "type": "text_delta", "content_index": 0}}\n',
            event_row(0, 1, delta("there")),
            b'{"type": "call_end", "call_index": 0, "event_count": 2}\n',
        ],
    )
    with read_recording_file(path) as recording:
        call = recording.calls[0]
        assert list(call.events()) == [delta("hi"), delta("there")]
        assert (call.outcome, call.lane, call.at, call.error, call.duration_ms) == (
            "complete",
            None,
            None,
            None,
            None,
        )
        assert call.request()["options"] == {}
        assert recording.calls[-1].call_index == 0
        assert [one.call_index for one in recording.calls[0:5]] == [0]
        with pytest.raises(IndexError):
            recording.calls[1]
