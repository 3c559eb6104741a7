"""What a recorder writes into its rows: never something the strict reader would refuse."""

from __future__ import annotations

from typing import Any

from pydantic_core import from_json

from openprogram_core._json import (
    MAX_DEPTH,
    JsonFaultError,
    dump_json,
    dump_model,
    is_deeper,
    may_nest_deeper,
    parse_json,
)
from openprogram_core.providers.events import (
    AssistantMessageEvent,
    TextDeltaEvent,
    TextStartEvent,
    ThinkingDeltaEvent,
    ThinkingStartEvent,
    ToolCallDeltaEvent,
    ToolCallStartEvent,
)
from openprogram_core.recordings.parsing import RowFaultError, build_event, is_plain_event

FLAT_EVENTS = frozenset(
    {
        TextStartEvent,
        TextDeltaEvent,
        ThinkingStartEvent,
        ThinkingDeltaEvent,
        ToolCallStartEvent,
        ToolCallDeltaEvent,
    }
)
"""Almost all events of a stream. Their types leave no room for what a reader would refuse."""


def encode_event(event: AssistantMessageEvent | dict[str, Any]) -> bytes:
    """Return an event, or its redacted JSON object, as JSON. Raises `RowFaultError` for what is no event."""
    try:
        if isinstance(event, dict):
            body = dump_json(event)
        else:
            body = dump_model(event)
            if type(event) in FLAT_EVENTS:
                return body
        if not is_plain_event(body):
            build_event(parse_json(body, depth=MAX_DEPTH - 1))
    except (TypeError, ValueError, RecursionError) as error:
        raise RowFaultError(f"the event cannot be written as JSON ({type(error).__name__})") from None
    except JsonFaultError as fault:
        raise RowFaultError(f"the event cannot be recorded: {fault}") from None
    return body


def check_request(payload: bytes) -> None:
    """Raise `RowFaultError` when a request's JSON could not be read again."""
    try:
        try:
            value = from_json(payload)
        except ValueError:
            # Pydantic's parser is fast and refuses lone surrogates.
            parse_json(payload)
            return
        if may_nest_deeper(payload) and is_deeper(value):
            raise JsonFaultError(f"nested deeper than {MAX_DEPTH} levels")
    except JsonFaultError as fault:
        raise RowFaultError(f"the request cannot be recorded: {fault}") from None
