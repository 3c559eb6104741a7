"""The rows of a recording file, format version 1, as they are written.

A recording is UTF-8, one compact JSON object a line, each line ended by ``\\n``; ``type`` comes first. The
functions here give whole lines.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

from openprogram_core._json import dump_json
from openprogram_core.recordings.limits import MAX_ROW_BYTES, RECORDING_FORMAT_VERSION

__all__ = [
    "MAX_ROW_BYTES",
    "OUTCOMES",
    "RECORDING_FORMAT_VERSION",
    "Outcome",
    "call_end_row",
    "event_row_head",
    "header_row",
    "request_row",
]

Outcome: TypeAlias = Literal["complete", "error", "cancelled", "abandoned"]
OUTCOMES: tuple[Outcome, ...] = ("complete", "error", "cancelled", "abandoned")


def header_row(
    *,
    recording_id: str,
    created_at: str,
    generator: str,
    redaction: dict[str, Any],
    facts: Mapping[str, Any] | None = None,
) -> bytes:
    """Return the first line: what wrote the file, when (ISO 8601, UTC), and which rules removed secrets.

    ``facts`` are more of it, which no reader needs to know.
    """
    own = {
        "type": "header",
        "format_version": RECORDING_FORMAT_VERSION,
        "recording_id": recording_id,
        "created_at": created_at,
        "generator": generator,
        "redaction": redaction,
    }
    return dump_json({**own, **(facts or {}), **own}) + b"\n"


def request_row(call_index: int, payload: bytes, *, at: str, lane: str | None) -> bytes:
    """Return the line that begins a call.

    ``payload`` is the JSON object of ``model``, ``context`` and ``options``; ``at`` the time it began (ISO
    8601, UTC).
    """
    head = b'{"type":"request","call_index":%d,' % call_index
    if lane is not None:
        head += b'"lane":%b,' % dump_json(lane)
    return b'%b"at":%b,%b\n' % (head, dump_json(at), payload[1:])


def event_row_head(call_index: int) -> bytes:
    """Return the part of an event's line that is the same for all events of a call.

    The rest is ``b'%d,"event":%b}\\n' % (event_index, event)``.
    """
    return b'{"type":"event","call_index":%d,"event_index":' % call_index


def call_end_row(
    call_index: int,
    event_count: int,
    outcome: Outcome,
    *,
    error: dict[str, Any] | None = None,
    duration_ms: int | None = None,
) -> bytes:
    """Return the line that ends a call. ``event_count`` counts its event rows."""
    row: dict[str, Any] = {
        "type": "call_end",
        "call_index": call_index,
        "event_count": event_count,
        "outcome": outcome,
    }
    if error is not None:
        row["error"] = error
    if duration_ms is not None:
        row["duration_ms"] = duration_ms
    return dump_json(row) + b"\n"
