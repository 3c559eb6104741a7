"""What every installed plugin brings, and what is wrong with it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from openprogram_core.errors import PluginConflictError, PluginError, RedactionError

if TYPE_CHECKING:
    from openprogram_core._plugins import PluginInfo, PluginSet


@dataclass(frozen=True)
class PluginInventory:
    """One plugin: its line of the loader's report, and the names of what it brings.

    ``faults`` say why it failed to load, what its hooks did wrong when they were asked, or why its rules do
    not compile.
    """

    info: PluginInfo
    rules: tuple[str, ...] = ()
    skips: tuple[str, ...] = ()
    apis: tuple[str, ...] = ()
    faults: tuple[str, ...] = ()

    @property
    def state(self) -> str:
        """The loader's word, or ``faulty`` for a plugin that was loaded and blocks record and replay."""
        return "faulty" if self.info.state == "loaded" and self.faults else self.info.state

    def as_json(self) -> dict[str, Any]:
        """Return it as plain JSON values."""
        return {
            **asdict(self.info),
            "state": self.state,
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
    rows = [_take(info, plugins, disputes) for info in plugins.report]
    unsound = _unsound_rules(plugins, [row.info.name for row in rows if row.rules and not row.faults])
    return [replace(row, faults=(*row.faults, *unsound.get(row.info.name, ()))) for row in rows]


def _unsound_rules(plugins: PluginSet, names: Iterable[str]) -> dict[str, list[str]]:
    """Compile the rules of these plugins together; those that do not compile are left out of the next try."""
    from openprogram_core._plugins import PluginSet
    from openprogram_core.redaction import Redactor

    found: dict[str, list[str]] = {}
    left = set(names)
    while left:
        hooks = [hook for hook in plugins.hooks("secret_rules") if hook.plugin in left]
        try:
            Redactor(PluginSet((), {"secret_rules": hooks}))
        except (PluginError, RedactionError) as error:
            guilty = {error.plugin} & left or left
            for name in guilty:
                found.setdefault(str(name), []).append(_say(error))
            left -= guilty
        else:
            break
    return found


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


def _say(error: PluginError | RedactionError) -> str:
    if isinstance(error, RedactionError):
        return f"rule {error.rule!r}: {error.reason}" if error.rule else error.reason
    return f"hook {error.hook}: {error.reason}" if error.hook else error.reason
