"""Counts the provider calls of one recording's span, and lets none through before or after it."""

from __future__ import annotations

import threading
from collections.abc import AsyncGenerator
from contextlib import aclosing

from openprogram_core import OpenProgramError
from openprogram_core.providers import (
    ApiProvider,
    AssistantMessageEvent,
    Context,
    DoneEvent,
    ErrorEvent,
    Model,
    SimpleStreamOptions,
    StreamOptions,
    Usage,
)


class UnrecordedCallError(OpenProgramError):
    """A provider was called where the test has no recording: there is none, or it has ended."""


class Tally:
    """Calls begun and tokens seen, thread-safe. While ``refusal`` is set every call raises it as message."""

    def __init__(self, refusal: str | None = None) -> None:
        self._lock = threading.Lock()
        self.calls = 0
        self.tokens = 0
        self.refusal = refusal

    def begin_call(self) -> None:
        """Count a call, or raise what stands in its way."""
        __tracebackhide__ = True
        if self.refusal is not None:
            raise UnrecordedCallError(self.refusal)
        with self._lock:
            self.calls += 1

    def add_usage(self, usage: Usage) -> None:
        """Add the tokens of one message."""
        parts = usage.input + usage.output + usage.cache_read + usage.cache_write
        with self._lock:
            self.tokens += usage.total_tokens or parts


class CountedProvider(ApiProvider):
    """Passes every event on, the very object, and counts."""

    wrappable = False

    def __init__(self, provider: ApiProvider, tally: Tally) -> None:
        self.requires_credentials = provider.requires_credentials
        self._provider = provider
        self._tally = tally

    def stream(
        self, model: Model, context: Context, options: StreamOptions | None = None
    ) -> AsyncGenerator[AssistantMessageEvent, None]:
        """See `ApiProvider.stream`."""
        return self._count(self._provider.stream(model, context, options))

    def stream_simple(
        self, model: Model, context: Context, options: SimpleStreamOptions | None = None
    ) -> AsyncGenerator[AssistantMessageEvent, None]:
        """See `ApiProvider.stream_simple`."""
        return self._count(self._provider.stream_simple(model, context, options))

    def api_key_variables(self, model: Model) -> tuple[str, ...]:
        """See `ApiProvider.api_key_variables`."""
        return self._provider.api_key_variables(model)

    async def _count(
        self, events: AsyncGenerator[AssistantMessageEvent, None]
    ) -> AsyncGenerator[AssistantMessageEvent, None]:
        __tracebackhide__ = True
        self._tally.begin_call()
        async with aclosing(events):
            async for event in events:
                if isinstance(event, DoneEvent):
                    self._tally.add_usage(event.message.usage)
                elif isinstance(event, ErrorEvent):
                    self._tally.add_usage(event.error.usage)
                yield event


class RefusingProvider(ApiProvider):
    """Stands for every provider where there is nothing to replay."""

    requires_credentials = False
    wrappable = False

    def __init__(self, refusal: str) -> None:
        self._refusal = refusal

    def stream(
        self, model: Model, context: Context, options: StreamOptions | None = None
    ) -> AsyncGenerator[AssistantMessageEvent, None]:
        """Raise the refusal, from the first step."""
        return self._refuse()

    async def _refuse(self) -> AsyncGenerator[AssistantMessageEvent, None]:
        __tracebackhide__ = True
        raise UnrecordedCallError(self._refusal)
        yield  # It makes this a generator.
