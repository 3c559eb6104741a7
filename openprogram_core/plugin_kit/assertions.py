"""What a plugin's own tests use: its checks as one assertion, and redaction and comparison with it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from openprogram_core._plugins import PluginSet
    from openprogram_core.comparison import Difference


def plugin_set(*plugins: object) -> PluginSet:
    """Return the built-in plugins and these modules or objects, whatever else is installed.

    Raises PluginError, naming plugin and hook, for one that is not sound.
    """
    from openprogram_core._plugins import PluginSet

    return PluginSet.load(only_built_in=True).with_plugins(plugins)


def redacted(value: Any, *, plugins: Sequence[object] = (), field_path: str = "") -> Any:
    """Return ``value``, a string or a JSON value, as it would be recorded with these plugins.

    ``field_path`` is where it stands in the request. Raises PluginError and RedactionError.
    """
    from openprogram_core.redaction import Redactor

    redactor = Redactor.from_plugins(plugin_set(*plugins))
    return redactor.remove_secret_values(value, field_path=field_path)


def first_difference(recorded: Any, incoming: Any, *, plugins: Sequence[object] = ()) -> Difference | None:
    """Return where two requests differ for a replay with these plugins, or None. Raises PluginError."""
    from openprogram_core.comparison import ComparisonPolicy, find_first_difference

    policy = ComparisonPolicy.from_plugins(plugin_set(*plugins))
    return find_first_difference(recorded, incoming, policy=policy)


def check_plugin(plugin: object, *, name: str | None = None) -> None:
    """Check a module or an object against the contract of every hook it has, its rules' examples included.

    Figures do not count, faults do. Raises AssertionError that lists them all with their next steps.
    """
    from openprogram_core.plugin_kit.check import check_object

    shown = name or str(getattr(plugin, "__name__", type(plugin).__name__))
    faults = [finding for finding in check_object(shown, plugin) if finding.level != "info"]
    if faults:
        raise AssertionError("\n".join(f"{finding.level}: {finding}" for finding in faults))
