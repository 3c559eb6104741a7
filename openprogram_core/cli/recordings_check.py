"""``openprogram recordings check``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from openprogram_core.cli._arguments import json_option, recording_argument
from openprogram_core.cli._command import openprogram_command
from openprogram_core.cli._output import count, data, emit_json, printable, say

if TYPE_CHECKING:
    from openprogram_core.recordings.checking import CheckReport


@openprogram_command(
    "recordings",
    "check",
    examples=[
        "openprogram recordings check checkout",
        "openprogram recordings check tests/recordings/checkout.jsonl --json",
        "openprogram recordings check checkout --repair",
    ],
    trouble_exit=2,
)
@recording_argument()
@click.option("--repair", is_flag=True, help="Write the complete calls into a new file beside a broken one.")
@json_option
def command(recording: Path, repair: bool, as_json: bool) -> int:
    """Check every row of a recording, as a replay does before it begins.

    Everything that is wrong is listed, with its line and call. Nothing is changed: --repair writes
    NAME.repaired.jsonl beside the broken file and overwrites nothing; without a complete call it writes
    nothing either.

    Exit codes: 0 nothing is wrong, 1 something is, 2 it could not be checked or repaired.
    """
    from openprogram_core.recordings.checking import check_recording_file, repair_recording_file
    from openprogram_core.recordings.lines import repair_advice
    from openprogram_core.recordings.locks import is_being_written

    repaired: Path | None = None
    writing = is_being_written(recording)
    found = check_recording_file(recording)
    if repair and not found.ok and (found.complete_calls or not found.repairable):
        repaired, found = repair_recording_file(recording)
    if as_json:
        emit_json(_document(found, writing, repaired))
        return 0 if found.ok else 1
    for problem in found.problems:
        data(printable(str(problem)))
    if found.problem_count > len(found.problems):
        say(f"{found.problem_count - len(found.problems):,} more are not listed.")
    complete, incomplete = len(found.complete_calls), len(found.incomplete_calls)
    problems = count(found.problem_count, "problem")
    say(f"{count(complete, 'complete call')}, {incomplete:,} incomplete, {problems}.")
    if writing:
        say("A process is writing it at this moment: a call without its end may still get it.")
    if repaired is not None:
        say(f"The complete calls are in {printable(str(repaired))}; the broken file is as it was.")
    elif repair and not found.ok:
        say("There is no complete call to keep, so no file was written.")
    elif found.complete_calls and not found.ok:
        say(printable(f"{repair_advice(recording)}."))
    return 0 if found.ok else 1


def _document(found: CheckReport, writing: bool, repaired: Path | None) -> dict[str, Any]:
    return {
        "file": str(found.path),
        "ok": found.ok,
        "writing": writing,
        "complete_calls": list(found.complete_calls),
        "incomplete_calls": list(found.incomplete_calls),
        "problem_count": found.problem_count,
        "problems": [
            {"line": problem.line_number, "call": problem.call_index, "reason": problem.reason}
            for problem in found.problems
        ],
        "repaired": None if repaired is None else str(repaired),
    }
