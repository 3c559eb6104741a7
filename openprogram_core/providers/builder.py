"""Rebuilds the message so far from a stream's events."""

from __future__ import annotations

from openprogram_core.errors import EventProtocolError
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
from openprogram_core.providers.messages import (
    AssistantContent,
    AssistantMessage,
    InvalidToolCall,
    TextContent,
    ThinkingContent,
)


class MessageBuilder:
    """Feeds on events, one `add` each, and gives the message so far as `message`.

    An open tool call appears as an `InvalidToolCall` with the arguments' text so far; once ended it is what
    its end said. Adding costs the same at the last event as at the first; `message` costs the message.
    """

    def __init__(self) -> None:
        self._base: AssistantMessage | None = None
        self._final: AssistantMessage | None = None
        self._open: dict[int, tuple[AssistantMessageEvent, list[str]]] = {}
        self._ended: dict[int, AssistantContent] = {}
        self._count = 0

    @property
    def done(self) -> bool:
        """Whether ``done`` or ``error`` was added."""
        return self._final is not None

    def add(self, event: AssistantMessageEvent) -> None:
        """Take one event. Raises `EventProtocolError` when it cannot follow what came before."""
        index, self._count = self._count, self._count + 1
        if self._final is not None:
            raise EventProtocolError(index, f"{event.type} after the end of the message")
        match event:
            case StartEvent():
                self._base = event.message
            case TextStartEvent() | ThinkingStartEvent() | ToolCallStartEvent():
                self._open[event.content_index] = (event, [])
            case TextDeltaEvent() | ThinkingDeltaEvent() | ToolCallDeltaEvent():
                opened = self._open.get(event.content_index)
                if opened is None:
                    raise EventProtocolError(index, f"{event.type} for a block that is not open")
                opened[1].append(event.delta)
            case TextEndEvent() | ThinkingEndEvent() | OpaqueEvent():
                self._end(event.content_index, event.content)
            case ToolCallEndEvent():
                self._end(event.content_index, event.tool_call)
            case DoneEvent():
                self._final = event.message
            case ErrorEvent():
                self._final = event.error

    def _end(self, content_index: int, content: AssistantContent) -> None:
        self._open.pop(content_index, None)
        self._ended[content_index] = content

    @property
    def message(self) -> AssistantMessage:
        """The message so far, a new object each time until the stream has ended.

        Raises `EventProtocolError` before the ``start`` event.
        """
        if self._final is not None:
            return self._final
        if self._base is None:
            raise EventProtocolError(self._count, "no start event yet")
        content = dict(self._ended)
        for content_index, (start, pieces) in self._open.items():
            content[content_index] = _partial(start, "".join(pieces))
        return self._base.model_copy(update={"content": [content[index] for index in sorted(content)]})


def _partial(start: AssistantMessageEvent, text: str) -> AssistantContent:
    match start:
        case ThinkingStartEvent():
            return ThinkingContent(thinking=text)
        case ToolCallStartEvent():
            return InvalidToolCall(id=start.id, name=start.name, arguments_text=text, reason="incomplete")
        case _:
            return TextContent(text=text)
