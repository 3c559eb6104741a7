"""The rules of the event protocol, as a check."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from openprogram_core.providers.events import (
    AssistantMessageEvent,
    DoneEvent,
    ErrorEvent,
    OpaqueEvent,
    StartEvent,
    TextDeltaEvent,
    TextEndEvent,
    TextStartEvent,
    ThinkingDeltaEvent,
    ThinkingEndEvent,
    ThinkingStartEvent,
    ToolCallDeltaEvent,
    ToolCallEndEvent,
    ToolCallStartEvent,
)
from openprogram_core.providers.messages import AssistantMessage


class ProtocolViolation(NamedTuple):
    """One broken rule: the event's index from 0 (the number of events when something is missing at the end)
    and what is wrong."""

    event_index: int
    reason: str


_STARTS = (TextStartEvent, ThinkingStartEvent, ToolCallStartEvent)
_DELTAS = (TextDeltaEvent, ThinkingDeltaEvent, ToolCallDeltaEvent)
_ENDS = (TextEndEvent, ThinkingEndEvent, ToolCallEndEvent)


class _Checker:
    def __init__(self) -> None:
        self.found: list[ProtocolViolation] = []
        self._index = 0
        self._ended = False
        self._next_content = 0
        self._open: dict[int, tuple[str, list[str]]] = {}
        self._content: dict[int, object] = {}

    def _say(self, reason: str) -> None:
        self.found.append(ProtocolViolation(self._index, reason))

    def add(self, event: AssistantMessageEvent) -> None:
        if self._ended:
            self._say(f"{event.type} after the end")
        elif isinstance(event, StartEvent) != (self._index == 0):
            self._say("the first event must be start" if self._index == 0 else "a second start")
        if isinstance(event, StartEvent):
            if event.message.content:
                self._say("start carries content")
        elif isinstance(event, _STARTS):
            self._begin(event.content_index)
            self._open[event.content_index] = (event.type.removesuffix("_start"), [])
        elif isinstance(event, _DELTAS):
            self._delta(event.content_index, event.type.removesuffix("_delta"), event.delta)
        elif isinstance(event, _ENDS):
            self._end(event)
        elif isinstance(event, OpaqueEvent):
            self._begin(event.content_index)
            self._content[event.content_index] = event.content
        elif isinstance(event, DoneEvent):
            self._finish(event.message, event.reason)
        elif isinstance(event, ErrorEvent):
            self._finish(event.error, event.reason)
        self._index += 1

    def _begin(self, content_index: int) -> None:
        if content_index != self._next_content:
            self._say(f"content_index {content_index}, expected {self._next_content}")
        self._next_content = max(self._next_content, content_index + 1)

    def _delta(self, content_index: int, kind: str, delta: str) -> None:
        opened = self._open.get(content_index)
        if opened is None or opened[0] != kind:
            self._say(f"{kind}_delta for content_index {content_index}, where no {kind} block is open")
        else:
            opened[1].append(delta)

    def _end(self, event: TextEndEvent | ThinkingEndEvent | ToolCallEndEvent) -> None:
        kind = event.type.removesuffix("_end")
        opened = self._open.pop(event.content_index, None)
        if opened is None or opened[0] != kind:
            self._say(f"{event.type} for content_index {event.content_index}, where no {kind} block is open")
        if isinstance(event, ToolCallEndEvent):
            self._content[event.content_index] = event.tool_call
            return
        whole = event.content.text if isinstance(event, TextEndEvent) else event.content.thinking
        if opened is not None and "".join(opened[1]) != whole:
            self._say(f"the deltas of content_index {event.content_index} do not join to its content")
        self._content[event.content_index] = event.content

    def _finish(self, message: AssistantMessage, reason: str) -> None:
        self._ended = True
        for content_index, (kind, _) in sorted(self._open.items()):
            self._say(f"the {kind} block {content_index} was not ended")
        if message.stop_reason != reason:
            self._say(f"reason {reason} but message.stop_reason {message.stop_reason}")
        if message.content != [self._content[index] for index in sorted(self._content)]:
            self._say("the message's content is not what the ends of its blocks said")

    def close(self) -> list[ProtocolViolation]:
        if not self._ended:
            self._say("neither done nor error at the end")
        return self.found


def check_event_protocol(events: Iterable[AssistantMessageEvent]) -> list[ProtocolViolation]:
    """Return where a stream's events break the event protocol; empty when nowhere."""
    checker = _Checker()
    for event in events:
        checker.add(event)
    return checker.close()
