from __future__ import annotations

import threading
from collections.abc import AsyncGenerator

import pytest

from openprogram_core.errors import UnknownApiError
from openprogram_core.providers import (
    ApiProvider,
    AssistantMessageEvent,
    Context,
    Model,
    ProviderWrapper,
    StreamOptions,
)
from openprogram_core.providers.api_registry import ApiRegistry
from openprogram_core.testing import ScriptedProvider


class Wrapped(ApiProvider):
    def __init__(self, name: str, inner: ApiProvider | None) -> None:
        self.name = name
        self.inner = inner

    def stream(
        self, model: Model, context: Context, options: StreamOptions | None = None
    ) -> AsyncGenerator[AssistantMessageEvent, None]:
        raise AssertionError("never called here")


def wrapper(name: str, stage: str, serves: frozenset[str] = frozenset()) -> ProviderWrapper:
    return ProviderWrapper(name, stage, lambda api, provider: Wrapped(name, provider), serves)  # type: ignore[arg-type]  # a stage given as a plain string


def layers(provider: ApiProvider | None) -> list[str]:
    names = []
    while isinstance(provider, Wrapped):
        names.append(provider.name)
        provider = provider.inner
    return names


def test_an_unknown_api_names_what_is_registered() -> None:
    registry = ApiRegistry()
    registry.register("mine", ScriptedProvider([]))
    with pytest.raises(UnknownApiError, match=r"'yours' \(registered: mine\)"):
        registry.resolve("yours")


def test_an_explicit_provider_beats_a_plugins_and_can_be_taken_back() -> None:
    registry = ApiRegistry()
    explicit, plugin = ScriptedProvider([]), ScriptedProvider([])
    registry.publish({"api": plugin}, (), {})
    registry.register("api", explicit)
    assert registry.resolve("api") is explicit
    assert registry.unregister("api") is explicit
    assert registry.resolve("api") is plugin
    assert registry.unregister("api") is None


def test_wrappers_apply_to_providers_registered_before_and_after() -> None:
    registry = ApiRegistry()
    registry.register("before", ScriptedProvider([]))
    registry.publish({}, (wrapper("w", "observer"),), {})
    registry.register("after", ScriptedProvider([]))
    assert layers(registry.resolve("before")) == layers(registry.resolve("after")) == ["w"]
    assert registry.resolve("after") is registry.resolve("after")


def test_a_recorder_is_never_wrapped_by_another_recorder() -> None:
    class Recorder(ScriptedProvider):
        wrappable = False

    registry = ApiRegistry()
    registry.publish({}, (wrapper("t", "transport"), wrapper("r", "record_replay")), {})
    recorder = Recorder([])
    registry.register("api", recorder)
    assert layers(registry.resolve("api")) == ["t"]
    with registry.override(wrapper("another recorder", "record_replay")):
        assert layers(registry.resolve("api")) == ["t"]
    with registry.override(wrapper("replayer", "record_replay", frozenset({"api"}))):
        assert layers(registry.resolve("api")) == ["replayer", "t"]


def test_where_the_runtime_replays_or_blocks_an_explicit_recorder_does_not_get_through() -> None:
    class Recorder(ScriptedProvider):
        wrappable = False

    class Replayer(Recorder):
        offline = True

    registry = ApiRegistry()
    registry.publish({}, (wrapper("replay", "record_replay", frozenset({"live", "offline"})),), {})
    registry.register("live", Recorder([]))
    registry.register("offline", Replayer([]))
    assert layers(registry.resolve("live")) == ["replay"]
    assert layers(registry.resolve("offline")) == []


def test_a_scoped_override_takes_the_place_of_the_configured_recorder_and_nests() -> None:
    registry = ApiRegistry()
    registry.publish(
        {"api": ScriptedProvider([])},
        (wrapper("t", "transport"), wrapper("r", "record_replay"), wrapper("o", "observer")),
        {},
    )
    assert layers(registry.resolve("api")) == ["o", "r", "t"]
    with registry.override(wrapper("outer", "record_replay")):
        assert layers(registry.resolve("api")) == ["o", "outer", "t"]
        with registry.override(wrapper("inner", "record_replay", frozenset({"ghost"}))):
            assert layers(registry.resolve("api")) == ["o", "inner", "t"]
            assert layers(registry.resolve("ghost")) == ["o", "inner"]
            assert registry.known() == ("api", "ghost")
        with pytest.raises(UnknownApiError):
            registry.resolve("ghost")
        assert layers(registry.resolve("api")) == ["o", "outer", "t"]
    assert layers(registry.resolve("api")) == ["o", "r", "t"]


def test_an_override_is_undone_when_the_block_raises() -> None:
    registry = ApiRegistry()
    registry.register("api", ScriptedProvider([]))
    with pytest.raises(ZeroDivisionError), registry.override(wrapper("w", "record_replay")):
        raise ZeroDivisionError
    assert layers(registry.resolve("api")) == []


def test_blocks_of_different_threads_may_end_in_any_order() -> None:
    registry = ApiRegistry()
    registry.register("api", ScriptedProvider([]))
    first_open, second_open, first_closed = threading.Event(), threading.Event(), threading.Event()
    seen: list[list[str]] = []

    def first() -> None:
        with registry.override(wrapper("first", "record_replay")):
            first_open.set()
            second_open.wait(10)
        first_closed.set()

    def second() -> None:
        first_open.wait(10)
        with registry.override(wrapper("second", "record_replay")):
            second_open.set()
            first_closed.wait(10)
            seen.append(layers(registry.resolve("api")))

    threads = [threading.Thread(target=first), threading.Thread(target=second)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == [["second"]]
    assert layers(registry.resolve("api")) == []


def test_what_is_no_provider_is_refused() -> None:
    with pytest.raises(TypeError, match="derive from ApiProvider"):
        ApiRegistry().register("api", object())  # type: ignore[arg-type]  # that is what the test is about
