"""The provider that records the one it stands before, and changes nothing else."""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator, Callable, Sequence
from typing import TYPE_CHECKING, Any

from openprogram_core.errors import OpenProgramError
from openprogram_core.providers import (
    ApiProvider,
    AssistantMessageEvent,
    Context,
    Model,
    SimpleStreamOptions,
    StreamOptions,
)
from openprogram_record._calls import CallRecorder
from openprogram_record._sink import RecordingSink

if TYPE_CHECKING:
    from openprogram_core import PluginSet


class RecordingProvider(ApiProvider):
    """Yields exactly the events of ``provider``, the very objects, each on file before it is yielded.

    ``path_or_sink`` is a path, or a `RecordingSink` that stays the caller's to close. ``plugins`` and
    ``append`` belong to a path; see `RecordingSink`, whose errors this raises too.
    """

    wrappable = False

    def __init__(
        self,
        provider: ApiProvider,
        path_or_sink: str | os.PathLike[str] | RecordingSink,
        *,
        plugins: PluginSet | Sequence[object] = (),
        append: bool = False,
    ) -> None:
        self._provider = provider
        self._owns_sink = not isinstance(path_or_sink, RecordingSink)
        self.sink = (
            path_or_sink
            if isinstance(path_or_sink, RecordingSink)
            else RecordingSink(path_or_sink, plugins=plugins, append=append)
        )
        self.requires_credentials = provider.requires_credentials

    def close(self) -> None:
        """Close the sink when it was made from a path. Raises `RecordingWriteError`."""
        if self._owns_sink:
            self.sink.close()

    def api_key_variables(self, model: Model) -> tuple[str, ...]:
        """Those of the recorded provider."""
        return self._provider.api_key_variables(model)

    def stream(
        self, model: Model, context: Context, options: StreamOptions | None = None
    ) -> AsyncGenerator[AssistantMessageEvent, None]:
        """Stream from the recorded provider. Raises what it raises, and `RecordingWriteError`."""
        return self._record(self._provider.stream, model, context, options, StreamOptions)

    def stream_simple(
        self, model: Model, context: Context, options: SimpleStreamOptions | None = None
    ) -> AsyncGenerator[AssistantMessageEvent, None]:
        """Like `stream`, through the recorded provider's ``stream_simple``."""
        return self._record(self._provider.stream_simple, model, context, options, SimpleStreamOptions)

    def _known_values(self, model: Model) -> list[str]:
        # A provider may look into the environment itself, past the options.
        values = (os.environ.get(name) for name in self._provider.api_key_variables(model))
        return [value for value in values if value]

    async def _record(
        self,
        start: Callable[..., Any],
        model: Model,
        context: Context,
        options: StreamOptions | None,
        defaults: type[StreamOptions],
    ) -> AsyncGenerator[AssistantMessageEvent, None]:
        __tracebackhide__ = True
        # No options and default options are one request; the provider gets what the caller gave.
        asked = defaults() if options is None else options
        call = self.sink.begin_call(model, context, asked, self._known_values(model))
        source: Any = None
        thrown: BaseException | None = None
        try:
            source = start(model, context, options)
            advance = source.__anext__
            step = advance()
            while True:
                try:
                    event = await step
                except StopAsyncIteration:
                    break
                call.event(event)
                try:
                    yield event
                except GeneratorExit:
                    raise
                except BaseException as error:
                    # What the consumer throws in goes to the provider, as if nobody stood between.
                    thrown = error
                    if not hasattr(source, "athrow"):
                        raise
                    step = source.athrow(error)
                else:
                    step = advance()
        except BaseException as error:
            await _end(call, source, error, thrown)
            raise
        await _end(call, source, None, None)


async def _end(
    call: CallRecorder, source: Any, error: BaseException | None, thrown: BaseException | None
) -> None:
    """Close the source and write the end of the call.

    Raises what closing raised where no exception is on its way that closing must not hide.
    """
    closing: BaseException | None = None
    try:
        if hasattr(source, "aclose"):
            await source.aclose()
    except BaseException as raised:  # kept, and raised below in its turn
        if error is None or isinstance(error, GeneratorExit):
            closing = raised
    decisive = closing or error
    try:
        if decisive is None:
            call.end("complete")
        elif isinstance(decisive, GeneratorExit) or decisive is thrown:
            call.end("abandoned")
        elif isinstance(decisive, Exception):
            call.end("error", decisive)
        else:
            call.end("cancelled")
    except OpenProgramError:
        # The sink tries again at its close, and says so there. Here the consumer's own ending comes first.
        if decisive is None:
            raise
    if closing is not None:
        raise closing
