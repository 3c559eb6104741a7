"""``openprogram recordings status``: works whatever is broken, and loads no plugin."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from openprogram_core._config import Configuration, read_configuration
from openprogram_core._paths import recordings_dir
from openprogram_core.cli._arguments import json_option
from openprogram_core.cli._command import openprogram_command
from openprogram_core.cli._modes import NEEDED_PLUGINS, disabled_but_needed
from openprogram_core.cli._output import complain, count, emit_json, format_age, format_size, say, warn
from openprogram_core.cli._table import write_fields
from openprogram_core.cli._words import NEXT_START, utc, warn_repairs
from openprogram_core.errors import ConfigurationError, OpenProgramError

if TYPE_CHECKING:
    from openprogram_core.recordings.store_examine import StoredRecording


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
    found = _look(configuration)
    warn_repairs(found.repairs)
    if as_json:
        emit_json(_document(configuration, found))
        return 0
    problems = found.problems
    write_fields(_fields(configuration, found.recording))
    for key in configuration.unknown_keys:
        warn(f"{configuration.path}: nothing here knows the key {key}")
    for warning in found.warnings:
        warn(warning)
    for problem in problems:
        complain(problem)
    say(f"{_meaning(configuration, problems)} {NEXT_START.replace('This takes', 'A change takes')}")
    return 0


def _unusable(error: ConfigurationError, as_json: bool) -> int:
    if as_json:
        problem = {"reason": str(error), "line": error.line, "column": error.column}
        emit_json({"mode": None, "configuration": str(error.path), "problems": [problem]})
    else:
        complain(str(error))
        say("Until then every provider call is blocked.")
    return 1


class _Found(NamedTuple):
    """The configured recording; the problems block every call, the warnings none."""

    recording: StoredRecording | None
    problems: list[str]
    warnings: list[str]
    repairs: list[str]


def _look(configuration: Configuration) -> _Found:
    if configuration.file is None:
        return _Found(None, [], _disabled(configuration, NEEDED_PLUGINS), [])
    disabled = _disabled(configuration, [configuration.mode])
    from openprogram_core.recordings.store_examine import examine_recording

    try:
        recording, repairs = examine_recording(configuration.file)
    except OpenProgramError as error:
        return _Found(None, [str(error), *disabled], [], [])
    problem = recording.problem
    if problem is None and configuration.mode == "replay" and recording.look is not None:
        # While somebody writes it, a call without its end is as it should be, and cannot be replayed.
        problem = recording.look.problem
    if problem is None:
        return _Found(recording, disabled, [], repairs)
    said = f"{recording.path}: {problem}"
    mended = _mended(configuration, recording)
    if mended is None:
        return _Found(recording, [said, *disabled], [], repairs)
    return _Found(recording, disabled, [f"{said}; {mended}"], repairs)


def _disabled(configuration: Configuration, modes: Iterable[str]) -> list[str]:
    return [f"{configuration.path}: {said}" for said in disabled_but_needed(configuration, modes)]


def _mended(configuration: Configuration, recording: StoredRecording) -> str | None:
    """What a recorder does about the problem by itself, None when it is in the way."""
    if configuration.mode != "record":
        return None
    if recording.modified is None or recording.size == 0:
        return "the next start begins it anew" if recording.path.parent.is_dir() else None
    growing = recording.look is not None and recording.look.growing
    return "the next start mends that, and goes on behind it" if growing else None


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


def _meaning(configuration: Configuration, problems: Sequence[str]) -> str:
    if problems:
        return (
            f"Until that is mended, every provider call is blocked in mode {configuration.mode}. "
            "'openprogram recordings off' switches it off."
        )
    if configuration.mode == "record":
        return "Every provider call is recorded."
    if configuration.mode == "replay":
        return "Every provider call is answered from the recording; no provider is called."
    return "Nothing is recorded or replayed."


def _document(configuration: Configuration, found: _Found) -> dict[str, Any]:
    recording = found.recording
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
        "problems": [{"reason": problem, "line": None, "column": None} for problem in found.problems],
        "warnings": found.warnings,
    }
