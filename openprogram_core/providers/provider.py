"""The provider boundary: what stands in the registry for one wire API."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator

from openprogram_core.providers.events import AssistantMessageEvent
from openprogram_core.providers.messages import Context, Model
from openprogram_core.providers.options import SimpleStreamOptions, StreamOptions


class ApiProvider(ABC):
    """Serves every model of one wire API.

    ``requires_credentials``: whether `openprogram_core.providers.stream` resolves a key into the options
    before it calls the provider; that is also how a recorder knows the key it must remove.

    ``wrappable``: whether the runtime may wrap it. A provider that itself records or replays says False.

    ``offline``: whether it can never reach a service. A replayer says True; what records a live provider is
    replaced where the runtime replays, or is blocked.
    """

    requires_credentials: bool = True
    wrappable: bool = True
    offline: bool = False

    @abstractmethod
    def stream(
        self, model: Model, context: Context, options: StreamOptions | None = None
    ) -> AsyncGenerator[AssistantMessageEvent, None]:
        """Return the events of one call; the call begins when the first event is asked for.

        Raises `ProviderError` from the first step when the request was refused. After the first event a
        failure is an ``error`` event. Closing the generator closes the connection.
        """

    def stream_simple(
        self, model: Model, context: Context, options: SimpleStreamOptions | None = None
    ) -> AsyncGenerator[AssistantMessageEvent, None]:
        """Like `stream`, with the options that mean the same for every vendor."""
        return self.stream(model, context, options)

    def api_key_variables(self, model: Model) -> tuple[str, ...]:
        """Environment variables that may hold the key for ``model``, first match wins."""
        return (model.provider.upper().replace("-", "_").replace(".", "_") + "_API_KEY",)
