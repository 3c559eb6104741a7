"""The recording file: its rows, the strict reader, lanes, checking and repair, and the managed store.

Names load at first use: ``openprogram recordings status`` must not pay for the reader.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from openprogram_core.errors import RecordingFileError, RecordingStoreError, RecordingWriteError
    from openprogram_core.recordings.lanes import call_lane, current_lane
    from openprogram_core.recordings.reader import RecordedCall, Recording, read_recording_file
    from openprogram_core.recordings.rows import MAX_ROW_BYTES, RECORDING_FORMAT_VERSION, Outcome

_HOMES = {
    "RecordingFileError": "openprogram_core.errors",
    "RecordingStoreError": "openprogram_core.errors",
    "RecordingWriteError": "openprogram_core.errors",
    "call_lane": "openprogram_core.recordings.lanes",
    "current_lane": "openprogram_core.recordings.lanes",
    "RecordedCall": "openprogram_core.recordings.reader",
    "Recording": "openprogram_core.recordings.reader",
    "read_recording_file": "openprogram_core.recordings.reader",
    "MAX_ROW_BYTES": "openprogram_core.recordings.rows",
    "RECORDING_FORMAT_VERSION": "openprogram_core.recordings.rows",
    "Outcome": "openprogram_core.recordings.rows",
}

__all__ = [
    "MAX_ROW_BYTES",
    "RECORDING_FORMAT_VERSION",
    "Outcome",
    "RecordedCall",
    "Recording",
    "RecordingFileError",
    "RecordingStoreError",
    "RecordingWriteError",
    "call_lane",
    "current_lane",
    "read_recording_file",
]


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(home), name)
