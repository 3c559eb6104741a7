"""``openprogram recordings scan``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from openprogram_core.cli._arguments import json_option, recording_argument
from openprogram_core.cli._command import openprogram_command
from openprogram_core.cli._output import count, data, emit_json, printable, say

if TYPE_CHECKING:
    from openprogram_core.redaction.recorded import RecordedFinding


@openprogram_command(
    "recordings",
    "scan",
    examples=[
        "openprogram recordings scan checkout",
        "openprogram recordings scan tests/recordings/checkout.jsonl --json",
    ],
    trouble_exit=2,
)
@recording_argument()
@json_option
def command(recording: Path, as_json: bool) -> int:
    """Look for secrets in a recording with today's rules.

    The rules are those of all installed plugins, and may know more than they did when the recording was made.
    Besides, every row is searched for the values of this environment's key-like variables (OPENAI_API_KEY,
    GITHUB_TOKEN, ...): as they are, URL-encoded and in base64. No value is shown.

    A file that is no recording is searched as text, line by line.

    Exit codes: 0 nothing was found, 1 something was, 2 it could not be scanned or is no recording.
    """
    from openprogram_core._plugins import default_plugin_set
    from openprogram_core.redaction import Redactor
    from openprogram_core.redaction.recorded import scan_recording, why_no_recording

    redactor = Redactor.from_plugins(default_plugin_set())
    problem = why_no_recording(recording)
    found = list(scan_recording(recording, redactor))
    code = 2 if problem is not None else 1 if found else 0
    if as_json:
        findings = [_document(one) for one in found]
        emit_json({"file": str(recording), "problem": problem, "findings": findings})
        return code
    for one in found:
        data(_line(one))
    if found:
        say(f"{count(len(found), 'place')} to look at. Record it again, or remove what is secret by hand.")
    else:
        say("Nothing was found.")
    if problem is not None:
        say(
            printable(
                f"{recording} is no sound recording ({problem}). It was searched as text, line by line."
            )
        )
    return code


def _line(found: RecordedFinding) -> str:
    finding = found.finding
    call = "" if found.call_index is None else f", call {found.call_index}"
    where = f"line {found.line}{call}" + (f", {finding.field_path}" if finding.field_path else "")
    if finding.kind == "environment":
        return printable(f"{where}: holds the value of the environment's {finding.rule}")
    length = finding.end - finding.start
    size = f"{count(length, 'character')} from character {finding.start + 1}" if length else "the whole value"
    return printable(f"{where}: {size}, rule {finding.rule} of {finding.plugin}")


def _document(found: RecordedFinding) -> dict[str, Any]:
    return {"line": found.line, "call": found.call_index, **found.finding._asdict()}
