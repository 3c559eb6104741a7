"""A provider whose every step a test decides, and shorter ways to record and read."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Callable
from pathlib import Path
from typing import Any

from openprogram_core.providers import (
    ApiProvider,
    AssistantMessage,
    AssistantMessageEvent,
    Context,
    DoneEvent,
    Model,
    StartEvent,
    StreamOptions,
    TextDeltaEvent,
    UserMessage,
)

MODEL = Model(id="m", api="test-api", provider="test")
_MESSAGE = AssistantMessage(api="test-api", provider="test", model="m")
START = StartEvent(message=_MESSAGE)
DONE = DoneEvent(reason="stop", message=_MESSAGE)

Stream = AsyncGenerator[AssistantMessageEvent, None]


class FunctionProvider(ApiProvider):
    """Streams what an async generator function without arguments yields."""

    requires_credentials = False

    def __init__(self, function: Callable[[], Stream]) -> None:
        self._function = function

    def stream(self, model: Model, context: Context, options: StreamOptions | None = None) -> Stream:
        return self._function()


def delta(text: str = "hello") -> TextDeltaEvent:
    return TextDeltaEvent(content_index=0, delta=text)


def asking(text: str) -> Context:
    return Context(messages=[UserMessage(content=text)])


async def drain(events: Stream) -> list[AssistantMessageEvent]:
    return [event async for event in events]


def rows(path: Path) -> list[dict[str, Any]]:
    """The rows of a file, also of one that is not complete."""
    return [json.loads(line) for line in path.read_bytes().split(b"\n") if line]


def ends(path: Path) -> list[dict[str, Any]]:
    """The call_end rows by call_index, without their duration."""
    found = [row for row in rows(path) if row["type"] == "call_end"]
    for row in found:
        row.pop("duration_ms", None)
        del row["type"]
    return sorted(found, key=lambda row: int(row["call_index"]))
