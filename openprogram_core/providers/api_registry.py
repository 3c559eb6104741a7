"""The registry: one provider for each wire API, and what is wrapped around it.

Three layers answer for an API, the first that has it wins: what somebody registered explicitly, what a
plugin brought, and for APIs nobody registered what a wrapper serves. Around it go the wrappers of the
configuration, by stage; a scoped override takes the place of their ``record_replay`` stage.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from openprogram_core.errors import OpenProgramError, UnknownApiError
from openprogram_core.providers.provider import ApiProvider
from openprogram_core.providers.wrapping import ProviderWrapper


class ApiRegistry:
    """Providers by wire API. Thread-safe; a change is seen by the next look-up, never by a running call."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._explicit: dict[str, ApiProvider] = {}
        self._plugins: dict[str, ApiProvider] = {}
        self._disputes: dict[str, OpenProgramError] = {}
        self._wrappers: tuple[ProviderWrapper, ...] = ()
        self._overrides: list[ProviderWrapper] = []
        self._resolved: dict[str, tuple[ApiProvider | None, ApiProvider]] = {}

    def register(self, api: str, provider: ApiProvider) -> None:
        """Register ``provider`` explicitly; it replaces an earlier one and beats a plugin's."""
        if not isinstance(provider, ApiProvider):
            raise TypeError(f"{api}: {type(provider).__name__} is no ApiProvider; derive from ApiProvider")
        with self._lock:
            self._explicit[api] = provider
            self._resolved.pop(api, None)

    def unregister(self, api: str) -> ApiProvider | None:
        """Take back an explicit registration; returns it, or None when there was none."""
        with self._lock:
            self._resolved.pop(api, None)
            return self._explicit.pop(api, None)

    def publish(
        self,
        providers: Mapping[str, ApiProvider],
        wrappers: Sequence[ProviderWrapper],
        disputes: Mapping[str, OpenProgramError],
    ) -> None:
        """Set the plugins' providers and the configuration's wrappers, all at once."""
        with self._lock:
            self._plugins = dict(providers)
            self._wrappers = tuple(wrappers)
            self._disputes = dict(disputes)
            self._resolved.clear()

    @contextmanager
    def override(self, wrapper: ProviderWrapper) -> Iterator[None]:
        """Put ``wrapper`` in the place of record and replay until the block ends; last in, first out."""
        with self._lock:
            self._overrides.append(wrapper)
            self._resolved.clear()
        try:
            yield
        finally:
            with self._lock:
                # By identity and from the end: blocks of different threads may end in any order.
                for index in range(len(self._overrides) - 1, -1, -1):
                    if self._overrides[index] is wrapper:
                        del self._overrides[index]
                        break
                self._resolved.clear()

    def known(self) -> tuple[str, ...]:
        """The APIs that resolve now, sorted."""
        with self._lock:
            served = {api for wrapper in self._active_wrappers() for api in wrapper.serves}
            return tuple(sorted({*self._explicit, *self._plugins, *served}))

    def resolve(self, api: str) -> ApiProvider:
        """Return the provider for ``api`` with everything wrapped around it; the same object each time.

        Raises `UnknownApiError`, or the conflict when two plugins claim the API.
        """
        with self._lock:
            base = self._explicit.get(api) or self._plugins.get(api)
            cached = self._resolved.get(api)
            if cached is not None and cached[0] is base:
                return cached[1]
            wrappers = self._active_wrappers()
            if base is None and not any(wrapper.resolves(api) for wrapper in wrappers):
                if api in self._disputes:
                    raise self._disputes[api]
                raise UnknownApiError(api, self.known())
            provider = base
            for wrapper in wrappers:
                if provider is None and not wrapper.resolves(api):
                    continue
                if wrapper.stage == "record_replay" and not self._may_wrap(wrapper, api, base):
                    continue
                provider = wrapper.wrap(api, provider)
            if provider is None:
                raise UnknownApiError(api, self.known())
            self._resolved[api] = (base, provider)
            return provider

    def _may_wrap(self, wrapper: ProviderWrapper, api: str, base: ApiProvider | None) -> bool:
        # Who records or replays already is left alone. But what answers by itself, because it replays or
        # blocks, must not let an explicit recorder through to the network.
        if base is None or base.wrappable:
            return True
        return wrapper.resolves(api) and (bool(self._overrides) or not base.offline)

    def _active_wrappers(self) -> tuple[ProviderWrapper, ...]:
        if not self._overrides:
            return self._wrappers
        inner = [wrapper for wrapper in self._wrappers if wrapper.stage == "transport"]
        outer = [wrapper for wrapper in self._wrappers if wrapper.stage == "observer"]
        return (*inner, self._overrides[-1], *outer)


registry = ApiRegistry()
"""The registry of this process."""


def register_api_provider(api: str, provider: ApiProvider) -> None:
    """Register the provider for a wire API, for this process.

    It beats a plugin's provider for the same API and replaces an earlier explicit one. Raises TypeError for
    what is no `ApiProvider`.
    """
    registry.register(api, provider)


def unregister_api_provider(api: str) -> ApiProvider | None:
    """Take back `register_api_provider`; returns what was registered, or None."""
    return registry.unregister(api)


def get_api_provider(api: str) -> ApiProvider:
    """Return the provider for a wire API as it is to be called: recording, replaying, or the real one.

    Starts the provider runtime when that has not happened. Raises `UnknownApiError`, and
    `ProviderRuntimeInitializationError` when the runtime could not start.
    """
    from openprogram_core._runtime import initialize_provider_runtime

    initialize_provider_runtime()
    return registry.resolve(api)


@contextmanager
def override_providers(wrapper: ProviderWrapper) -> Iterator[None]:
    """Wrap every provider of this process while the block runs, whatever the configuration says.

    Blocks nest; the innermost counts. What a scoped recorder or replayer is built from.
    """
    with registry.override(wrapper):
        yield
