"""``openprogram plugins check``."""

from __future__ import annotations

import sys
from contextlib import redirect_stdout

import click

from openprogram_core.cli._arguments import json_option
from openprogram_core.cli._command import openprogram_command
from openprogram_core.cli._output import count, data, emit_json, printable, say, styled

_STYLES = {"error": "red", "warning": "yellow", "info": "dim"}


@openprogram_command(
    "plugins",
    "check",
    examples=["openprogram plugins check acme-secrets", "openprogram plugins check --json"],
    trouble_exit=2,
)
@click.argument("packages", nargs=-1, metavar="[PACKAGE]...")
@json_option
def command(packages: tuple[str, ...], as_json: bool) -> int:
    """Check the plugins' rules, and what they cost.

    PACKAGE is a plugin's or a distribution's name; without one, every installed plugin is checked, disabled
    ones too. Checked are: that importing it does nothing else (in a fresh interpreter), the signatures of its
    hooks and what they return, that they change nothing they are given, every secret rule's syntax and
    examples, the cost of hooks and of rules without literals, and names that another plugin claims.

    Exit code 0: nothing to mend; 1: an error or a warning; 2: no such plugin.
    """
    from openprogram_core.cli._progress import Progress
    from openprogram_core.plugin_kit.check import check_installed

    # A plugin that prints when it is imported must not spoil the data.
    with Progress("Checking plugins"), redirect_stdout(sys.stderr):
        reports = check_installed(packages)
    if as_json:
        emit_json(
            {
                "plugins": [
                    {
                        "name": report.plugin.name,
                        "distribution": report.plugin.distribution,
                        "version": report.plugin.version,
                        "state": report.plugin.state,
                        "clean": report.clean,
                        "findings": [finding.as_json() for finding in report.findings],
                    }
                    for report in reports
                ]
            }
        )
    else:
        for report in reports:
            verdict = "ok" if report.clean else "to mend"
            data(styled(f"{printable(report.plugin.name)}: {verdict}", "bold"))
            for finding in report.findings:
                level = styled(finding.level, _STYLES[finding.level])  # type: ignore[arg-type]  # they are Styles
                data(f"  {level}: {printable(str(finding))}")
        faulty = sum(not report.clean for report in reports)
        say(f"{count(len(reports), 'plugin')} checked, {faulty} to mend")
    return 0 if all(report.clean for report in reports) else 1
