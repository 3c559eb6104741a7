"""The recording file: its rows, the strict reader, lanes, checking and repair, and the managed store.

Names load at first use: ``openprogram recordings status`` must not pay for the reader.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from openprogram_core.errors import RecordingFileError, RecordingStoreError, RecordingWriteError
    from openprogram_core.recordings.checking import (
        CheckReport,
        RepairReport,
        check_recording_file,
        repair_recording_file,
    )
    from openprogram_core.recordings.encoding import FLAT_EVENTS, check_request, encode_event
    from openprogram_core.recordings.lanes import call_lane, current_lane
    from openprogram_core.recordings.lines import repair_advice
    from openprogram_core.recordings.locks import WriterLocks, is_being_written
    from openprogram_core.recordings.parsing import HeaderRow, RowFaultError, parse_row
    from openprogram_core.recordings.reader import RecordedCall, Recording, read_recording_file
    from openprogram_core.recordings.rows import (
        MAX_ROW_BYTES,
        RECORDING_FORMAT_VERSION,
        Outcome,
        call_end_row,
        event_row_head,
        header_row,
        request_row,
    )
    from openprogram_core.recordings.tail import (
        EventsSoFar,
        Tail,
        is_whole_row,
        read_open_calls,
        read_tail,
    )

_HOMES = {
    "RecordingFileError": "openprogram_core.errors",
    "RecordingStoreError": "openprogram_core.errors",
    "RecordingWriteError": "openprogram_core.errors",
    "CheckReport": "openprogram_core.recordings.checking",
    "RepairReport": "openprogram_core.recordings.checking",
    "check_recording_file": "openprogram_core.recordings.checking",
    "repair_recording_file": "openprogram_core.recordings.checking",
    "FLAT_EVENTS": "openprogram_core.recordings.encoding",
    "check_request": "openprogram_core.recordings.encoding",
    "encode_event": "openprogram_core.recordings.encoding",
    "call_lane": "openprogram_core.recordings.lanes",
    "current_lane": "openprogram_core.recordings.lanes",
    "WriterLocks": "openprogram_core.recordings.locks",
    "is_being_written": "openprogram_core.recordings.locks",
    "repair_advice": "openprogram_core.recordings.lines",
    "HeaderRow": "openprogram_core.recordings.parsing",
    "RowFaultError": "openprogram_core.recordings.parsing",
    "parse_row": "openprogram_core.recordings.parsing",
    "RecordedCall": "openprogram_core.recordings.reader",
    "Recording": "openprogram_core.recordings.reader",
    "read_recording_file": "openprogram_core.recordings.reader",
    "MAX_ROW_BYTES": "openprogram_core.recordings.rows",
    "Outcome": "openprogram_core.recordings.rows",
    "RECORDING_FORMAT_VERSION": "openprogram_core.recordings.rows",
    "call_end_row": "openprogram_core.recordings.rows",
    "event_row_head": "openprogram_core.recordings.rows",
    "header_row": "openprogram_core.recordings.rows",
    "request_row": "openprogram_core.recordings.rows",
    "Tail": "openprogram_core.recordings.tail",
    "EventsSoFar": "openprogram_core.recordings.tail",
    "is_whole_row": "openprogram_core.recordings.tail",
    "read_open_calls": "openprogram_core.recordings.tail",
    "read_tail": "openprogram_core.recordings.tail",
}

__all__ = [
    "FLAT_EVENTS",
    "MAX_ROW_BYTES",
    "RECORDING_FORMAT_VERSION",
    "CheckReport",
    "EventsSoFar",
    "HeaderRow",
    "Outcome",
    "RecordedCall",
    "Recording",
    "RecordingFileError",
    "RecordingStoreError",
    "RecordingWriteError",
    "RepairReport",
    "RowFaultError",
    "Tail",
    "WriterLocks",
    "call_end_row",
    "call_lane",
    "check_recording_file",
    "check_request",
    "current_lane",
    "encode_event",
    "event_row_head",
    "header_row",
    "is_being_written",
    "is_whole_row",
    "parse_row",
    "read_open_calls",
    "read_recording_file",
    "read_tail",
    "repair_advice",
    "repair_recording_file",
    "request_row",
]


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(home), name)
