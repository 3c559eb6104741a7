"""The one typed facade over pluggy: loading, order, and a report of what was loaded.

A `PluginSet` is frozen when it is made and independent of the runtime: commands and bare library calls use
one without activating anything.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, Literal, NamedTuple, TypeVar

from openprogram_core._entrypoints import (
    OWN_DISTRIBUTION,
    FoundEntryPoint,
    disputed_claim,
    find_entry_points,
    unmet_requirement,
)
from openprogram_core._plugin_hooks import Hook, hook_implementations
from openprogram_core.errors import OpenProgramError, PluginConflictError, PluginError

if TYPE_CHECKING:
    from openprogram_core.comparison.verdicts import FieldSkip
    from openprogram_core.providers.provider import ApiProvider
    from openprogram_core.providers.wrapping import ProviderWrapper, RuntimeSettings
    from openprogram_core.redaction.rules import SecretRule

T = TypeVar("T")


class Contribution(NamedTuple, Generic[T]):
    """Something a plugin brought, with the plugin's name."""

    plugin: str
    item: T


@dataclass(frozen=True)
class PluginInfo:
    """One line of the report: where a plugin came from, what became of it, which hooks it has.

    ``error`` says why it failed, ``warnings`` what is odd about one that loaded, each with the next step.
    """

    name: str
    distribution: str
    version: str
    state: Literal["loaded", "disabled", "failed"]
    hooks: tuple[str, ...] = ()
    error: str | None = None
    warnings: tuple[str, ...] = ()

    @property
    def built_in(self) -> bool:
        """Whether it belongs to this distribution."""
        return self.distribution == OWN_DISTRIBUTION


@dataclass
class _Loaded:
    report: list[PluginInfo] = field(default_factory=list)
    hooks: dict[str, list[Hook]] = field(default_factory=dict)

    def add(self, name: str, plugin: object) -> tuple[str, ...]:
        """Check a plugin and keep its hooks; returns their names, raises PluginError."""
        found = hook_implementations(name, plugin)
        for hook_name, hook in found:
            self.hooks.setdefault(hook_name, []).append(hook)
        return tuple(hook_name for hook_name, _ in found)


def _object_name(plugin: object) -> str:
    name = getattr(plugin, "__name__", None)
    return name if isinstance(name, str) else type(plugin).__name__


class PluginSet:
    """The loaded plugins, frozen. Made by `load`; `with_plugins` gives a larger one."""

    def __init__(self, report: Iterable[PluginInfo], hooks: Mapping[str, Iterable[Hook]]) -> None:
        self.report: tuple[PluginInfo, ...] = tuple(report)
        self._hooks: dict[str, tuple[Hook, ...]] = {
            name: tuple(sorted(found, key=lambda hook: hook.plugin)) for name, found in hooks.items()
        }
        self._lock = threading.RLock()
        self._memo: dict[str, Any] = {}

    @classmethod
    def load(cls, *, disabled: Iterable[str] = (), only_built_in: bool = False) -> PluginSet:
        """Load every entry point that is not disabled, each on its own; failures are in the report.

        A name that two distributions claim goes to neither, unless one of them is this one; nor does code
        that two names load. A plugin that requires another version of this distribution is not imported.
        ``only_built_in`` leaves out what does not belong to this distribution.
        """
        with _loading():
            return cls._load(frozenset(disabled), only_built_in)

    @classmethod
    def _load(cls, refused: frozenset[str], only_built_in: bool) -> PluginSet:
        loaded = _Loaded()
        found = [
            point
            for point in find_entry_points()
            if point.distribution == OWN_DISTRIBUTION or not only_built_in
        ]
        wanted = [point for point in found if point.name not in refused]
        for point in found:
            if point.name in refused:
                loaded.report.append(_info(point, "disabled"))
                continue
            reason = disputed_claim(point, wanted) or unmet_requirement(point)
            if reason is None:
                loaded.report.append(_load_one(point, loaded))
            else:
                loaded.report.append(_info(point, "failed", error=reason))
        return cls(loaded.report, loaded.hooks)

    def with_plugins(self, plugins: Sequence[object]) -> PluginSet:
        """Return a set with these modules or objects added. Raises PluginError for one that is not sound."""
        if isinstance(plugins, str) or not isinstance(plugins, Iterable):
            raise PluginError(
                _object_name(plugins), None, "plugins is a list of modules and objects: plugins=[...]"
            )
        larger = self
        for plugin in plugins:
            larger = larger.with_plugin(_object_name(plugin), plugin)
            if not larger.report[-1].hooks:
                # Whoever hands it over counts on it; without a word its secrets would stay.
                raise PluginError(
                    _object_name(plugin),
                    None,
                    f"it has no hooks (it is {_kind(plugin)}); pass a module or an instance with functions "
                    "marked by @openprogram_core.hookimpl",
                )
        return larger

    def with_plugin(self, name: str, plugin: object) -> PluginSet:
        """Return a set with a module or object added as ``name``. Raises PluginError when it is not sound."""
        if isinstance(plugin, type):
            kind = plugin.__name__
            raise PluginError(name, None, f"is the class {kind}; pass an instance: {kind}()")
        if any(info.name == name and info.state == "loaded" for info in self.report):
            raise PluginError(name, None, "a plugin of this name is loaded already; give yours another name")
        loaded = _Loaded(list(self.report), {hook: list(found) for hook, found in self._hooks.items()})
        loaded.report.append(PluginInfo(name, "", "", "loaded", loaded.add(name, plugin)))
        return PluginSet(loaded.report, loaded.hooks)

    def only(self, name: str) -> PluginSet:
        """Return a set with the plugin ``name`` and no other."""
        report = [info for info in self.report if info.name == name]
        hooks = {hook: [one for one in found if one.plugin == name] for hook, found in self._hooks.items()}
        return PluginSet(report, hooks)

    def names(self) -> tuple[str, ...]:
        """Names of the loaded plugins, sorted."""
        return tuple(sorted(info.name for info in self.report if info.state == "loaded"))

    def failed(self) -> tuple[PluginInfo, ...]:
        """The plugins that could not be loaded."""
        return tuple(info for info in self.report if info.state == "failed")

    def require_complete(self) -> None:
        """Raise PluginError when a plugin failed to load: its secret rules might be the missing ones."""
        for info in self.failed():
            raise PluginError(
                info.name,
                None,
                f"it failed to load ({info.error}), and its secret rules or field skips might be the missing "
                "ones. Mend or uninstall it, or disable it: [plugins] disabled in config.toml",
            )

    def hooks(self, name: str) -> tuple[Hook, ...]:
        """The implementations of one hook by plugin name. Each is called with keyword arguments."""
        return self._hooks.get(name, ())

    def secret_rules(self) -> tuple[Contribution[SecretRule], ...]:
        """All secret rules by plugin name. Raises PluginError; PluginConflictError for a name used twice."""
        from openprogram_core.redaction.rules import FieldRule, ValueRule

        rules: tuple[Contribution[SecretRule], ...] = self._gather("secret_rules", (FieldRule, ValueRule))
        owners: dict[str, str] = {}
        for plugin, rule in rules:
            if owners.get(rule.name) == plugin:
                raise PluginError(
                    plugin, "secret_rules", f"gives two rules the name {rule.name!r}; rename one of them"
                )
            if rule.name in owners:
                raise PluginConflictError(rule.name, (owners[rule.name], plugin), "secret_rules")
            owners[rule.name] = plugin
        return rules

    def field_skips(self) -> tuple[Contribution[FieldSkip], ...]:
        """All declared field skips by plugin name. Raises PluginError."""
        from openprogram_core.comparison.verdicts import FieldSkip

        return self._gather("field_skips", (FieldSkip,))

    def api_providers(self) -> tuple[dict[str, Contribution[ApiProvider]], tuple[PluginError, ...]]:
        """The wire APIs, and what was wrong: a plugin that raised, an API claimed twice (then nobody's)."""
        from openprogram_core.providers.provider import ApiProvider

        apis: dict[str, Contribution[ApiProvider]] = {}
        disputed: dict[str, str] = {}
        errors: list[PluginError] = []
        for hook in self.hooks("api_providers"):
            try:
                given = _call(hook, "api_providers")
                if not isinstance(given, Mapping):
                    raise PluginError(
                        hook.plugin,
                        "api_providers",
                        f"returned {_kind(given)}, not a mapping of API to ApiProvider",
                    )
                for api, provider in given.items():
                    if not isinstance(api, str) or not isinstance(provider, ApiProvider):
                        raise PluginError(
                            hook.plugin,
                            "api_providers",
                            f"{api!r}: {_kind(provider)} is no ApiProvider; derive from it",
                        )
            except PluginError as error:
                errors.append(error)
                continue
            for api, provider in given.items():
                if api in apis or api in disputed:
                    if api in apis:
                        disputed[api] = apis.pop(api).plugin
                    errors.append(PluginConflictError(api, (disputed[api], hook.plugin), "api_providers"))
                else:
                    apis[api] = Contribution(hook.plugin, provider)
        return apis, tuple(errors)

    def provider_wrappers(
        self, settings: RuntimeSettings
    ) -> tuple[tuple[Contribution[ProviderWrapper], ...], tuple[PluginError, ...]]:
        """Call ``wrap_provider``. Returns the wrappers, inner ones first, and what was wrong with the others.

        A name that two plugins claim goes to neither.
        """
        from openprogram_core.providers.wrapping import STAGES, ProviderWrapper

        by_name: dict[str, list[Contribution[ProviderWrapper]]] = {}
        errors: list[PluginError] = []
        for hook in self.hooks("wrap_provider"):
            try:
                wrapper = _call(hook, "wrap_provider", settings=settings)
                if wrapper is None:
                    continue
                if not isinstance(wrapper, ProviderWrapper) or wrapper.stage not in STAGES:
                    raise PluginError(
                        hook.plugin,
                        "wrap_provider",
                        f"returned {_kind(wrapper)}, not a ProviderWrapper with a stage of "
                        f"{', '.join(STAGES)}",
                    )
            except PluginError as error:
                errors.append(error)
                continue
            checked = replace(wrapper, wrap=_checked_wrap(hook.plugin, wrapper))
            by_name.setdefault(wrapper.name, []).append(Contribution(hook.plugin, checked))
        sound: list[Contribution[ProviderWrapper]] = []
        for name, claims in by_name.items():
            if len(claims) == 1:
                sound.append(claims[0])
                continue
            for _, wrapper in claims:
                wrapper.close()
            errors.append(PluginConflictError(name, (claims[0].plugin, claims[1].plugin), "wrap_provider"))
        sound.sort(key=lambda one: (STAGES.index(one.item.stage), one.item.name))
        return tuple(sound), tuple(errors)

    def remember(self, key: str, make: Callable[[], T]) -> T:
        """Return what ``make`` gave for ``key`` the first time: compiled things belong to their set."""
        with self._lock:
            if key not in self._memo:
                self._memo[key] = make()
            made: T = self._memo[key]
            return made

    def _gather(self, hook_name: str, kinds: tuple[type[Any], ...]) -> tuple[Contribution[Any], ...]:
        gathered: list[Contribution[Any]] = []
        for hook in self.hooks(hook_name):
            given = _call(hook, hook_name)
            expected = " or ".join(kind.__name__ for kind in kinds)
            if isinstance(given, str | Mapping) or not isinstance(given, Iterable):
                raise PluginError(
                    hook.plugin, hook_name, f"returned {_kind(given)}, not an iterable of {expected}"
                )
            items: list[Any] = _guarded(hook.plugin, hook_name, partial(list, given))
            for item in items:
                if not isinstance(item, kinds):
                    raise PluginError(hook.plugin, hook_name, f"gave {_kind(item)}, not a {expected}")
                gathered.append(Contribution(hook.plugin, item))
        return tuple(gathered)


def _kind(value: object) -> str:
    return "None" if value is None else f"a {type(value).__name__}"


def _call(hook: Hook, hook_name: str, **arguments: Any) -> Any:
    return _guarded(hook.plugin, hook_name, lambda: hook(**arguments))


def _guarded(plugin: str, hook_name: str, act: Callable[[], T]) -> T:
    try:
        return act()
    except PluginError:
        raise
    # sys.exit() in a hook is the plugin's failure, not the end of the program.
    except (Exception, SystemExit) as error:
        raise PluginError(plugin, hook_name, f"raised {_describe(error)}") from error


def _describe(error: BaseException) -> str:
    kind = type(error).__name__
    # What redacts messages is made of plugins, too: when those fail, their own messages go untold.
    if _activity.describing:
        return kind
    from openprogram_core.redaction import safe_message

    _activity.describing = True
    try:
        text = safe_message(str(error))
    finally:
        _activity.describing = False
    return f"{kind}: {text}" if text else kind


def _checked_wrap(plugin: str, wrapper: ProviderWrapper) -> Callable[[str, ApiProvider | None], ApiProvider]:
    def wrap(api: str, provider: ApiProvider | None) -> ApiProvider:
        from openprogram_core.providers.provider import ApiProvider

        try:
            wrapped = wrapper.wrap(api, provider)
        except OpenProgramError:
            raise
        except Exception as error:
            raise PluginError(plugin, "wrap_provider", f"wrap() raised {_describe(error)}") from error
        if not isinstance(wrapped, ApiProvider):
            raise PluginError(
                plugin, "wrap_provider", f"wrap() returned {_kind(wrapped)} for {api!r}, not an ApiProvider"
            )
        return wrapped

    return wrap


def _info(
    point: FoundEntryPoint,
    state: Literal["loaded", "disabled", "failed"],
    hooks: tuple[str, ...] = (),
    error: str | None = None,
    warnings: tuple[str, ...] = (),
) -> PluginInfo:
    return PluginInfo(point.name, point.distribution, point.version, state, hooks, error, warnings)


@contextmanager
def _loading() -> Iterator[None]:
    before, _activity.loading = _activity.loading, True
    try:
        yield
    finally:
        _activity.loading = before


def _load_one(point: FoundEntryPoint, loaded: _Loaded) -> PluginInfo:
    try:
        hooks = loaded.add(point.name, point.load())
    except PluginError as error:
        where = f"hook {error.hook}: " if error.hook else ""
        return _info(point, "failed", error=where + error.reason)
    # A plugin may call sys.exit() or raise anything at import; that is its failure, not ours.
    except (Exception, SystemExit) as error:
        return _info(point, "failed", error=f"importing {point.target} raised {_describe(error)}")
    return _info(point, "loaded", hooks, warnings=_oddities(point, hooks))


def _oddities(point: FoundEntryPoint, hooks: tuple[str, ...]) -> tuple[str, ...]:
    odd = [
        f"{point.distribution} {other} is installed too; {point.version} comes first on the path and is the "
        f"one that runs. Uninstall {point.distribution} until none is left, then install it once"
        for other in point.shadowed
    ]
    if not hooks:
        odd.append("it has no hooks: mark its functions with @openprogram_core.hookimpl, or uninstall it")
    return tuple(odd)


class _Activity(threading.local):
    loading = False
    describing = False


_activity = _Activity()
_lock = threading.RLock()
if hasattr(os, "register_at_fork"):
    # A child of a fork in the middle of loading would wait for ever for a thread it does not have.
    os.register_at_fork(before=_lock.acquire, after_in_parent=_lock.release, after_in_child=_lock.release)
_default: PluginSet | None = None
_built_in: PluginSet | None = None


def default_plugin_set(disabled: Iterable[str] | None = None) -> PluginSet:
    """The installed plugins, loaded at the first call, without those disabled in the configuration.

    ``disabled`` is what the configuration says, for a caller that has read it already.
    """
    global _default
    with _lock:
        if _default is None:
            if disabled is None:
                from openprogram_core._config import read_configuration

                disabled = read_configuration().disabled_plugins
            _default = PluginSet.load(disabled=disabled)
        return _default


def message_plugin_set() -> PluginSet:
    """The plugins whose rules clean error messages and logs: all of them, or else the built-in rules.

    It has to serve while plugins load, and when one has failed or the configuration cannot be read.
    """
    if not _activity.loading:
        try:
            plugins = default_plugin_set()
        except OpenProgramError:
            pass
        else:
            if not plugins.failed():
                return plugins
    return built_in_rules()


def built_in_rules() -> PluginSet:
    """The plugin with the built-in secret rules and no other: any other part may be the broken one."""
    global _built_in
    with _lock:
        if _built_in is None:
            _built_in = PluginSet.load(only_built_in=True).only("openprogram_redaction")
        return _built_in
