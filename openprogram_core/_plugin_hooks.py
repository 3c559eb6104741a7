"""What one plugin implements: its hooks, checked against their contract before anything is called."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pluggy

from openprogram_core.errors import PluginError
from openprogram_core.hookspecs import HOOK_NAMES, PROJECT, HookSpecs


@dataclass(frozen=True)
class Hook:
    """One plugin's implementation of one hook. Call it with keyword arguments; it takes those it wants."""

    plugin: str
    function: Callable[..., Any]
    argnames: tuple[str, ...]

    def __call__(self, **arguments: Any) -> Any:
        return self.function(**{name: arguments[name] for name in self.argnames})


def hook_implementations(name: str, plugin: object) -> list[tuple[str, Hook]]:
    """Return a plugin's hooks by name. Raises PluginError, naming the hook, for what breaks their contract.

    A function that has a hook's name and lacks the marker is such a breach: its secret rules would be missing
    and nobody would know.
    """
    if isinstance(plugin, type):
        raise PluginError(
            name,
            None,
            f"is the class {plugin.__name__}, and a plugin is a module or an instance: let the entry point "
            "name an instance of it",
        )
    # A manager of its own, so that a fault is this plugin's and nobody else's.
    manager = pluggy.PluginManager(PROJECT)
    manager.add_hookspecs(HookSpecs)
    try:
        manager.register(plugin, name)
        manager.check_pending()
    except pluggy.PluginValidationError as error:
        raise PluginError(name, None, _explain(error)) from error
    found = []
    for hook_name in HOOK_NAMES:
        for implementation in getattr(manager.hook, hook_name).get_hookimpls():
            _refuse_what_pluggy_allows(name, hook_name, implementation)
            found.append((hook_name, Hook(name, implementation.function, tuple(implementation.argnames))))
    _refuse_unmarked(name, plugin, found)
    return found


def _explain(error: pluggy.PluginValidationError) -> str:
    # pluggy shows the plugin's object, most often an address, and lines of its own; who it is stands before.
    text = " ".join(str(error).replace(f" in plugin {error.plugin!r}", "").split())
    return f"{text}. The hooks are {', '.join(HOOK_NAMES)}; each may leave out arguments it does not need"


def _refuse_what_pluggy_allows(name: str, hook_name: str, implementation: pluggy.HookImpl) -> None:
    if (
        implementation.tryfirst
        or implementation.trylast
        or implementation.wrapper
        or implementation.hookwrapper
    ):
        raise PluginError(
            name,
            hook_name,
            "tryfirst, trylast and wrappers are refused: hooks are called by plugin name, "
            "so that nothing depends on the order of discovery. Remove the argument of @hookimpl",
        )
    if inspect.iscoroutinefunction(implementation.function):
        raise PluginError(name, hook_name, "is an async function; hooks are called synchronously, use def")


def _refuse_unmarked(name: str, plugin: object, found: list[tuple[str, Hook]]) -> None:
    marked = {hook.function for _, hook in found}
    for hook_name in HOOK_NAMES:
        member = inspect.getattr_static(plugin, hook_name, None)
        if not inspect.isroutine(member) and not isinstance(member, staticmethod | classmethod):
            continue
        if getattr(plugin, hook_name) not in marked:
            raise PluginError(
                name,
                hook_name,
                "has the name of a hook but is not marked, so it would never be called. "
                "Put @openprogram_core.hookimpl before it, or rename it",
            )
