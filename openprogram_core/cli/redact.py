"""``openprogram redact``."""

from __future__ import annotations

import sys
from typing import BinaryIO

import click

from openprogram_core.cli._arguments import json_option
from openprogram_core.cli._command import openprogram_command
from openprogram_core.cli._output import count, emit_json, printable, say


@openprogram_command(
    "",
    "redact",
    examples=[
        "openprogram redact < prompt.txt",
        "openprogram redact request.json > request.redacted.json",
        "openprogram redact request.json --json",
    ],
)
@click.argument("file", type=click.File("rb"), default="-")
@json_option
def command(file: BinaryIO, as_json: bool) -> int:
    """Remove secrets from a text or a JSON file.

    Reads FILE, or stdin, and writes it to stdout as a recording would hold it; JSON keeps its layout. What
    was removed, and by which rule of which plugin, is said on stderr; with --json it is written to stdout
    instead of the text. For people who write rules, and for what goes into a bug report.
    """
    from openprogram_core._plugins import default_plugin_set
    from openprogram_core.redaction import Redactor

    text = file.read().decode("utf-8", "surrogateescape")
    redacted, found = Redactor.from_plugins(default_plugin_set()).redact_text(text)
    if as_json:
        emit_json({"findings": [finding._asdict() for finding in found]})
        return 0
    output = sys.stdout.buffer if hasattr(sys.stdout, "buffer") else None
    if output is not None:
        output.write(redacted.encode("utf-8", "surrogateescape"))
        output.flush()
    for finding in found:
        where = f"line {finding.line}, column {finding.column}"
        say(
            printable(
                f"{where}: {count(finding.length, 'character')}, rule {finding.rule} of {finding.plugin}"
            )
        )
    if not found:
        say("Nothing was removed.")
    return 0
