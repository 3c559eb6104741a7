"""The provider runtime: NEW, then INITIALIZING, then READY or FAILED; once a process.

The first look-up of a provider starts it. It reads the configuration once, loads the plugins, registers
their wire APIs in one batch and activates recording or replay completely before it publishes anything.
"""

from __future__ import annotations

import atexit
import os
import threading
import time
from collections.abc import AsyncGenerator, Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Literal

# Also for the order of what happens before a fork: first this module waits for a start to end, then the
# loader's lock is taken, which the start may need.
from openprogram_core._plugins import PluginInfo, PluginSet, default_plugin_set
from openprogram_core.errors import (
    OpenProgramError,
    PluginConflictError,
    PluginError,
    ProviderRuntimeInitializationError,
    RecordReplayBlockedError,
)
from openprogram_core.providers.api_registry import registry
from openprogram_core.providers.provider import ApiProvider
from openprogram_core.providers.wrapping import ProviderWrapper, RuntimeSettings

if TYPE_CHECKING:
    from openprogram_core._config import Configuration
    from openprogram_core.providers.events import AssistantMessageEvent
    from openprogram_core.providers.messages import Context, Model
    from openprogram_core.providers.options import StreamOptions


@dataclass(frozen=True)
class ProviderRuntimeSnapshot:
    """What the runtime was started with.

    ``mode`` is the configured mode, or ``blocked`` when it could not be activated; then every provider call
    raises `RecordReplayBlockedError`. ``plugins`` is the loader's report.
    """

    mode: Literal["off", "record", "replay", "blocked"]
    plugins: tuple[PluginInfo, ...]


class _State(Enum):
    NEW = "new"
    INITIALIZING = "initializing"
    READY = "ready"
    FAILED = "failed"


@dataclass(frozen=True)
class _Failure:
    """What every caller is told; no exception object is kept, and so no traceback."""

    stage: str
    cause_type: str
    cause_message: str

    def error(self) -> ProviderRuntimeInitializationError:
        return ProviderRuntimeInitializationError(self.stage, self.cause_type, self.cause_message)


class _StageFailedError(Exception):
    """Carries a failure that is final for the process to the one place that stores it."""

    def __init__(self, stage: str, cause: BaseException) -> None:
        super().__init__(stage)
        self.failure = _Failure(stage, type(cause).__name__, _safe(str(cause)))


class BlockedProvider(ApiProvider):
    """Stands for every provider while record or replay is configured but could not be activated."""

    requires_credentials = False
    wrappable = False
    offline = True

    def __init__(self, mode: str, cause_type: str, cause_message: str) -> None:
        self._facts = (mode, cause_type, cause_message)

    def stream(
        self, model: Model, context: Context, options: StreamOptions | None = None
    ) -> AsyncGenerator[AssistantMessageEvent, None]:
        """Raise `RecordReplayBlockedError`, with the same words on every call."""
        raise RecordReplayBlockedError(*self._facts)


PATIENCE_S = 120.0
"""How long a caller waits for the thread that starts the runtime."""

_FORK_PATIENCE_S = 30.0


class ProviderRuntime:
    """The state machine. One instance a process, `runtime`; there is no way back to NEW."""

    def __init__(
        self, activate: Callable[[], ProviderRuntimeSnapshot], *, patience_s: float = PATIENCE_S
    ) -> None:
        self._activate = activate
        self._patience_s = patience_s
        self._condition = threading.Condition()
        self._state = _State.NEW
        self._owner: int | None = None
        self._snapshot: ProviderRuntimeSnapshot | None = None
        self._failure: _Failure | None = None

    @property
    def started(self) -> bool:
        """Whether anybody has asked for it, whatever came of that."""
        return self._state is not _State.NEW

    def initialize(self) -> ProviderRuntimeSnapshot:
        """See `initialize_provider_runtime`."""
        snapshot = self._snapshot
        if snapshot is not None:
            return snapshot
        deadline = time.monotonic() + self._patience_s
        with self._condition:
            while self._state is _State.INITIALIZING:
                if self._owner == threading.get_ident():
                    raise ProviderRuntimeInitializationError(
                        "recursive_initialization",
                        "RecursionError",
                        "a plugin asked for a provider while the runtime was starting; "
                        "look providers up inside the call, not in a hook",
                    )
                left = deadline - time.monotonic()
                if left <= 0:
                    raise ProviderRuntimeInitializationError(
                        "waiting_for_initialization",
                        "TimeoutError",
                        f"another thread has been starting the runtime for {self._patience_s:.0f} s. A "
                        "plugin's hook may wait for this very thread; look providers up inside the call, "
                        "not in a hook",
                    )
                self._condition.wait(left)
            if self._failure is not None:
                raise self._failure.error()
            if self._snapshot is not None:
                return self._snapshot
            self._state, self._owner = _State.INITIALIZING, threading.get_ident()
        try:
            snapshot = self._activate()
        except _StageFailedError as error:
            self._fail(error.failure)
            raise error.failure.error() from None
        except Exception as error:
            failure = _StageFailedError("activation", error).failure
            self._fail(failure)
            raise failure.error() from None
        except BaseException as error:
            # At once: whoever waits must be woken, and another interrupt may come while text is redacted.
            kind = type(error).__name__
            self._fail(_Failure("initialization_interrupted", kind, "the start was interrupted"))
            raise
        with self._condition:
            self._state, self._owner, self._snapshot = _State.READY, None, snapshot
            self._condition.notify_all()
        return snapshot

    def _fail(self, failure: _Failure) -> None:
        with self._condition:
            self._state, self._owner, self._failure = _State.FAILED, None, failure
            self._condition.notify_all()

    def before_fork(self) -> None:
        """Let another thread finish first: the child would inherit its locks, import locks among them."""
        deadline = time.monotonic() + _FORK_PATIENCE_S
        with self._condition:
            while self._state is _State.INITIALIZING and self._owner != threading.get_ident():
                if not self._condition.wait(max(0.0, deadline - time.monotonic())):
                    return

    def after_fork(self) -> None:
        """In a forked child nobody will finish what another thread of the parent had begun."""
        self._condition = threading.Condition()
        if self._state is _State.INITIALIZING and self._owner != threading.get_ident():
            self._state, self._owner = _State.NEW, None


def _safe(text: str) -> str:
    # Waiters depend on this coming back, so not even a broken installation may make it raise.
    try:
        from openprogram_core.redaction import safe_message

        return safe_message(text)
    except Exception:
        return "[message withheld: redaction is not available]"


def _log_problem(event: str, error: BaseException) -> None:
    from openprogram_core._logging import get_logger

    get_logger(__name__).warning(event, error_type=type(error).__name__, error=_safe(str(error)))


def _activate() -> ProviderRuntimeSnapshot:
    from openprogram_core._config import read_configuration

    try:
        configuration = read_configuration()
    except OpenProgramError as error:
        # What is disabled is unknown, so only what belongs to this distribution is loaded.
        return _block("unknown", error, _load_plugins(PluginSet.load(only_built_in=True)))
    plugins = _load_plugins(default_plugin_set(configuration.disabled_plugins))
    return _activate_mode(configuration, plugins)


def _load_plugins(plugins: PluginSet) -> PluginSet:
    for info in plugins.failed():
        if info.built_in:
            raise _StageFailedError("plugin_loading", PluginError(info.name, None, info.error or "failed"))
        _log_problem("plugin_failed_to_load", PluginError(info.name, None, info.error or "failed"))
    return plugins


def _register_apis(
    plugins: PluginSet,
) -> tuple[Mapping[str, ApiProvider], Mapping[str, OpenProgramError], tuple[PluginError, ...]]:
    built_in = {info.name for info in plugins.report if info.built_in}
    apis, errors = plugins.api_providers()
    disputes: dict[str, OpenProgramError] = {}
    for error in errors:
        if isinstance(error, PluginConflictError):
            disputes[error.claim] = error
        elif error.plugin in built_in:
            raise _StageFailedError("api_registration", error)
        _log_problem("api_not_registered", error)
    return {api: one.item for api, one in apis.items()}, disputes, errors


def _activate_mode(configuration: Configuration, plugins: PluginSet) -> ProviderRuntimeSnapshot:
    mode = configuration.mode
    providers, disputes, errors = _register_apis(plugins)
    try:
        _guard_recording(configuration)
    except OpenProgramError as unsafe:
        return _block(mode, unsafe, plugins, providers, disputes)
    settings = RuntimeSettings(mode, configuration.file, configuration.order, plugins)
    wrappers, wrapper_errors = plugins.provider_wrappers(settings)
    try:
        if mode == "off":
            for error in wrapper_errors:
                _log_problem("provider_wrapper_skipped", error)
        else:
            plugins.require_complete()
            for error in (*wrapper_errors, *errors):
                raise error
            if not any(wrapper.item.stage == "record_replay" for wrapper in wrappers):
                raise PluginError(f"openprogram_{mode}", None, _why_not(f"openprogram_{mode}", configuration))
    except OpenProgramError as error:
        for wrapper in wrappers:
            wrapper.item.close()
        return _block(mode, error, plugins, providers, disputes)
    registry.publish(providers, tuple(wrapper.item for wrapper in wrappers), disputes)
    for wrapper in wrappers:
        atexit.register(wrapper.item.close)
    return ProviderRuntimeSnapshot(mode, plugins.report)


def _why_not(plugin: str, configuration: Configuration) -> str:
    if plugin in configuration.disabled_plugins:
        return f"it is disabled. Take it out of [plugins] disabled in {configuration.path}"
    return (
        "it is not there, and nothing else does its work. 'openprogram plugins list' shows what is installed"
    )


def _guard_recording(configuration: Configuration) -> None:
    if configuration.file is not None:
        from openprogram_core._logging import get_logger
        from openprogram_core.recordings.store_examine import guard_configured

        for repair in guard_configured(configuration.file):
            get_logger(__name__).warning("recording_mode_too_wide", repair=repair)


def _innermost(error: OpenProgramError, plugins: PluginSet) -> OpenProgramError:
    """What a built-in plugin raised: it names its file or rule itself; the hook is nothing to a user."""
    built_in = {info.name for info in plugins.report if info.built_in}
    inner = error.__cause__
    if isinstance(error, PluginError) and error.plugin in built_in and isinstance(inner, OpenProgramError):
        return inner
    return error


def _block(
    mode: str,
    cause: OpenProgramError,
    plugins: PluginSet,
    providers: Mapping[str, ApiProvider] | None = None,
    disputes: Mapping[str, OpenProgramError] | None = None,
) -> ProviderRuntimeSnapshot:
    cause = _innermost(cause, plugins)
    _log_problem("record_replay_not_activated", cause)
    if providers is None or disputes is None:
        providers, disputes, _ = _register_apis(plugins)
    blocked = BlockedProvider(mode, type(cause).__name__, _safe(str(cause)))

    def wrap(api: str, provider: ApiProvider | None) -> ApiProvider:
        return blocked

    registry.publish(
        providers, (ProviderWrapper("blocked", "record_replay", wrap, serves_all=True),), disputes
    )
    return ProviderRuntimeSnapshot("blocked", plugins.report)


runtime = ProviderRuntime(_activate)
"""The runtime of this process."""

if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=runtime.before_fork, after_in_child=runtime.after_fork)


def initialize_provider_runtime() -> ProviderRuntimeSnapshot:
    """Start the provider runtime, once a process, and return what it was started with.

    Concurrent first callers wait and get the same result. The configuration is read now and never again.
    Record or replay that cannot be activated does not raise: the snapshot says ``blocked``, and every
    provider call raises `RecordReplayBlockedError`.

    Raises `ProviderRuntimeInitializationError` when a built-in plugin cannot be loaded or registered, the
    same for every caller until the process ends; from a recursive call; and after two minutes of waiting for
    another thread that does not come to an end.
    """
    return runtime.initialize()
