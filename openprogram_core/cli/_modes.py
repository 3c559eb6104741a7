"""What the two modes need of the plugins."""

from __future__ import annotations

from collections.abc import Iterable

from openprogram_core._config import Configuration
from openprogram_core.errors import ConfigurationError

NEEDED_PLUGINS = {
    "record": ("openprogram_record", "openprogram_redaction"),
    "replay": ("openprogram_replay", "openprogram_redaction"),
}
"""The plugins of this distribution without which a mode blocks every call."""


def disabled_but_needed(configuration: Configuration, modes: Iterable[str] = NEEDED_PLUGINS) -> list[str]:
    """Say, of each disabled plugin without which one of the modes blocks every call, which mode that is."""
    needing: dict[str, list[str]] = {}
    for mode in modes:
        for name in NEEDED_PLUGINS.get(mode, ()):
            if name in configuration.disabled_plugins:
                needing.setdefault(name, []).append(mode)
    said = []
    for name, blocked in needing.items():
        need = f"mode {blocked[0]} needs" if len(blocked) == 1 else f"modes {' and '.join(blocked)} need"
        said.append(f"the plugin {name} is disabled, and {need} it. Take it out of [plugins] disabled")
    return said


def require_plugins(configuration: Configuration, mode: str) -> None:
    """Raise `ConfigurationError` when a plugin is disabled without which ``mode`` would block every call."""
    missing = disabled_but_needed(configuration, [mode])
    if missing:
        raise ConfigurationError(
            configuration.path, f"{missing[0]} first; until then mode {mode} would block every provider call"
        )
