"""``openprogram recordings list``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from openprogram_core._config import read_configuration
from openprogram_core._paths import recordings_dir
from openprogram_core.cli._arguments import json_option
from openprogram_core.cli._command import openprogram_command
from openprogram_core.cli._output import complain, emit_json, format_size, printable, say
from openprogram_core.cli._progress import Progress
from openprogram_core.cli._table import write_table
from openprogram_core.cli._words import local, utc, warn_repairs
from openprogram_core.errors import ConfigurationError

if TYPE_CHECKING:
    from pathlib import Path

    from openprogram_core.recordings.store_examine import StoredRecording


@openprogram_command(
    "recordings",
    "list",
    examples=["openprogram recordings list", "openprogram recordings list --json"],
)
@json_option
def command(as_json: bool) -> int:
    """List the managed recordings.

    Every file is read once and looked at quickly: its header and format version, that every line begins as a
    row does, that the last is whole, that every call has its end. What is wrong with a file is said on
    stderr, or in the document with --json. 'openprogram recordings check' checks every row.
    """
    from openprogram_core.recordings.store_examine import list_recordings, stored_bytes

    with Progress("Reading the recordings", stored_bytes()) as progress:
        recordings, repairs = list_recordings(progress.update)
    warn_repairs(repairs)
    exit_code = 0
    active: Path | None = None
    try:
        active = read_configuration().file
    except ConfigurationError as error:
        complain(str(error))
        exit_code = 1
    if as_json:
        emit_json({"recordings": [_as_json(recording, active) for recording in recordings]})
        return exit_code
    if not recordings:
        say(f"There are no recordings in {printable(str(recordings_dir()))}.")
        return exit_code
    write_table(
        ("ID", "MODIFIED", "SIZE", "CALLS", "STATE"),
        [_row(recording, active) for recording in recordings],
        right=(2, 3),
    )
    for recording in recordings:
        if recording.problem is not None:
            complain(f"{recording.path}: {recording.problem}")
    return exit_code


def _state(recording: StoredRecording) -> str:
    if recording.problem is None:
        return "ok"
    return "incomplete" if recording.look is not None and recording.look.growing else "broken"


def _is_active(recording: StoredRecording, active: Path | None) -> bool:
    return active is not None and recording.path == active


def _row(recording: StoredRecording, active: Path | None) -> tuple[str, ...]:
    states = [_state(recording)]
    if _is_active(recording, active):
        states.append("active")
    if recording.writing:
        states.append("being written")
    look = recording.look
    return (
        recording.recording_id or recording.name,
        "" if recording.modified is None else local(recording.modified),
        format_size(recording.size),
        f"{look.calls:,}" if look is not None and look.header else "",
        ", ".join(states),
    )


def _as_json(recording: StoredRecording, active: Path | None) -> dict[str, Any]:
    look = recording.look
    return {
        "id": recording.recording_id,
        "file": str(recording.path),
        "size": recording.size,
        "created_at": None if look is None else look.created_at,
        "modified": None if recording.modified is None else utc(recording.modified),
        "calls": None if look is None else look.calls,
        "ended": None if look is None else look.ended,
        "events": None if look is None else look.events,
        "state": _state(recording),
        "active": _is_active(recording, active),
        "writing": recording.writing,
        "problem": recording.problem,
    }
