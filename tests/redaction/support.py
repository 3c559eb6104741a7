"""What the tests of redaction share: the built-in rules, streams, token-shaped values made at run time."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import pairwise
from typing import Any, Literal

import openprogram_redaction
from openprogram_core._json import dump_json
from openprogram_core._plugins import PluginSet
from openprogram_core.providers import (
    EVENT_ADAPTER,
    AssistantMessageEvent,
    Model,
    StreamAssembler,
    check_event_protocol,
)
from openprogram_core.redaction import CallRedactor, Redactor

Kind = Literal["text", "thinking", "arguments"]
BODY = "aB3dE6gH9jK2mN5pQ8rS1tU4vW7xY0zA"
MODEL = Model(id="m", api="fake-chat", provider="fake")


@cache
def built_in() -> Redactor:
    """The built-in rules and nothing else."""
    return Redactor.from_plugins(PluginSet([], {}).with_plugins([openprogram_redaction]))


def redactor_with(*plugins: object) -> Redactor:
    """The built-in rules and these plugins."""
    return Redactor.from_plugins(PluginSet([], {}).with_plugins([openprogram_redaction, *plugins]))


def redact(value: Any) -> Any:
    """Redact with the built-in rules."""
    return built_in().remove_secret_values(value)


def as_text(value: Any) -> str:
    """The value as a recording would hold it, or a text as it is."""
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, default=repr)


def stream_events(pieces: Iterable[str], kind: Kind = "text") -> list[AssistantMessageEvent]:
    """The events of a stream with one block whose deltas are the pieces."""
    assembler = StreamAssembler(MODEL)
    events = list(assembler.start())
    for piece in pieces:
        if kind == "text":
            events += assembler.text(0, piece)
        elif kind == "thinking":
            events += assembler.thinking(0, piece)
        else:
            events += assembler.tool_call(0, piece, id="call_1", name="run")
    return events + assembler.done("stop")


class RecordedStream:
    """What the recorder would write for a stream, read back."""

    def __init__(self, events: Sequence[AssistantMessageEvent], call: CallRedactor | None = None) -> None:
        call = call or built_in().open_call()
        self.payloads: list[AssistantMessageEvent | dict[str, Any]] = []
        for event in events:
            rows = call.event(event)
            assert 1 <= len(rows) <= 2
            self.payloads += rows
        self.payloads += call.finish()
        self.rows = [
            payload if isinstance(payload, dict) else payload.model_dump(mode="json")
            for payload in self.payloads
        ]
        self.file = b"\n".join(map(dump_json, self.rows))
        self.events = [EVENT_ADAPTER.validate_python(row) for row in self.rows]
        self.deltas = [row["delta"] for row in self.rows if "delta" in row]
        self.joined = "".join(self.deltas)

    def violations(self) -> list[Any]:
        """Where the recorded stream breaks the event protocol."""
        return list(check_event_protocol(self.events))


def recorded(pieces: Iterable[str], kind: Kind = "text", known: Iterable[str] = ()) -> RecordedStream:
    """Record a stream of pieces."""
    return RecordedStream(stream_events(pieces, kind), built_in().open_call(known))


def cut(text: str, places: Iterable[int]) -> list[str]:
    """Cut a text at places, which may repeat or lie outside."""
    points = sorted({min(max(place, 0), len(text)) for place in places} | {0, len(text)})
    return [text[start:end] for start, end in pairwise(points)]
