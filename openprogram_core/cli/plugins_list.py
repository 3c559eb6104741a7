"""``openprogram plugins list``."""

from __future__ import annotations

import sys
from contextlib import redirect_stdout
from typing import Any

from openprogram_core.cli._arguments import json_option
from openprogram_core.cli._command import openprogram_command
from openprogram_core.cli._output import complain, count, emit_json, say, warn
from openprogram_core.cli._table import write_table


@openprogram_command(
    "plugins", "list", examples=["openprogram plugins list", "openprogram plugins list --json"]
)
@json_option
def command(as_json: bool) -> None:
    """List the installed plugins.

    For each: the distribution and version it comes from, whether it is loaded, disabled or failed, its hooks,
    and how many secret rules, field skips and wire APIs it brings. Why one failed, and what to do, goes to
    stderr; with --json everything is in the document.
    """
    from openprogram_core.plugin_kit.inventory import take_inventory

    # A plugin that prints when it is imported must not spoil the data.
    with redirect_stdout(sys.stderr):
        rows = take_inventory(_disabled())
    if as_json:
        emit_json({"plugins": [row.as_json() for row in rows]})
        return
    write_table(
        ("PLUGIN", "DISTRIBUTION", "VERSION", "STATE", "HOOKS", "BRINGS"),
        [
            (
                row.info.name,
                row.info.distribution,
                row.info.version,
                row.info.state,
                ", ".join(row.info.hooks) or "-",
                _brings(row) or "-",
            )
            for row in rows
        ],
    )
    for row in rows:
        for fault in row.faults:
            complain(f"{row.info.name}: {fault}")
        for warning in row.info.warnings:
            warn(f"{row.info.name}: {warning}")
    if any(row.faults for row in rows):
        say(
            "record and replay are blocked while a plugin fails: its secret rules might be the missing ones. "
            "Mend or uninstall it, or disable it: [plugins] disabled in config.toml"
        )


def _disabled() -> frozenset[str]:
    from openprogram_core._config import read_configuration
    from openprogram_core.errors import ConfigurationError

    try:
        return read_configuration().disabled_plugins
    except ConfigurationError as error:
        # The list has to serve whatever is broken.
        warn(f"what is disabled is not known: {error}")
        return frozenset()


def _brings(row: Any) -> str:
    amounts = (
        (len(row.rules), "rule"),
        (len(row.skips), "skip"),
        (len(row.apis), "API"),
    )
    return ", ".join(count(amount, noun) for amount, noun in amounts if amount)
