"""All checks of one plugin: of an installed one with what surrounds it, or of a module or object alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import TYPE_CHECKING

from openprogram_core.errors import PluginConflictError, PluginError
from openprogram_core.plugin_kit.cost_checks import check_hook_costs, check_rule_costs
from openprogram_core.plugin_kit.findings import Finding
from openprogram_core.plugin_kit.hook_checks import check_hooks
from openprogram_core.plugin_kit.import_checks import check_import
from openprogram_core.plugin_kit.rule_checks import check_rules

if TYPE_CHECKING:
    from openprogram_core._entrypoints import FoundEntryPoint
    from openprogram_core._plugins import PluginInfo, PluginSet

_MEND_OR_REMOVE = "Until it loads, nothing is recorded or replayed: mend, uninstall or disable it"


@dataclass(frozen=True)
class PluginReport:
    """One installed plugin and what its checks found."""

    plugin: PluginInfo
    findings: tuple[Finding, ...]

    @property
    def clean(self) -> bool:
        """Whether there is nothing to mend: no error and no warning."""
        return all(finding.level == "info" for finding in self.findings)


def check_installed(packages: Sequence[str] = (), *, imports: bool = True) -> list[PluginReport]:
    """Check installed plugins, by their own or their distribution's name; all of them when none is named.

    Disabled plugins are checked too. ``imports``: whether to try in a fresh interpreter what importing them
    does. Raises PluginError for a name that no installed plugin has.
    """
    from openprogram_core._entrypoints import find_entry_points
    from openprogram_core._plugins import PluginSet

    points = find_entry_points()
    for package in packages:
        if not any(_is_named(point, package) for point in points):
            raise PluginError(package, None, "no installed plugin or distribution has this name")
    everything = PluginSet.load()
    reports = []
    for point in points:
        if packages and not any(_is_named(point, package) for package in packages):
            continue
        info = next(
            info
            for info in everything.report
            if (info.name, info.distribution) == (point.name, point.distribution)
        )
        reports.append(PluginReport(info, tuple(_check_point(point, info, everything, imports))))
    return reports


def check_object(
    name: str, plugin: object, *, target: str | None = None, imports: bool = True
) -> list[Finding]:
    """Check a module or an object as a plugin called ``name``; ``target`` is what importing is tried with."""
    from openprogram_core._plugins import PluginSet

    try:
        alone = PluginSet((), {}).with_plugin(name, plugin)
    except PluginError as error:
        return [Finding("error", name, error.hook, error.reason, _MEND_OR_REMOVE)]
    if target is None and isinstance(plugin, ModuleType):
        target = plugin.__name__
    findings = list(check_hooks(name, alone))
    broken_hooks = {finding.hook for finding in findings if finding.level == "error"}
    base = _built_in_without(name)
    try:
        rules = [one.item for one in alone.secret_rules()]
    except PluginError:
        rules = []
    broken = list(check_rules(name, rules, base))
    findings += broken
    findings += check_hook_costs(name, alone, without=broken_hooks)
    if not any(finding.level == "error" for finding in broken):
        findings += check_rule_costs(name, rules, base)
    if target is not None and imports:
        findings += check_import(name, target)
    return findings


def _check_point(
    point: FoundEntryPoint, info: PluginInfo, everything: PluginSet, imports: bool
) -> list[Finding]:
    findings = [Finding("warning", point.name, None, warning) for warning in info.warnings if info.hooks]
    if info.state == "failed":
        findings.append(Finding("error", point.name, None, info.error or "it failed", _MEND_OR_REMOVE))
        return findings + (list(check_import(point.name, point.target)) if imports else [])
    findings += check_object(point.name, point.load(), target=point.target, imports=imports)
    return findings + _conflicts(point.name, everything)


def _conflicts(name: str, everything: PluginSet) -> list[Finding]:
    from openprogram_core.providers import RuntimeSettings

    errors: list[PluginError] = list(everything.api_providers()[1])
    wrappers, wrap_errors = everything.provider_wrappers(RuntimeSettings("off", None, "ordered", everything))
    for wrapper in wrappers:
        wrapper.item.close()
    errors += wrap_errors
    try:
        everything.secret_rules()
    except PluginError as error:
        errors.append(error)
    return [
        Finding("error", name, error.hook, error.reason)
        for error in errors
        if isinstance(error, PluginConflictError) and name in error.plugins
    ]


def _built_in_without(name: str) -> PluginSet:
    from openprogram_core._plugins import PluginSet

    return PluginSet.load(only_built_in=True, disabled=[name])


def _is_named(point: FoundEntryPoint, package: str) -> bool:
    wanted = package.lower().replace("_", "-")
    return wanted in (point.name.lower().replace("_", "-"), point.distribution.lower().replace("_", "-"))
