"""How far a plugin's skip by name reaches in a request: to the fields of our own types, and to headers.

Below these, names are chosen by others: a parameter of a tool that is called ``timestamp`` is no wall-clock
field, and its change is a change of the request.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import TypeAlias

from openprogram_core.comparison.paths import Segment


class _Special(Enum):
    ITEM = "item"
    OTHER = "other"
    BEYOND = "beyond"


_ITEM, _OTHER = _Special.ITEM, _Special.OTHER

BEYOND = _Special.BEYOND
"""A place that plugins' names do not reach, nor anything below it."""

Place: TypeAlias = "Mapping[Segment | _Special, Place | None] | _Special | None"
"""A dict knows what lies below; None is reached with all that is below."""

_CONTENT: Place = {"arguments": BEYOND, "data": BEYOND, "citations": BEYOND}
_MESSAGE: Place = {"content": {_ITEM: _CONTENT}, "service_details": BEYOND}
_EVENT: Place = {"message": _MESSAGE, "error": _MESSAGE, "content": _CONTENT, "tool_call": _CONTENT}

ROOT: Place = {
    # A vendor's own options and models may have further fields.
    "model": {"headers": None, "cost": None, _OTHER: BEYOND},
    "context": {"messages": {_ITEM: _MESSAGE}, "tools": {_ITEM: {"parameters": BEYOND}}},
    "options": {"headers": None, _OTHER: BEYOND},
    "message": _MESSAGE,
    "event": _EVENT,
}
"""The root of a request, and of what two recordings are compared by. Anything else is reached."""


def place_below(place: Place, segment: Segment) -> Place:
    """Return the place one step below."""
    if not isinstance(place, Mapping):
        return place
    key = _ITEM if type(segment) is int else segment
    return place[key] if key in place else place.get(_OTHER)
