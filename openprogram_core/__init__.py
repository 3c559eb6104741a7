"""Record and replay LLM provider calls at the provider boundary.

``hookimpl`` marks a plugin's functions, `initialize_provider_runtime` starts the runtime once a process,
`PluginSet` and `default_plugin_set` are the loaded plugins, `OpenProgramError` is the root of every error.

PYTEST_DONT_REWRITE: no assertions in here, and pytest need not warn that it comes too late for them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from openprogram_core.errors import OpenProgramError

if TYPE_CHECKING:
    from openprogram_core._plugins import PluginInfo, PluginSet, default_plugin_set
    from openprogram_core._runtime import ProviderRuntimeSnapshot, initialize_provider_runtime
    from openprogram_core.hookspecs import hookimpl

__version__ = "0.1.0"

__all__ = [
    "OpenProgramError",
    "PluginInfo",
    "PluginSet",
    "ProviderRuntimeSnapshot",
    "__version__",
    "default_plugin_set",
    "hookimpl",
    "initialize_provider_runtime",
]

_HOMES = {
    "PluginInfo": "_plugins",
    "PluginSet": "_plugins",
    "default_plugin_set": "_plugins",
    "ProviderRuntimeSnapshot": "_runtime",
    "initialize_provider_runtime": "_runtime",
    "hookimpl": "hookspecs",
}


def __getattr__(name: str) -> Any:
    # Loaded at first use: `openprogram recordings status` must not pay for pluggy.
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{home}"), name)
