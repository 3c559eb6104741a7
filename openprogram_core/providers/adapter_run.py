"""The run of one call over a vendor's SDK, the same for every wire API.

An adapter writes a `WireCall`: how to send the request, what one payload of the stream means, what an SDK's
exception means. `run_wire_call` does the rest the same way for all of them: a refused request raises, what
fails later is an ``error`` event, a stream without its end is no success, an `AbortSignal` stops it at once,
and whatever happens the connection is closed.
"""

from __future__ import annotations

import asyncio
import contextlib
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterable
from typing import Any, TypeVar

from openprogram_core.errors import OpenProgramError, ProviderError
from openprogram_core.providers.adapter_errors import error_from_exception, provider_error
from openprogram_core.providers.assembly import StreamAssembler
from openprogram_core.providers.events import AssistantMessageEvent
from openprogram_core.providers.options import AbortSignal, StreamOptions

T = TypeVar("T")

_DRAIN_S = 0.2
"""How long to read on after a stream's last payload, so that its connection can serve the next call."""


class WireCall(ABC):
    """One call over one wire API. Used once.

    ``assembler`` makes the events; ``options`` are the call's. Known secrets of the call, such as its key, go
    into ``secrets``, so that no error message repeats them.
    """

    def __init__(self, assembler: StreamAssembler, options: StreamOptions | None) -> None:
        self.assembler = assembler
        self.options = options or StreamOptions()
        self.secrets: list[str] = [self.options.api_key] if self.options.api_key else []

    @abstractmethod
    async def open(self) -> AsyncIterator[Any]:
        """Send the request and return the payloads of the answer, once its status is known to be good.

        Whatever this raises goes through `classify` and is raised to the consumer before the first event.
        """

    @abstractmethod
    def feed(self, payload: Any) -> Iterable[AssistantMessageEvent]:
        """Return the events of one payload; ``assembler.done`` or ``fail`` when it ends the message."""

    @abstractmethod
    def finish(self) -> Iterable[AssistantMessageEvent]:
        """The answer ended and the assembler is not finished: end it with ``done``, or return nothing.

        Nothing means the stream stopped before its end, which becomes an ``error`` event of kind
        ``protocol``.
        """

    def classify(self, error: Exception) -> ProviderError | None:
        """Return what an exception of the SDK means, None when it is not the SDK's.

        The exceptions of HTTP libraries, asyncio and the operating system are known without this.
        """
        return None

    async def close(self) -> None:  # noqa: B027 - most SDKs close with their stream
        """Close the connection. Called once, however the call ended, also when `open` failed."""


async def run_wire_call(call: WireCall) -> AsyncGenerator[AssistantMessageEvent, None]:
    """Run a call and yield its events.

    Raises `ProviderError` before the first event when the request was refused or got no answer. After that
    every failure is an ``error`` event, and cancellation goes through. Closing the generator closes the
    connection; so does everything else that ends it.
    """
    __tracebackhide__ = True
    interrupt = _Interrupt(call.options.signal)
    connection = _Connection(call)
    refusal: ProviderError | None = None
    try:
        try:
            connection.payloads = await interrupt.wait_for(call.open)
        except _Aborted:
            await connection.close()
            for event in call.assembler.fail(_ABORTED, aborted=True):
                yield event
            return
        except OpenProgramError:
            raise
        except Exception as error:
            refusal = _classify(call, error)
            if refusal is None:
                raise
            refusal.add_note(f"raised by {type(error).__module__}.{type(error).__qualname__}")
        if refusal is not None:
            # Not chained: the SDK's own exception holds the service's words, which may repeat the key.
            raise refusal
        while not call.assembler.finished:
            for event in await _next_events(call, connection, interrupt):
                yield event
        await connection.drain()
    finally:
        interrupt.close()
        await connection.close()


async def _next_events(
    call: WireCall, connection: _Connection, interrupt: _Interrupt
) -> list[AssistantMessageEvent]:
    assembler = call.assembler
    # What a reader made before it failed has happened to the assembler, so it is handed on.
    events: list[AssistantMessageEvent] = []
    try:
        payload = await interrupt.wait_for(lambda: anext(connection.payloads, _END))
        for event in call.finish() if payload is _END else call.feed(payload):
            events.append(event)
            if event.type in ("done", "error"):
                break
        if payload is _END and not assembler.finished:
            events += assembler.fail(_CUT_OFF)
    except _Aborted:
        events += assembler.fail(_ABORTED, aborted=True)
    except Exception as error:
        # Whatever it is, the stream has begun, so it must end with an event.
        events += assembler.fail(_classify(call, error) or _unexpected(call, error))
    if events and events[-1].type == "error":
        # Whoever sees the failure need not read on for the connection to be closed.
        await connection.close()
    return events


_END: Any = object()
_ABORTED = ProviderError("network", "the call was aborted by its signal", retryable=False)
_CUT_OFF = ProviderError(
    "protocol",
    "the stream ended without saying that the message is complete; send the request again",
    retryable=True,
)


def _unexpected(call: WireCall, error: Exception) -> ProviderError:
    return provider_error(
        "protocol",
        f"the stream could not be read: {type(error).__name__}: {error}",
        secrets=call.secrets,
    )


def _classify(call: WireCall, error: Exception) -> ProviderError | None:
    if isinstance(error, ProviderError):
        return error
    return call.classify(error) or error_from_exception(error, secrets=call.secrets)


async def _nothing() -> AsyncIterator[Any]:
    none: tuple[Any, ...] = ()
    for payload in none:
        yield payload


class _Connection:
    """The answer's payloads, closed once however often that is asked for."""

    def __init__(self, call: WireCall) -> None:
        self.payloads: AsyncIterator[Any] = _nothing()
        self._call = call
        self._closed = False

    async def drain(self) -> None:
        """Read on behind the message's end, for a moment, so that the connection can serve the next call."""
        if self._closed:
            return
        # What comes there is no part of the message, so a failure is none of the message's.
        with contextlib.suppress(Exception):
            async with asyncio.timeout(_DRAIN_S):
                async for _ in self.payloads:
                    pass

    async def close(self) -> None:
        if self._closed:
            return
        self._closed = True
        # The message is what it is by now; a connection that fails to close must not take its place.
        try:
            with contextlib.suppress(Exception):
                if isinstance(self.payloads, AsyncGenerator):
                    await self.payloads.aclose()
        finally:
            with contextlib.suppress(Exception):
                await self._call.close()


class _Aborted(Exception):  # noqa: N818 - no error, a way out
    """The signal was set while the call waited."""


class _Interrupt:
    """Ends a wait when an `AbortSignal` is set, from whatever thread."""

    def __init__(self, signal: AbortSignal | None) -> None:
        self._signal = signal
        self._loop = asyncio.get_running_loop()
        self._waiting: asyncio.Timeout | None = None
        self._remove = signal.add_callback(self._set) if signal is not None else None

    def _set(self) -> None:
        with contextlib.suppress(RuntimeError):  # the loop has closed: nobody waits any more
            self._loop.call_soon_threadsafe(self._stop_waiting)

    def _stop_waiting(self) -> None:
        if self._waiting is not None:
            self._waiting.reschedule(self._loop.time())

    async def wait_for(self, step: Callable[[], Awaitable[T]]) -> T:
        """Return what ``step`` gives; raises `_Aborted` when the signal is or becomes set.

        A step is begun only when it is awaited: one that was made and left would keep its generator busy.
        """
        if self._signal is None:
            return await step()
        if self._signal.aborted:
            raise _Aborted
        try:
            async with asyncio.timeout(None) as self._waiting:
                return await step()
        except TimeoutError:
            if self._waiting is not None and self._waiting.expired():
                raise _Aborted from None
            raise
        finally:
            self._waiting = None

    def close(self) -> None:
        if self._remove is not None:
            self._remove()
