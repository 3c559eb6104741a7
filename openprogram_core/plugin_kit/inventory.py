"""What every installed plugin brings, and what is wrong with it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from openprogram_core.errors import PluginConflictError, PluginError

if TYPE_CHECKING:
    from openprogram_core._plugins import PluginInfo, PluginSet


@dataclass(frozen=True)
class PluginInventory:
    """One plugin: its line of the loader's report, and the names of what it brings.

    ``faults`` say why it failed to load, or what its hooks did wrong when they were asked.
    """

    info: PluginInfo
    rules: tuple[str, ...] = ()
    skips: tuple[str, ...] = ()
    apis: tuple[str, ...] = ()
    faults: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """Return it as plain JSON values."""
        return {
            **asdict(self.info),
            "hooks": list(self.info.hooks),
            "warnings": list(self.info.warnings),
            "built_in": self.info.built_in,
            "secret_rules": list(self.rules),
            "field_skips": list(self.skips),
            "api_providers": list(self.apis),
            "faults": list(self.faults),
        }


def take_inventory(disabled: Iterable[str]) -> list[PluginInventory]:
    """Load the installed plugins, without the disabled ones, and ask each what it brings.

    The runtime is not started.
    """
    from openprogram_core._plugins import PluginSet

    plugins = PluginSet.load(disabled=disabled)
    disputes = _disputes(plugins)
    return [_take(info, plugins, disputes) for info in plugins.report]


def _take(info: PluginInfo, plugins: PluginSet, disputes: list[PluginConflictError]) -> PluginInventory:
    if info.state != "loaded":
        return PluginInventory(info, faults=(info.error,) if info.error else ())
    alone = plugins.only(info.name)
    faults = [_say(dispute) for dispute in disputes if info.name in dispute.plugins]
    rules: tuple[str, ...] = ()
    skips: tuple[str, ...] = ()
    try:
        rules = tuple(one.item.name for one in alone.secret_rules())
    except PluginError as error:
        faults.append(_say(error))
    try:
        skips = tuple(one.item.field for one in alone.field_skips())
    except PluginError as error:
        faults.append(_say(error))
    apis, api_errors = alone.api_providers()
    faults += [_say(error) for error in api_errors]
    return PluginInventory(info, rules, skips, tuple(sorted(apis)), tuple(faults))


def _disputes(plugins: PluginSet) -> list[PluginConflictError]:
    errors: list[PluginError] = list(plugins.api_providers()[1])
    try:
        plugins.secret_rules()
    except PluginError as error:
        errors.append(error)
    return [error for error in errors if isinstance(error, PluginConflictError)]


def _say(error: PluginError) -> str:
    return f"hook {error.hook}: {error.reason}" if error.hook else error.reason
