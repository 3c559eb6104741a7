"""``openprogram recordings prune``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from openprogram_core.cli._arguments import (
    confirm,
    json_option,
    number_of_days,
    require_consent,
    yes_option,
)
from openprogram_core.cli._command import openprogram_command
from openprogram_core.cli._output import count, data, emit_json, format_size, say, warn
from openprogram_core.errors import RecordingStoreError

if TYPE_CHECKING:
    from openprogram_core.recordings.store import Removable

DAY_S = 86400.0


@openprogram_command(
    "recordings",
    "prune",
    examples=[
        "openprogram recordings prune --older-than-days 30 --dry-run",
        "openprogram recordings prune --older-than-days 30 --yes",
    ],
)
@click.option(
    "--older-than-days",
    "days",
    callback=number_of_days,
    required=True,
    metavar="N",
    help="Delete what was last written more than N days ago; may be a fraction.",
)
@click.option("--dry-run", is_flag=True, help="Say what would be deleted, and delete nothing.")
@yes_option
@json_option
def command(days: float, dry_run: bool, yes: bool, as_json: bool) -> int:
    """Delete managed recordings older than some days.

    Writes the ids of what is deleted to stdout. Asks first; without a terminal to ask at, --yes is needed.
    The active recording, one that a process is writing, and links stay, and stderr says why.
    """
    from openprogram_core._config import read_configuration
    from openprogram_core._config_update import edit_configuration
    from openprogram_core.recordings.store import delete_recording, removable_recordings

    if not dry_run:
        require_consent(yes)
    found = removable_recordings(days * DAY_S, read_configuration().file)
    old = [recording for recording in found if recording.reason is None]
    if not dry_run and old and not yes and not _confirmed(old):
        say("Nothing was deleted.")
        return 1
    kept = [recording for recording in found if recording.reason is not None]
    gone: list[Removable] = []
    if dry_run:
        gone = old
    elif old:
        with edit_configuration() as editor:
            for recording in old:
                try:
                    delete_recording(recording.recording_id, editor.current.file)
                    gone.append(recording)
                except RecordingStoreError as error:
                    kept.append(recording._replace(reason=error.reason))
    _report(gone, kept, dry_run, as_json)
    return 0


def _confirmed(old: list[Removable]) -> bool:
    for recording in old:
        say(f"  {recording.recording_id}  {format_size(recording.size)}")
    return confirm(f"Delete {count(len(old), 'recording')} for good?")


def _report(gone: list[Removable], kept: list[Removable], dry_run: bool, as_json: bool) -> None:
    if as_json:
        document: dict[str, Any] = {
            "dry_run": dry_run,
            "deleted": [{"id": one.recording_id, "size": one.size} for one in gone],
            "kept": [{"id": one.recording_id, "size": one.size, "reason": one.reason} for one in kept],
        }
        emit_json(document)
    else:
        for recording in gone:
            data(recording.recording_id)
    for recording in kept:
        warn(f"kept {recording.recording_id}: {recording.reason}")
    size = format_size(sum(recording.size for recording in gone))
    say(f"{'Would delete' if dry_run else 'Deleted'} {count(len(gone), 'recording')}, {size}.")
