"""Fakes for tests of agent code: a provider that says what its script says. Checks for tests of plugins.

A fake is no mock: it speaks the whole event protocol, so the code under test cannot tell it from a model.

>>> from openprogram_core.providers import register_api_provider
>>> from openprogram_core.testing import CallTool, ScriptedProvider
>>> register_api_provider("scripted", ScriptedProvider([[CallTool("add", {"a": 1, "b": 2})], "It is 3."]))
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, TypeAlias

from openprogram_core.errors import ProviderError
from openprogram_core.plugin_kit.assertions import check_plugin, first_difference, plugin_set, redacted
from openprogram_core.providers import (
    ApiProvider,
    AssistantMessageEvent,
    Context,
    ErrorKind,
    Model,
    StreamAssembler,
    StreamOptions,
    Usage,
)

__all__ = [
    "CallTool",
    "Fail",
    "Raise",
    "ReceivedCall",
    "Refuse",
    "Say",
    "ScriptedProvider",
    "Stop",
    "Think",
    "Turn",
    "Wait",
    "check_plugin",
    "first_difference",
    "plugin_set",
    "redacted",
    "scripted_model",
]


@dataclass(frozen=True)
class Say:
    """Stream a block of text."""

    text: str


@dataclass(frozen=True)
class Think:
    """Stream a block of thinking, with the signature a service would give it."""

    thinking: str
    signature: str | None = None


@dataclass(frozen=True)
class CallTool:
    """Stream a tool call.

    ``arguments`` is an object, or the raw text a model might send, sound or not. ``id`` is ``call_N`` by
    default, N being the call's place in the message.
    """

    name: str
    arguments: Mapping[str, Any] | str = field(default_factory=dict)
    id: str | None = None


@dataclass(frozen=True)
class Wait:
    """Let ``seconds`` pass before the next step."""

    seconds: float


@dataclass(frozen=True)
class Refuse:
    """Raise a `ProviderError`, as a service does that answers 4xx or 5xx; the first step of its turn."""

    kind: ErrorKind
    message: str = "refused by the script"
    retryable: bool = False
    retry_after_s: float | None = None


@dataclass(frozen=True)
class Fail:
    """End the stream with an ``error`` event."""

    kind: ErrorKind
    message: str = "failed by the script"
    retryable: bool = False
    retry_after_s: float | None = None


@dataclass(frozen=True)
class Raise:
    """Raise any exception at this point of the stream, as a broken provider does."""

    exception: BaseException


@dataclass(frozen=True)
class Stop:
    """End the stream with this reason; by default it is ``toolUse`` after a tool call, else ``stop``."""

    reason: Literal["stop", "length", "toolUse"]


Step = Say | Think | CallTool | Wait | Refuse | Fail | Raise | Stop
Turn: TypeAlias = str | Step | Sequence[Step]
Responder: TypeAlias = Callable[[Model, Context, StreamOptions | None], Turn]
Chunking: TypeAlias = int | Callable[[str], Iterable[str]]


class ReceivedCall(NamedTuple):
    """What one call was given, copied when it came."""

    model: Model
    context: Context
    options: StreamOptions | None


def scripted_model(api: str = "scripted", **fields: Any) -> Model:
    """Return a model for ``api``; ``fields`` are those of `Model`."""
    return Model(**{"id": "scripted-model", "provider": "scripted", "api": api, **fields})


def _pieces(text: str, chunking: Chunking) -> Iterator[str]:
    if callable(chunking):
        yield from chunking(text)
        return
    for begin in range(0, len(text), chunking):
        yield text[begin : begin + chunking]


class ScriptedProvider(ApiProvider):
    """Answers call after call with the turns of a script.

    ``script`` is a sequence of turns, one a call: a string is said, a step or a sequence of steps is done in
    order. Or it is a function of ``(model, context, options)`` that returns the turn. A call past the end of
    the script raises `ProviderError`. ``chunking`` cuts text, thinking and arguments into deltas: a number of
    characters, or a function from a text to its pieces. ``usage`` is what every message reports.

    ``calls`` lists what the provider was given. Calls may overlap, in any number of tasks and threads; each
    takes its turn when its first event is asked for.
    """

    requires_credentials = False

    def __init__(
        self,
        script: Sequence[Turn] | Responder,
        *,
        chunking: Chunking = 8,
        usage: Usage | None = None,
        timestamp: int | None = None,
    ) -> None:
        if isinstance(script, str):
            raise TypeError("script is a sequence of turns; put one string into a list: [text]")
        if isinstance(chunking, int) and chunking < 1:
            raise ValueError(f"chunking is a number of characters from 1, not {chunking}")
        self.calls: list[ReceivedCall] = []
        self._script = script
        self._chunking = chunking
        self._usage = usage
        self._timestamp = timestamp
        self._lock = threading.Lock()

    def stream(
        self, model: Model, context: Context, options: StreamOptions | None = None
    ) -> AsyncGenerator[AssistantMessageEvent, None]:
        """Return the events of the next turn."""
        return self._run(model, context, options)

    def _take_turn(self, model: Model, context: Context, options: StreamOptions | None) -> Sequence[Step]:
        copied = options.model_copy() if options is not None else None
        with self._lock:
            index = len(self.calls)
            self.calls.append(ReceivedCall(model.model_copy(), context.model_copy(deep=True), copied))
        if callable(self._script):
            turn = self._script(model, context, options)
        elif index < len(self._script):
            turn = self._script[index]
        else:
            raise ProviderError(
                "invalid_request", f"the script has {len(self._script)} turns; this is call {index + 1}"
            )
        if isinstance(turn, str):
            return [Say(turn)]
        return [turn] if isinstance(turn, Step) else turn

    async def _run(
        self, model: Model, context: Context, options: StreamOptions | None
    ) -> AsyncGenerator[AssistantMessageEvent, None]:
        steps = self._take_turn(model, context, options)
        assembler = StreamAssembler(model, timestamp=self._timestamp)
        if self._usage is not None:
            assembler.usage = self._usage
        for key, step in enumerate(steps):
            if isinstance(step, Refuse) and not assembler.started:
                raise ProviderError(
                    step.kind, step.message, retryable=step.retryable, retry_after_s=step.retry_after_s
                )
            if isinstance(step, Wait):
                await asyncio.sleep(step.seconds)
                continue
            if isinstance(step, Raise):
                raise step.exception
            for event in self._events(assembler, key, step):
                yield event
            if assembler.finished:
                return
        for event in assembler.done("toolUse" if assembler.has_tool_calls() else "stop"):
            yield event

    def _events(self, assembler: StreamAssembler, key: int, step: Step) -> Iterator[AssistantMessageEvent]:
        match step:
            case Say():
                yield from assembler.text(key, "")
                for piece in _pieces(step.text, self._chunking):
                    yield from assembler.text(key, piece)
                yield from assembler.end(key)
            case Think():
                yield from assembler.thinking(key, "")
                for piece in _pieces(step.thinking, self._chunking):
                    yield from assembler.thinking(key, piece)
                if step.signature is not None:
                    assembler.sign(key, step.signature)
                yield from assembler.end(key)
            case CallTool():
                given = step.arguments
                text = given if isinstance(given, str) else json.dumps(dict(given), ensure_ascii=False)
                yield from assembler.tool_call(key, "", id=step.id, name=step.name)
                for piece in _pieces(text, self._chunking):
                    yield from assembler.tool_call(key, piece)
                yield from assembler.end(key)
            case Stop():
                yield from assembler.done(step.reason)
            case Fail() | Refuse():
                yield from assembler.fail(
                    ProviderError(
                        step.kind, step.message, retryable=step.retryable, retry_after_s=step.retry_after_s
                    )
                )
            case Wait() | Raise():
                raise TypeError(f"{step!r} makes no events")
