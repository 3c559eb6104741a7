"""Every rule of the format, and the words it is refused with."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from openprogram_core.recordings import RecordingFileError, read_recording_file
from tests.recordings.building import HEADER, MODEL, Call, delta, whole_rows, write_rows

REQUEST, EVENT, EVENT_1, END = Call([delta(), delta()]).rows(0)


def _row(**fields: Any) -> bytes:
    return json.dumps(fields, separators=(",", ":")).encode() + b"\n"


def _request(**changes: Any) -> bytes:
    fields: dict[str, Any] = {
        "type": "request",
        "call_index": 0,
        "model": MODEL,
        "context": {"messages": []},
        "options": {},
    }
    fields |= changes
    return _row(**{name: value for name, value in fields.items() if value is not ...})


def _event(event: Any, call_index: Any = 0, event_index: Any = 0) -> bytes:
    return _row(type="event", call_index=call_index, event_index=event_index, event=event)


def _end(**changes: Any) -> bytes:
    return _row(**{"type": "call_end", "call_index": 0, "event_count": 2, **changes})


_DELTA = {"type": "text_delta", "content_index": 0, "delta": "x"}

CASES: dict[str, tuple[list[bytes], int | None, int | None, str]] = {
    "empty": ([], None, None, "is empty: a recording begins with a header"),
    "no header": ([REQUEST, END], 1, None, "the first line is no header"),
    "event first": ([EVENT], 1, None, "the first line is no header"),
    "no JSON": ([b"hello\n"], 1, None, "no valid JSON: Expecting value at character 1 of the line"),
    "no object": ([b"[]\n"], 1, None, "the line is no JSON object"),
    "no version": ([b'{"type":"header"}\n'], 1, None, "format version null; this release reads version 1"),
    "other version": ([_row(type="header", format_version=2)], 1, None, "format version 2; this release"),
    "version as text": ([_row(type="header", format_version="1")], 1, None, 'format version "1"; this'),
    "version true": ([_row(type="header", format_version=True)], 1, None, "format version true; this"),
    "version 1.0": ([_row(type="header", format_version=1.0)], 1, None, "format version 1.0; this"),
    "second header": ([HEADER, HEADER], 2, None, "a second header"),
    "no type": ([HEADER, b"{}\n"], 2, None, "the row has no type"),
    "unknown type": ([HEADER, _row(type="note")], 2, None, 'unknown row type "note"'),
    "type of a strange kind": ([HEADER, _row(type=[1])], 2, None, "unknown row type a list"),
    "empty line": ([HEADER, b"\n"], 2, None, "the line is empty"),
    "only spaces": ([HEADER, b"  \n"], 2, None, "no valid JSON"),
    "CRLF": ([HEADER[:-1] + b"\r\n"], 1, None, r"the line ends with \\r\\n"),
    "CRLF later": ([HEADER, REQUEST, EVENT[:-1] + b"\r\n"], 3, None, r"the line ends with \\r\\n"),
    "BOM": ([b"\xef\xbb\xbf" + HEADER], 1, None, "begins with a byte order mark"),
    "unterminated": ([HEADER, REQUEST, EVENT, EVENT_1, END[:-1]], 5, None, "the line has no end"),
    "invalid UTF-8": ([HEADER, b'{"type":"\xff"}\n'], 2, None, "invalid UTF-8 at byte 10"),
    "invalid UTF-8 in an event": (
        [HEADER, REQUEST, EVENT.replace(b"hello", b"h\xc3")],
        3,
        None,
        "invalid UTF-8",
    ),
    "surrogate as UTF-8": ([HEADER, b'{"type":"\xed\xa0\x80"}\n'], 2, None, "invalid UTF-8"),
    "UTF-16": ([HEADER.decode().encode("utf-16")], 1, None, "invalid UTF-8 at byte 1"),
    "raw control character": ([HEADER, b'{"type":"a\x01"}\n'], 2, None, "Invalid control character"),
    "duplicate key": ([HEADER, b'{"type":"x","type":"y"}\n'], 2, None, "the key 'type' stands twice"),
    "duplicate key in an event": (
        [HEADER, REQUEST, EVENT.replace(b'"delta":"hello"', b'"delta":"a","delta":"b"')],
        3,
        None,
        "the key 'delta' stands twice in one object",
    ),
    "duplicate key deep in a request": (
        [HEADER, REQUEST.replace(b'"options": {}', b'"options":{"a":[{"b":1,"b":1}]}')],
        2,
        None,
        "the key 'b' stands twice in one object",
    ),
    "two values on a line": ([HEADER, REQUEST[:-1] + END], 2, None, "no valid JSON: Extra data"),
    "call_index from 1": ([HEADER, _request(call_index=1)], 2, 1, "call_index is 1, expected 0"),
    "call_index again": ([HEADER, REQUEST, REQUEST], 3, 0, "call_index is 0, expected 1"),
    "call_index as text": (
        [HEADER, _request(call_index="0")],
        2,
        None,
        'call_index is "0"; it must be an integer',
    ),
    "call_index true": ([HEADER, _request(call_index=False)], 2, None, "call_index is false; it must be"),
    "call_index below 0": ([HEADER, _request(call_index=-1)], 2, None, "call_index is -1; it must be"),
    "no call_index": ([HEADER, _request(call_index=...)], 2, None, "call_index is missing"),
    "no model": ([HEADER, _request(model=...)], 2, 0, "model is missing; it must be an object"),
    "model as text": ([HEADER, _request(model="gpt")], 2, 0, 'model is "gpt"; it must be an object'),
    "no api": ([HEADER, _request(model={"id": "m"})], 2, 0, "model.api is missing; it must be a string"),
    "no model id": ([HEADER, _request(model={"api": "a", "id": 3})], 2, 0, "model.id is 3; it must be"),
    "no messages": ([HEADER, _request(context={})], 2, 0, "context.messages is missing; it must be a list"),
    "no options": ([HEADER, _request(options=...)], 2, 0, "the request has no options"),
    "options as list": ([HEADER, _request(options=[])], 2, 0, "options is a list; it must be an object"),
    "lane as number": ([HEADER, _request(lane=1)], 2, 0, "lane is 1; it must be a string"),
    "event before its call": ([HEADER, EVENT], 2, 0, "an event of a call that has not begun"),
    "event after its call": (
        [*whole_rows([Call([])]), EVENT],
        4,
        0,
        "an event of a call that has ended",
    ),
    "event_index from 1": ([HEADER, REQUEST, EVENT_1], 3, 0, "event_index is 1, expected 0"),
    "event_index again": ([HEADER, REQUEST, EVENT, EVENT], 4, 0, "event_index is 0, expected 1"),
    "event_index as float": ([HEADER, REQUEST, _event(_DELTA, event_index=0.0)], 3, 0, "event_index is 0.0"),
    "event missing": (
        [HEADER, REQUEST, _row(type="event", call_index=0, event_index=0)],
        3,
        0,
        "event is missing",
    ),
    "event unknown": (
        [HEADER, REQUEST, _event({"type": "strange"})],
        3,
        0,
        "no valid event: .*'strange'.*does not match",
    ),
    "event without type": ([HEADER, REQUEST, _event({})], 3, 0, "no valid event: Unable to extract tag"),
    "event with a wrong field": (
        [HEADER, REQUEST, _event({**_DELTA, "content_index": "0"})],
        3,
        0,
        "no valid event: text_delta.content_index: Input should be a valid integer",
    ),
    "event with a field too many": (
        [HEADER, REQUEST, _event({**_DELTA, "extra": 1})],
        3,
        0,
        "no valid event: text_delta.extra: Extra inputs are not permitted",
    ),
    "event without a field": (
        [HEADER, REQUEST, _event({"type": "text_delta", "delta": "x"})],
        3,
        0,
        "no valid event: text_delta.content_index: Field required",
    ),
    "no call_end": ([HEADER, REQUEST, EVENT], None, 0, "the call has no call_end"),
    "call_end of no call": ([HEADER, END], 2, 0, "the call_end of a call that has not begun"),
    "call_end twice": (
        [*whole_rows([Call()]), _end(event_count=0)],
        4,
        0,
        "the call_end of a call that has ended",
    ),
    "count too small": (
        [HEADER, REQUEST, EVENT, EVENT_1, _end(event_count=1)],
        5,
        0,
        "the call_end's event_count is 1; the call has 2 events",
    ),
    "count too large": ([HEADER, REQUEST, EVENT, _end()], 4, 0, "event_count is 2; the call has 1 events"),
    "no count": ([HEADER, REQUEST, _row(type="call_end", call_index=0)], 3, 0, "event_count is missing"),
    "unknown outcome": (
        [HEADER, REQUEST, _end(event_count=0, outcome="fine")],
        3,
        0,
        'unknown outcome "fine"; the outcomes are complete, error',
    ),
    "error as text": (
        [HEADER, REQUEST, _end(event_count=0, error="x")],
        3,
        0,
        'error is "x"; it must be an object',
    ),
    "duration below 0": ([HEADER, REQUEST, _end(event_count=0, duration_ms=-1)], 3, 0, "duration_ms is -1"),
}


@pytest.mark.parametrize("case", CASES)
def test_refused(case: str, tmp_path: Path) -> None:
    rows, line_number, call_index, words = CASES[case]
    path = write_rows(tmp_path / "a.jsonl", rows)
    with pytest.raises(RecordingFileError, match=words) as refusal:
        read_recording_file(path)
    assert (refusal.value.line_number, refusal.value.call_index) == (line_number, call_index)
    assert str(refusal.value).startswith(str(path))
    assert path.read_bytes() == b"".join(rows)


def test_a_header_alone_is_a_recording_without_calls(tmp_path: Path) -> None:
    path = write_rows(tmp_path / "a.jsonl", [_row(type="header", format_version=1, anything=[1])])
    with read_recording_file(str(path)) as recording:
        assert len(recording.calls) == 0
        assert recording.header["anything"] == [1]


def test_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(RecordingFileError, match="there is no such file"):
        read_recording_file(tmp_path / "nothing.jsonl")


def test_a_file_changed_after_it_was_opened(tmp_path: Path) -> None:
    path = write_rows(tmp_path / "a.jsonl", whole_rows([Call([delta()] * 2000)]))
    with read_recording_file(path) as recording:
        events = recording.calls[0].events()
        next(events)
        path.write_bytes(b"x" * path.stat().st_size)
        with pytest.raises(RecordingFileError, match=r"changed since it was opened|no valid"):
            list(events)
        with pytest.raises(RecordingFileError):
            recording.calls[0].request()
        path.write_bytes(b"")
        with pytest.raises(RecordingFileError, match="changed since it was opened"):
            recording.calls[0].request()


def test_a_file_deleted_after_it_was_opened_is_read_on(tmp_path: Path) -> None:
    path = write_rows(tmp_path / "a.jsonl", whole_rows([Call([delta()])]))
    with read_recording_file(path) as recording:
        path.unlink()
        assert list(recording.calls[0].events()) == [delta()]


def test_a_closed_recording(tmp_path: Path) -> None:
    path = write_rows(tmp_path / "a.jsonl", whole_rows([Call([delta()])]))
    recording = read_recording_file(path)
    recording.close()
    recording.close()
    assert recording.calls[0].event_count == 1
    with pytest.raises(RecordingFileError, match="the recording was closed"):
        list(recording.calls[0].events())
