"""The calls of a recording, each with its facts, its request and its answer."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from openprogram_core.cli._conversation import write_conversation
from openprogram_core.cli._output import complain, count, data, emit_json, say, warn
from openprogram_core.cli._progress import Progress
from openprogram_core.cli._table import write_fields
from openprogram_core.cli._words import PRIVATE
from openprogram_core.recordings.lines import open_regular
from openprogram_core.recordings.store_calls import CallSummary, rows_by_call, rows_of_call, summary_of_rows


def show_call(recording: Path, call_index: int, as_json: bool) -> int:
    """Write one call to stdout, for people or as JSON; returns 1 when there is no such call, else 0."""
    with os.fdopen(open_regular(recording), "rb", buffering=1 << 18) as file:
        size = os.fstat(file.fileno()).st_size
        with Progress(f"Looking for call {call_index} in {recording.name}", size):
            rows = list(rows_of_call(file, call_index))
    call = summary_of_rows(rows)
    if call is None:
        complain(
            f"{recording}: there is no call {call_index}. "
            "'openprogram recordings show' without --call lists the calls"
        )
        return 1
    warn(PRIVATE)
    if as_json:
        emit_json({"file": str(recording), **_document(call, rows)})
    else:
        _write(call, rows)
    return 0


def show_every_call(recording: Path, as_json: bool) -> int:
    """Write every call, one after the other, as `show_call` does; returns 1 when rows could not be read."""
    faulty: list[int] = []
    documents = []
    shown = 0
    warn(PRIVATE)
    with os.fdopen(open_regular(recording), "rb", buffering=1 << 18) as file:
        for rows in rows_by_call(file, faulty.append):
            call = summary_of_rows(rows)
            if call is None:
                continue
            if as_json:
                documents.append(_document(call, rows))
            else:
                if shown:
                    data()
                _write(call, rows)
            shown += 1
    if as_json:
        emit_json({"file": str(recording), "calls": documents})
    elif not shown:
        say("It holds no calls.")
    if faulty:
        complain(
            f"{recording}: {count(len(faulty), 'row')} could not be shown, the first in line {faulty[0]}. "
            "'openprogram recordings check' says what is wrong"
        )
    return 1 if faulty else 0


def _request(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    return {key: rows[0].get(key) for key in ("model", "context", "options")}


def _events(rows: Iterable[dict[str, Any]]) -> list[Any]:
    return [row.get("event") for row in rows if row.get("type") == "event"]


def _document(call: CallSummary, rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    facts = {name: getattr(call, name) for name in call.__slots__}
    return {"call": facts, "request": _request(rows), "events": _events(rows)}


def _write(call: CallSummary, rows: Sequence[dict[str, Any]]) -> None:
    fields = [("call", str(call.call_index)), ("model", f"{call.model} over {call.api}")]
    fields += [
        (name, str(value))
        for name, value in (("lane", call.lane), ("began", call.at), ("stop reason", call.stop_reason))
        if value is not None
    ]
    fields.append(("events", count(call.events, "event")))
    ended = call.outcome or "it has no end: the writer was stopped, or still writes"
    if call.duration_ms is not None:
        ended += f" after {call.duration_ms / 1000:.2f} s"
    fields.append(("outcome", ended))
    if call.error is not None:
        fields.append(("failure", ", ".join(f"{key} {value}" for key, value in call.error.items())))
    write_fields(fields)
    write_conversation(_request(rows), _answer(_events(rows)))


def _answer(events: Iterable[Any]) -> dict[str, Any] | None:
    """Put the message together as far as it came; None when nothing did."""
    from pydantic import ValidationError

    from openprogram_core.errors import EventProtocolError
    from openprogram_core.providers import EVENT_ADAPTER, MessageBuilder

    builder = MessageBuilder()
    try:
        for event in events:
            builder.add(EVENT_ADAPTER.validate_python(event))
    except (ValidationError, EventProtocolError) as error:
        warn(f"not every event can be used ({type(error).__name__}); --content shows them all")
    try:
        return builder.message.model_dump(mode="json")
    except EventProtocolError:
        return None
