"""One line of a recording file: what it says, or which rule it breaks.

Almost every line is an event exactly as the recorder wrote it. `plain_event` recognizes those in one pass of
pydantic's parser, and proves by writing the event again that nothing was lost or hidden; every other line
goes the long way through `parse_row`.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple, TypeAlias

from pydantic import ValidationError
from pydantic_core import PydanticSerializationError

from openprogram_core._json import MAX_DEPTH, JsonFaultError, dump_json, may_nest_deeper, parse_json
from openprogram_core.errors import OpenProgramError
from openprogram_core.providers.events import EVENT_ADAPTER, AssistantMessageEvent
from openprogram_core.recordings.rows import OUTCOMES, RECORDING_FORMAT_VERSION, Outcome

EVENT_ADAPTER.rebuild()
_validate_json = EVENT_ADAPTER.validator.validate_json
_validate_python = EVENT_ADAPTER.validator.validate_python

match_event_head = re.compile(
    rb'\{"type":"event","call_index":(0|[1-9][0-9]{0,17}),"event_index":(0|[1-9][0-9]{0,17}),"event":'
).match
"""Matches the beginning of an event's line as the recorder writes it."""


class RowFaultError(OpenProgramError):
    """A line breaks a rule. The message is the reason alone; the reader adds file and line."""

    def __init__(self, reason: str, call_index: int | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.call_index = call_index


class HeaderRow(NamedTuple):
    """The first line, as it stands in the file."""

    fields: dict[str, Any]


class RequestRow(NamedTuple):
    """A call begins."""

    call_index: int
    lane: str | None
    at: str | None
    api: str
    model_id: str
    message_count: int
    request: dict[str, Any]


class EventRow(NamedTuple):
    """A streamed event, as its JSON object."""

    call_index: int
    event_index: int
    event: dict[str, Any]


class EndRow(NamedTuple):
    """A call ended."""

    call_index: int
    event_count: int
    outcome: Outcome
    error: dict[str, Any] | None
    duration_ms: int | None


Row: TypeAlias = HeaderRow | RequestRow | EventRow | EndRow


def is_plain_event(body: bytes) -> bool:
    """Whether ``body`` is an event that is read without loss and written again to the very same bytes."""
    if may_nest_deeper(body, MAX_DEPTH - 1):
        return False
    try:
        event = _validate_json(body, strict=True)
        return bool(event.__pydantic_serializer__.to_json(event) == body)
    except (ValidationError, PydanticSerializationError):
        return False


def load_event(body: bytes) -> AssistantMessageEvent:
    """Make the event from its JSON text in a line that was checked. Raises `RowFaultError`."""
    try:
        event: AssistantMessageEvent = _validate_json(body, strict=True)
    except ValidationError:
        return build_event(_parse(body))
    return event


def build_event(fields: Any, call_index: int | None = None) -> AssistantMessageEvent:
    """Make the event from its JSON value. Raises `RowFaultError` when it is none."""
    try:
        # Strictness is for JSON text only, and lone surrogates are refused there: checked without them.
        _validate_json(dump_json(_without_surrogates(fields)), strict=True)
        event: AssistantMessageEvent = _validate_python(fields)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise RowFaultError(
            f"no valid event: {where + ': ' if where else ''}{first['msg']}", call_index
        ) from None
    return event


def _without_surrogates(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, list):
        return [_without_surrogates(item) for item in value]
    if isinstance(value, dict):
        return {_without_surrogates(key): _without_surrogates(item) for key, item in value.items()}
    return value


def _parse(data: bytes) -> Any:
    try:
        return parse_json(data)
    except JsonFaultError as fault:
        raise RowFaultError(str(fault)) from None


_LONG = 65_536


def parse_row(line: bytes) -> Row:
    """Read one line, newline included. Raises `RowFaultError` with the reason and, when known, the call."""
    if line.startswith(b"\xef\xbb\xbf"):
        raise RowFaultError("begins with a byte order mark; save the file as UTF-8 without one")
    if not line.endswith(b"\n"):
        raise RowFaultError("the line has no end: the file was cut here, or its writer was stopped")
    if line.endswith(b"\r\n"):
        raise RowFaultError("the line ends with \\r\\n, and must end with \\n (git: *.jsonl -text)")
    if line == b"\n":
        raise RowFaultError("the line is empty")
    if len(line) > _LONG and not line.lstrip(b" \t").startswith(b"{"):
        # What is no row need not be parsed to say so; short ones are told more exactly.
        raise RowFaultError("the line is no JSON object")
    fields = _parse(line)
    if not isinstance(fields, dict):
        raise RowFaultError("the line is no JSON object")
    kind = fields.get("type")
    if kind == "header":
        return _header(fields)
    if kind == "request":
        return _request(fields)
    if kind == "event":
        call_index = _count(fields, "call_index", None)
        event = _required(fields, "event", dict, call_index)
        return EventRow(call_index, _count(fields, "event_index", call_index), event)
    if kind == "call_end":
        return _end(fields)
    if "type" not in fields:
        raise RowFaultError("the row has no type")
    raise RowFaultError(f"unknown row type {_shown(kind)}; the types are header, request, event, call_end")


def _header(fields: dict[str, Any]) -> HeaderRow:
    version = fields.get("format_version")
    if type(version) is not int or version != RECORDING_FORMAT_VERSION:
        raise RowFaultError(
            f"format version {_shown(version)}; this release reads version {RECORDING_FORMAT_VERSION}"
        )
    return HeaderRow(fields)


def _request(fields: dict[str, Any]) -> RequestRow:
    call_index = _count(fields, "call_index", None)
    model = _required(fields, "model", dict, call_index)
    context = _required(fields, "context", dict, call_index)
    options = _optional(fields, "options", dict, call_index)
    if "options" not in fields:
        raise RowFaultError("the request has no options", call_index)
    return RequestRow(
        call_index,
        _optional(fields, "lane", str, call_index),
        _optional(fields, "at", str, call_index),
        _required(model, "api", str, call_index, "model."),
        _required(model, "id", str, call_index, "model."),
        len(_required(context, "messages", list, call_index, "context.")),
        {"model": model, "context": context, "options": {} if options is None else options},
    )


def _end(fields: dict[str, Any]) -> EndRow:
    call_index = _count(fields, "call_index", None)
    outcome = fields.get("outcome", "complete")
    if outcome not in OUTCOMES:
        raise RowFaultError(
            f"unknown outcome {_shown(outcome)}; the outcomes are {', '.join(OUTCOMES)}", call_index
        )
    return EndRow(
        call_index,
        _count(fields, "event_count", call_index),
        outcome,
        _optional(fields, "error", dict, call_index),
        None if fields.get("duration_ms") is None else _count(fields, "duration_ms", call_index),
    )


_WORDS: dict[type, str] = {dict: "an object", list: "a list", str: "a string"}


def _required(fields: dict[str, Any], name: str, kind: type, call_index: int | None, path: str = "") -> Any:
    value = fields.get(name)
    if not isinstance(value, kind):
        found = f"is {_shown(value)}" if name in fields else "is missing"
        raise RowFaultError(f"{path}{name} {found}; it must be {_WORDS[kind]}", call_index)
    return value


def _optional(fields: dict[str, Any], name: str, kind: type, call_index: int | None) -> Any:
    return None if fields.get(name) is None else _required(fields, name, kind, call_index)


def _count(fields: dict[str, Any], name: str, call_index: int | None) -> int:
    value = fields.get(name)
    # A bool is an int to Python and not to JSON.
    if type(value) is not int or not 0 <= value < 2**60:
        found = f"is {_shown(value)}" if name in fields else "is missing"
        raise RowFaultError(f"{name} {found}; it must be an integer from 0", call_index)
    return value


def _shown(value: Any) -> str:
    if isinstance(value, dict | list):
        return "an object" if isinstance(value, dict) else "a list"
    text = dump_json(value).decode()
    return text if len(text) <= 64 else text[:64] + "…"
