"""Recordings made by hand: rows in any order, whole or not, and generated sessions."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from openprogram_core.providers import (
    AssistantMessage,
    AssistantMessageEvent,
    DoneEvent,
    OpaqueContent,
    OpaqueEvent,
    StartEvent,
    TextContent,
    TextDeltaEvent,
    TextEndEvent,
    TextStartEvent,
    ToolCall,
    ToolCallDeltaEvent,
    ToolCallEndEvent,
)
from openprogram_core.recordings import (
    Outcome,
    call_end_row,
    encode_event,
    event_row_head,
    header_row,
    request_row,
)

MODEL = {"id": "gpt", "api": "openai-completions"}
HEADER = header_row(recording_id="r", created_at="2026-01-01T00:00:00Z", generator="tests", redaction={})


@dataclass
class Call:
    """What a call's rows are made from."""

    events: Sequence[AssistantMessageEvent] = ()
    request: dict[str, Any] = field(
        default_factory=lambda: {"model": MODEL, "context": {"messages": []}, "options": {}}
    )
    lane: str | None = None
    outcome: Outcome = "complete"
    error: dict[str, Any] | None = None
    duration_ms: int | None = 7

    def rows(self, call_index: int) -> list[bytes]:
        payload = json.dumps(self.request).encode()
        return [
            request_row(call_index, payload, at="2026-01-01T00:00:00.000Z", lane=self.lane),
            *(event_row(call_index, event_index, event) for event_index, event in enumerate(self.events)),
            call_end_row(
                call_index, len(self.events), self.outcome, error=self.error, duration_ms=self.duration_ms
            ),
        ]


def event_row(call_index: int, event_index: int, event: AssistantMessageEvent) -> bytes:
    return event_row_head(call_index) + b'%d,"event":%b}\n' % (event_index, encode_event(event))


def delta(text: str = "hello") -> TextDeltaEvent:
    return TextDeltaEvent(content_index=0, delta=text)


def write_rows(path: Path, rows: Iterable[bytes]) -> Path:
    path.write_bytes(b"".join(rows))
    return path


def whole_rows(calls: Sequence[Call]) -> list[bytes]:
    """The rows of calls made one after the other."""
    return [HEADER, *(row for index, call in enumerate(calls) for row in call.rows(index))]


def interleaved_rows(calls: Sequence[Call], choices: Iterable[int]) -> list[bytes]:
    """The rows of overlapping calls; each choice picks the open call that writes next, or begins one."""
    rows, begun = [HEADER], 0
    open_calls: list[list[bytes]] = []
    for choice in choices:
        if begun < len(calls) and (not open_calls or choice % (len(open_calls) + 1) == 0):
            open_calls.append(calls[begun].rows(begun))
            begun += 1
            rows.append(open_calls[-1].pop(0))
        elif open_calls:
            place = choice % len(open_calls)
            rows.append(open_calls[place].pop(0))
            if not open_calls[place]:
                del open_calls[place]
    for call in open_calls:
        rows += call
    for index in range(begun, len(calls)):
        rows += calls[index].rows(index)
    return rows


texts = st.text(st.characters(exclude_categories=()), max_size=30)
"""Any text, lone surrogates too."""

scalars = (
    st.none()
    | st.booleans()
    | st.integers(min_value=-(10**100), max_value=10**100)
    | st.floats()
    | texts
    | st.sampled_from(["\u2028\u2029", "\x00", "\ud800", '"\\', "\r\n", -0.0, 10**100])
)
json_values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=12,
)
json_objects = st.dictionaries(texts, json_values, max_size=4)

_message = st.builds(
    AssistantMessage,
    content=st.lists(st.builds(TextContent, text=texts, signature=st.none() | texts), max_size=2),
    api=st.just("a"),
    provider=texts,
    model=texts,
    service_details=st.none(),
)
events = st.one_of(
    st.builds(StartEvent, message=_message),
    st.builds(TextStartEvent, content_index=st.integers(0, 9)),
    st.builds(TextDeltaEvent, content_index=st.integers(0, 9), delta=texts),
    st.builds(TextEndEvent, content_index=st.integers(0, 9), content=st.builds(TextContent, text=texts)),
    st.builds(ToolCallDeltaEvent, content_index=st.integers(0, 9), delta=texts),
    st.builds(
        ToolCallEndEvent,
        content_index=st.integers(0, 9),
        tool_call=st.builds(ToolCall, id=texts, name=texts, arguments=json_objects),
    ),
    st.builds(
        OpaqueEvent, content_index=st.just(0), content=st.builds(OpaqueContent, kind=texts, data=json_values)
    ),
    st.builds(DoneEvent, reason=st.just("stop"), message=_message),
)
calls = st.builds(
    Call,
    events=st.lists(events, max_size=6),
    request=st.fixed_dictionaries(
        {
            "model": st.just(MODEL),
            "context": st.fixed_dictionaries({"messages": st.lists(json_objects, max_size=3)}),
            "options": json_objects,
        }
    ),
    lane=st.none() | texts,
    outcome=st.sampled_from(["complete", "error", "cancelled", "abandoned"]),
    error=st.none() | json_objects,
    duration_ms=st.none() | st.integers(0, 10**9),
)
sessions = st.tuples(st.lists(calls, max_size=4), st.lists(st.integers(0, 10), max_size=40))
"""Calls, and the choices that `interleaved_rows` makes of them."""


def same(left: object, right: object) -> bool:
    """Equality that tells 1 from 1.0 and True and -0.0, and holds for NaN."""
    if isinstance(left, dict) and isinstance(right, dict):
        return list(left) == list(right) and all(same(left[key], right[key]) for key in left)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(same, left, right))
    return type(left) is type(right) and repr(left) == repr(right)
