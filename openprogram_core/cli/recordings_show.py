"""``openprogram recordings show``."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from openprogram_core._paths import recordings_dir
from openprogram_core.cli._arguments import EVERY_CALL, call_number, json_option, recording_argument
from openprogram_core.cli._command import openprogram_command
from openprogram_core.cli._output import complain, count, emit_json, format_size, say
from openprogram_core.cli._progress import Progress
from openprogram_core.cli._table import write_fields, write_table
from openprogram_core.cli._words import local, utc

if TYPE_CHECKING:
    from openprogram_core.recordings.store_calls import CallSummary, RecordingSummary


@openprogram_command(
    "recordings",
    "show",
    examples=[
        "openprogram recordings show checkout",
        "openprogram recordings show checkout --call 2",
        "openprogram recordings show checkout --call all | less",
        "openprogram recordings show tests/recordings/checkout.jsonl --json",
        "openprogram recordings show checkout --content | head",
    ],
)
@recording_argument()
@click.option(
    "--call",
    "wanted",
    callback=call_number,
    metavar="N|all",
    help="Write call N, counted from 0, as a conversation; 'all' writes every call.",
)
@click.option(
    "--content",
    is_flag=True,
    help="Write the recorded rows as JSON lines, for programs; --call is easier to read.",
)
@json_option
def command(recording: Path, content: bool, wanted: int | Literal["all"] | None, as_json: bool) -> int:
    """Show what a recording holds.

    For each call: its model, events, tokens, outcome and duration, where known. A recording that is broken is
    shown up to the fault, with exit code 1; one that is being written, as far as it goes.
    """
    if content and (as_json or wanted is not None):
        raise click.UsageError("--content goes with neither --json nor --call: it writes JSON lines already")
    if content:
        from openprogram_core.cli._rows import write_rows

        return write_rows(recording)
    if wanted == EVERY_CALL:
        from openprogram_core.cli._show_call import show_every_call

        return show_every_call(recording, as_json)
    if wanted is not None:
        from openprogram_core.cli._show_call import show_call

        return show_call(recording, int(wanted), as_json)
    return _show(recording, as_json)


def _show(recording: Path, as_json: bool) -> int:
    from openprogram_core.recordings.lines import open_regular
    from openprogram_core.recordings.locks import is_being_written
    from openprogram_core.recordings.store_calls import summarize

    with os.fdopen(open_regular(recording), "rb", buffering=1 << 18) as file:
        known = os.fstat(file.fileno())
        with Progress(f"Reading {recording.name}", known.st_size) as progress:
            summary = summarize(file, progress.update)
    writing = is_being_written(recording)
    problem = summary.problem(writing=writing)
    if as_json:
        emit_json(_document(recording, known, summary, writing, problem))
        return 0 if problem is None else 1
    write_fields(_fields(recording, known, summary))
    if summary.calls:
        print_calls(list(summary.calls.values()))
    if writing:
        say("A process is writing it at this moment.")
    if problem is not None:
        complain(f"{recording}: {problem}")
        return 1
    return 0


def _fields(recording: Path, known: os.stat_result, summary: RecordingSummary) -> list[tuple[str, str]]:
    header, calls = summary.header, summary.calls.values()
    fields = [("file", str(recording)), ("size", format_size(known.st_size))]
    if recording.parent == recordings_dir():
        fields.insert(0, ("recording", recording.stem))
    fields += [(name, str(header[key])) for name, key in _SHOWN_HEADER if header.get(key)]
    fields.append(("modified", local(known.st_mtime)))
    fields.append(("calls", f"{len(calls):,}"))
    models = Counter(call.model or "unknown" for call in calls)
    fields += [("model", f"{model}, {count(number, 'call')}") for model, number in models.most_common()]
    outcomes = Counter(call.outcome or "no end" for call in calls)
    if outcomes:
        listed = ", ".join(f"{number:,} {outcome}" for outcome, number in outcomes.most_common())
        fields.append(("outcomes", listed))
        tokens = [(tokens_of(call, _INPUT), tokens_of(call, ("output",))) for call in calls]
        fields.append(
            ("tokens", f"{sum(a or 0 for a, _ in tokens):,} in, {sum(b or 0 for _, b in tokens):,} out")
        )
    return fields


_SHOWN_HEADER = (("created", "created_at"), ("written by", "generator"), ("format", "format_version"))
_INPUT = ("input", "cache_read", "cache_write")


def tokens_of(call: CallSummary, names: tuple[str, ...]) -> int | None:
    """Return the sum of some counts of a call's usage, None when it has none."""
    if call.usage is None:
        return None
    counts = [call.usage.get(name) for name in names]
    return sum(number for number in counts if isinstance(number, int))


def print_calls(calls: list[CallSummary]) -> None:
    """Write the table of calls to stdout."""
    with_lane = any(call.lane is not None for call in calls)
    rows = []
    for call in calls:
        row = [str(call.call_index), call.model or "", call.api or "", f"{call.events:,}"]
        for names in (_INPUT, ("output",)):
            tokens = tokens_of(call, names)
            row.append("" if tokens is None else f"{tokens:,}")
        row.append("" if call.duration_ms is None else f"{call.duration_ms / 1000:.2f} s")
        row.append(_outcome(call))
        if with_lane:
            row.append(call.lane or "")
        rows.append(row)
    headings = ["CALL", "MODEL", "API", "EVENTS", "IN", "OUT", "TIME", "OUTCOME"]
    write_table(headings + (["LANE"] if with_lane else []), rows, right=(0, 3, 4, 5, 6))


def _outcome(call: CallSummary) -> str:
    if call.outcome is None:
        return "no end"
    kind = call.error.get("kind") or call.error.get("type") if call.error else None
    reason = kind if kind is not None else call.stop_reason
    return call.outcome if reason is None else f"{call.outcome} ({reason})"


def _document(
    recording: Path,
    known: os.stat_result,
    summary: RecordingSummary,
    writing: bool,
    problem: str | None,
) -> dict[str, Any]:
    return {
        "id": recording.stem if recording.parent == recordings_dir() else None,
        "file": str(recording),
        "size": known.st_size,
        "modified": utc(known.st_mtime),
        "header": summary.header,
        "writing": writing,
        "calls": [call_as_json(call) for call in summary.calls.values()],
        "problem": problem,
    }


def call_as_json(call: CallSummary) -> dict[str, Any]:
    """Return a call as it stands in the JSON documents of this command."""
    return {name: getattr(call, name) for name in call.__slots__}
