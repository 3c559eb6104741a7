"""``openprogram recordings diff``."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from openprogram_core.cli._arguments import json_option, recording_argument
from openprogram_core.cli._command import openprogram_command
from openprogram_core.cli._output import count, data, emit_json, is_terminal, printable, say

if TYPE_CHECKING:
    from openprogram_core.comparison import CallDiff, Finding, Findings

SIDES = ("A", "B")
_STYLES = {"call": "bold", "A": "red", "B": "green", "": ""}


@openprogram_command(
    "recordings",
    "diff",
    examples=[
        "openprogram recordings diff checkout checkout-new",
        "openprogram recordings diff tests/recordings/checkout.jsonl checkout-new --json",
        "openprogram recordings diff checkout checkout-new --skip response_id",
    ],
    trouble_exit=2,
)
@recording_argument("a")
@recording_argument("b")
@click.option(
    "--skip", multiple=True, metavar="FIELD", help="Leave out a field, by name or path; repeatable."
)
@json_option
def command(a: Path, b: Path, skip: tuple[str, ...], as_json: bool) -> int:
    """Compare two recordings of the same scenario, call by call.

    Calls are paired lane by lane. For each pair: the fields of the request that differ, what differs in the
    answer (texts to the character), how the calls ended, and whether the streamed events are the same. Fields
    that plugins declare as different on every run are left out.

    Exit codes: 0 nothing differs, 1 something does, 2 a recording could not be read.
    """
    from openprogram_core._plugins import default_plugin_set
    from openprogram_core.comparison import ComparisonPolicy, FieldPathError, diff_recordings
    from openprogram_core.recordings import read_recording_file

    try:
        policy = ComparisonPolicy.from_plugins(default_plugin_set(), skip)
    except FieldPathError as error:
        raise click.UsageError(str(error)) from error
    with read_recording_file(a) as first, read_recording_file(b) as second:
        differing = total = 0
        documents = []
        for call in diff_recordings(first, second, policy):
            total += 1
            differing += not call.equal
            if as_json:
                documents.append(_document(call))
            elif not call.equal:
                if differing == 1:
                    _write([("A", f"A: {a}"), ("B", f"B: {b}")])
                _write(list(_lines(call)))
    if as_json:
        emit_json({"a": str(a), "b": str(b), "equal": not differing, "calls": documents})
    elif differing:
        say(f"{differing:,} of {count(total, 'call')} differ.")
    else:
        say(f"No differences in {count(total, 'call')}.")
    return 1 if differing else 0


def _lines(call: CallDiff) -> Iterator[tuple[str, str]]:
    """Yield ``(style, line)`` for a call that differs."""
    lane = "" if call.lane is None else f", lane {call.lane}"
    if call.first is None or call.second is None:
        there, where = (call.first, "A") if call.first is not None else (call.second, "B")
        assert there is not None
        yield "call", f"call {there.call_index}{lane}: only in {where}"
        return
    number = f"call {call.first.call_index}"
    if call.first.call_index != call.second.call_index:
        number += f" of A, call {call.second.call_index} of B"
    yield "call", f"{number}{lane}"
    for part in (call.request, call.message, call.ending):
        if part is not None:
            yield from _findings(part)
    if call.event_index is not None:
        events = f"events: {call.first.event_count} in A, {call.second.event_count} in B"
        same = call.message is not None and not call.message.found
        yield (
            "",
            f"  {events}, the first that differs is {call.event_index}"
            + (" (the message is the same)" if same else ""),
        )


def _findings(findings: Findings) -> Iterator[tuple[str, str]]:
    from openprogram_core.comparison import render_findings

    for line in render_findings(findings, SIDES):
        words = line.split(maxsplit=1)
        side = words[0] if words and words[0] in SIDES and line.startswith("  ") else ""
        yield side, f"  {line}"


def _write(lines: list[tuple[str, str]]) -> None:
    if not is_terminal(sys.stdout):
        for _, line in lines:
            data(printable(line))
        return
    from rich.console import Console
    from rich.text import Text

    console = Console(soft_wrap=True, highlight=False)
    for style, line in lines:
        console.print(Text(printable(line), style=_STYLES[style]))


def _document(call: CallDiff) -> dict[str, Any]:
    document: dict[str, Any] = {
        "lane": call.lane,
        "a": None if call.first is None else call.first.call_index,
        "b": None if call.second is None else call.second.call_index,
        "equal": call.equal,
    }
    if call.first is not None and call.second is not None:
        document |= {
            "request": _findings_document(call.request),
            "message": _findings_document(call.message),
            "ending": _findings_document(call.ending),
            "events": {
                "a": call.first.event_count,
                "b": call.second.event_count,
                "first_difference": call.event_index,
            },
        }
    return document


def _findings_document(findings: Findings | None) -> dict[str, Any]:
    if findings is None:
        return {"differences": [], "more": 0}
    return {"differences": [_finding_document(one) for one in findings.found], "more": findings.more}


def _finding_document(finding: Finding) -> dict[str, Any]:
    from openprogram_core.comparison import MISSING

    document: dict[str, Any] = {"kind": finding.kind, "field_path": finding.field_path}
    if finding.other_path is not None:
        document["other_path"] = finding.other_path
    sides = (("a", finding.recorded), ("b", finding.incoming))
    return document | {name: value for name, value in sides if value is not MISSING}
