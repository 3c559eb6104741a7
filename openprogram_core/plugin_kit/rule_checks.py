"""Checks secret rules one at a time: that they compile, pass their own examples, and spare ordinary text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from openprogram_core.errors import OpenProgramError, PluginError, RedactionError
from openprogram_core.hookspecs import hookimpl
from openprogram_core.plugin_kit.findings import Finding
from openprogram_core.plugin_kit.samples import CLEAN_TEXT

if TYPE_CHECKING:
    from openprogram_core._plugins import PluginSet
    from openprogram_core.redaction import Redactor, SecretRule


class RuleCarrier:
    """A plugin that has these rules and nothing else."""

    def __init__(self, rules: Sequence[SecretRule]) -> None:
        self._rules = list(rules)

    @hookimpl
    def secret_rules(self) -> list[SecretRule]:
        """Give the rules."""
        return self._rules


def check_rules(name: str, rules: Sequence[SecretRule], base: PluginSet) -> Iterator[Finding]:
    """Yield what is wrong with a plugin's rules. ``base`` holds the built-in plugins, without this one."""
    if not rules:
        return
    try:
        redactor = redactor_with(name, rules, base)
    except OpenProgramError:
        for rule in rules:
            try:
                redactor_with(name, [rule], base)
            except OpenProgramError as error:
                yield _broken(name, rule.name, error)
        return
    if redactor.remove_secret_values(CLEAN_TEXT) != CLEAN_TEXT:
        for finding in redactor.explain(CLEAN_TEXT):
            yield Finding(
                "warning",
                name,
                "secret_rules",
                f"rule {finding.rule!r} of {finding.plugin!r} removes part of an ordinary text",
                "Make the pattern stricter, and put what it must spare into rejects",
            )


def redactor_with(name: str, rules: Sequence[SecretRule], base: PluginSet) -> Redactor:
    """Compile ``rules``, as if the plugin ``name`` had brought them, with the built-in ones."""
    from openprogram_core.redaction import Redactor

    return Redactor.from_plugins(base.with_plugin(name, RuleCarrier(rules)))


def _broken(name: str, rule: str, error: OpenProgramError) -> Finding:
    reason = error.reason if isinstance(error, PluginError | RedactionError) else str(error)
    return Finding(
        "error",
        name,
        "secret_rules",
        f"rule {rule!r}: {reason}",
        "Mend the rule; until then nothing can be recorded",
    )
