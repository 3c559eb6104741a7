"""``openprogram recordings status``: works whatever is broken, and loads no plugin."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from openprogram_core._config import Configuration, read_configuration
from openprogram_core._paths import recordings_dir
from openprogram_core.cli._arguments import json_option
from openprogram_core.cli._command import openprogram_command
from openprogram_core.cli._output import complain, count, emit_json, format_age, format_size, say, warn
from openprogram_core.cli._table import write_fields
from openprogram_core.cli._words import NEXT_START, utc, warn_repairs
from openprogram_core.errors import ConfigurationError, OpenProgramError

if TYPE_CHECKING:
    from openprogram_core.recordings.store_examine import StoredRecording

NEEDED_PLUGINS = {
    "record": ("openprogram_record", "openprogram_redaction"),
    "replay": ("openprogram_replay", "openprogram_redaction"),
}
"""The plugins of this distribution without which a mode blocks every call."""


@openprogram_command(
    "recordings",
    "status",
    examples=["openprogram recordings status", "openprogram recordings status --json"],
)
@json_option
def command(as_json: bool) -> int:
    """Say what is configured, and what is in the way.

    Shows the mode, the recording with its size and how long ago it was written, and the configuration's path.
    Works when the configuration or the recording is missing, broken or of a newer version; nothing but the
    two is read. Exit code 1 only when the configuration cannot be used.
    """
    try:
        configuration = read_configuration()
    except ConfigurationError as error:
        return _unusable(error, as_json)
    recording, problems, repairs = _recording(configuration)
    problems += _disabled(configuration)
    warn_repairs(repairs)
    if as_json:
        emit_json(_document(configuration, recording, problems))
        return 0
    write_fields(_fields(configuration, recording))
    for key in configuration.unknown_keys:
        warn(f"{configuration.path}: nothing here knows the key {key}")
    for problem in problems:
        complain(problem)
    if problems:
        say(
            f"Until that is mended, every provider call is blocked in mode {configuration.mode}. "
            "'openprogram recordings off' switches it off for the next start."
        )
    say(_meaning(configuration))
    return 0


def _unusable(error: ConfigurationError, as_json: bool) -> int:
    if as_json:
        problem = {"reason": str(error), "line": error.line, "column": error.column}
        emit_json({"mode": None, "configuration": str(error.path), "problems": [problem]})
    else:
        complain(str(error))
        say("Until then every provider call is blocked.")
    return 1


def _recording(
    configuration: Configuration,
) -> tuple[StoredRecording | None, list[str], list[str]]:
    if configuration.file is None:
        return None, [], []
    from openprogram_core.recordings.store_examine import examine_recording

    try:
        recording, repairs = examine_recording(configuration.file)
    except OpenProgramError as error:
        return None, [str(error)], []
    problems = [] if recording.problem is None else [f"{recording.path}: {recording.problem}"]
    return recording, problems, repairs


def _disabled(configuration: Configuration) -> list[str]:
    needed = NEEDED_PLUGINS.get(configuration.mode, ())
    return [
        f"{configuration.path}: the plugin {name} is disabled, and mode {configuration.mode} needs it. "
        "Take it out of [plugins] disabled"
        for name in needed
        if name in configuration.disabled_plugins
    ]


def _fields(configuration: Configuration, recording: StoredRecording | None) -> list[tuple[str, str]]:
    fields: list[tuple[str, str]] = [("mode", configuration.mode)]
    if recording is not None:
        if recording.recording_id is not None:
            fields.append(("recording", recording.recording_id))
        fields.append(("file", str(recording.path)))
        if recording.modified is not None:
            age = format_age(time.time() - recording.modified)
            fields.append(("size", f"{format_size(recording.size)}, last written {age} ago"))
        if recording.look is not None and recording.look.header:
            look = recording.look
            fields.append(("calls", f"{count(look.calls, 'call')}, {look.ended:,} of them ended"))
        if recording.writing:
            fields.append(("state", "a process is writing it at this moment"))
    if configuration.mode == "replay":
        fields.append(("order", configuration.order))
    if configuration.disabled_plugins:
        fields.append(("disabled", ", ".join(sorted(configuration.disabled_plugins))))
    fields.append(("configuration", str(configuration.path)))
    return fields


def _meaning(configuration: Configuration) -> str:
    if configuration.mode == "record":
        meaning = "Every provider call is recorded."
    elif configuration.mode == "replay":
        meaning = "Every provider call is answered from the recording; no provider is called."
    else:
        meaning = "Nothing is recorded or replayed."
    return f"{meaning} {NEXT_START.replace('This takes', 'A change takes')}"


def _document(
    configuration: Configuration, recording: StoredRecording | None, problems: list[str]
) -> dict[str, Any]:
    look = recording.look if recording is not None else None
    modified = recording.modified if recording is not None else None
    return {
        "mode": configuration.mode,
        "order": configuration.order,
        "file": None if configuration.file is None else str(configuration.file),
        "recording_id": recording.recording_id if recording is not None else None,
        "size": recording.size if modified is not None and recording is not None else None,
        "modified": None if modified is None else utc(modified),
        "calls": None if look is None else look.calls,
        "ended": None if look is None else look.ended,
        "writing": recording is not None and recording.writing,
        "disabled_plugins": sorted(configuration.disabled_plugins),
        "unknown_keys": list(configuration.unknown_keys),
        "configuration": str(configuration.path),
        "recordings": str(recordings_dir()) if configuration.path.is_absolute() else None,
        "problems": [{"reason": problem, "line": None, "column": None} for problem in problems],
    }
