"""``openprogram plugins list``."""

from __future__ import annotations

import sys
from collections.abc import Sequence
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

    For each: the distribution and version it comes from, its state, its hooks, and how many secret rules,
    field skips and wire APIs it brings. The state is loaded, disabled, failed (it could not be loaded) or
    faulty (it was, and a hook or rule of it is in the way of record and replay). What is wrong, and what to
    do, goes to stderr; with --json everything is in the document.
    """
    from openprogram_core.plugin_kit.inventory import take_inventory

    # A plugin that prints when it is imported must not spoil the data.
    with redirect_stdout(sys.stderr):
        disabled = _disabled()
        rows = take_inventory(disabled)
    unknown = sorted(disabled - {row.info.name for row in rows})
    if as_json:
        emit_json({"plugins": [row.as_json() for row in rows], "unknown_disabled": unknown})
        return
    write_table(
        ("PLUGIN", "DISTRIBUTION", "VERSION", "STATE", "HOOKS", "BRINGS"),
        [
            (
                row.info.name,
                row.info.distribution,
                row.info.version,
                row.state,
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
    for name in unknown:
        warn(_unknown(name, [row.info.name for row in rows]))
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


def _unknown(name: str, known: Sequence[str]) -> str:
    from difflib import get_close_matches

    near = get_close_matches(name, known, n=1)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    return f"[plugins] disabled in config.toml names {name!r}, and no installed plugin is called that.{hint}"


def _brings(row: Any) -> str:
    amounts = (
        (len(row.rules), "rule"),
        (len(row.skips), "skip"),
        (len(row.apis), "API"),
    )
    return ", ".join(count(amount, noun) for amount, noun in amounts if amount)
