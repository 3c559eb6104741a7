"""Values as one line of text: bounded, control characters escaped."""

from __future__ import annotations

import reprlib
from typing import Any

from openprogram_core.comparison.walk import MISSING

ELLIPSIS = "…"
_JSON_TYPES = {str: "string", bool: "boolean", int: "integer", float: "float", dict: "object", list: "array"}


class _Brief(reprlib.Repr):
    """`reprlib`, with the whole line bounded too."""

    def __init__(self, limit: int) -> None:
        super().__init__()
        self.maxlevel = 4
        self.maxdict = self.maxlist = self.maxtuple = 6
        self.maxstring = self.maxother = self.maxlong = max(limit // 3, 20)

    def repr_int(self, x: int, level: int) -> str:
        return (
            super().repr_int(x, level) if x.bit_length() < 10_000 else f"<integer of {x.bit_length()} bits>"
        )


def show(value: Any, limit: int = 200) -> str:
    """Return a value on one line, at most about ``limit`` characters: a string is cut at its end."""
    if value is MISSING:
        return "missing"
    if type(value) is str:
        return show_window(value, 0, limit)
    text = _Brief(limit).repr(value)
    return text if len(text) <= limit else text[: max(limit - 1, 1)] + ELLIPSIS


def show_window(text: str, start: int, limit: int) -> str:
    """Return ``text`` from character ``start`` on, quoted; an ellipsis stands where something is left out."""
    before = ELLIPSIS if start > 0 else ""
    whole = repr(text[start : start + limit])
    if start + limit >= len(text) and len(whole) + len(before) <= limit:
        return before + whole
    room = max(limit - 4, 1)
    piece = text[start : start + room]
    # Escapes make a character longer than one.
    while len(repr(piece)) > room + 2 and len(piece) > 1:
        piece = piece[: max(len(piece) * room // len(repr(piece)), 1)]
    return before + repr(piece) + (ELLIPSIS if start + len(piece) < len(text) else "")


def show_pair(recorded: Any, incoming: Any, limit: int) -> tuple[str, str]:
    """Show two values that differ in ``limit`` characters together, long strings from where they differ."""
    half = max(limit // 2, 8)
    if type(recorded) is not str or type(incoming) is not str:
        left, right = show(recorded, half), show(incoming, half)
        if left == right:
            left, right = f"{left} ({json_type(recorded)})", f"{right} ({json_type(incoming)})"
        return left, right
    if len(repr(recorded)) <= half and len(repr(incoming)) <= half:
        return repr(recorded), repr(incoming)
    start = shared_prefix(recorded, incoming)
    # Some of what is equal, so that a reader finds the place.
    start = max(start - min(30, half // 3), 0)
    return show_window(recorded, start, half), show_window(incoming, start, half)


def one_line_difference(field_path: str, recorded: Any, incoming: Any, limit: int) -> str:
    """Return ``field x: recorded 'a', incoming 'b'`` in at most ``limit`` characters.

    Long strings are shown from where they differ, control characters are escaped.
    """
    path = escape(field_path or "(root)")
    most = limit // 3
    if len(path) > most:
        path = path[: most // 2] + ELLIPSIS + path[1 - (most - most // 2) :]
    parts = (f"field {path}: recorded ", ", incoming ")
    left, right = show_pair(recorded, incoming, limit - sum(map(len, parts)))
    return f"{parts[0]}{left}{parts[1]}{right}"[:limit]


def escape(text: str) -> str:
    """Return ``text`` with what a terminal would not print written as escapes."""
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else repr(char)[1:-1] for char in text)


def json_type(value: Any) -> str:
    """Return the word JSON has for a value's type."""
    return "null" if value is None else _JSON_TYPES.get(type(value), type(value).__name__)


def describe(value: Any, limit: int = 120) -> str:
    """Show a value by what a reader knows it by: a message's role and text, a tool's name."""
    if isinstance(value, dict) and isinstance(value.get("role"), str):
        text = _first_text(value.get("content"))
        return f"{value['role']} message" + (f" {show(text, limit)}" if text else "")
    if isinstance(value, dict) and isinstance(value.get("name"), str) and "parameters" in value:
        return f"tool {show(value['name'], limit)}"
    return show(value, limit)


def _first_text(content: Any) -> str:
    if isinstance(content, str):
        return content
    for block in content if isinstance(content, list) else ():
        if isinstance(block, dict):
            for key in ("text", "thinking", "name"):
                if isinstance(block.get(key), str) and block[key]:
                    return str(block[key])
    return ""


def shared_prefix(one: str, other: str) -> int:
    """Return how many characters two strings have in common at their start."""
    low, high = 0, min(len(one), len(other))
    if one[:high] == other[:high]:
        return high
    while high - low > 1:
        middle = (low + high) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle
    return low


def shared_suffix(one: str, other: str, limit: int) -> int:
    """Return how many characters, at most ``limit``, two strings have in common at their end."""
    low, high = 0, limit
    while low < high:
        middle = (low + high + 1) // 2
        if one[len(one) - middle : len(one) - low] == other[len(other) - middle : len(other) - low]:
            low = middle
        else:
            high = middle - 1
    return low
