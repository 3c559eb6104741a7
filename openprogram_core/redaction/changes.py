"""Changes to a JSON value: where they are, and how they are made in Python values and in JSON text.

Finding and making are apart, so that a JSON text keeps every byte that is not secret.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from openprogram_core.redaction.edits import PLACEHOLDER, Edit, Source, apply_edits


@dataclass
class Change:
    """What is to be done to one value; the root of a tree like the value's own.

    ``whole``: replace it all, because of that source. ``edits``: edit a string. ``keys`` renames a dict's
    keys, ``below`` holds the changes of its items by key or index.
    """

    whole: Source | None = None
    edits: Sequence[Edit] = ()
    keys: dict[Any, tuple[str, Source]] = field(default_factory=dict)
    below: dict[Any, Change] = field(default_factory=dict)


def apply_change(value: Any, change: Change | None) -> Any:
    """Return ``value`` with the change made; what is unchanged is the same object, nothing is altered."""
    if change is None:
        return value
    if change.whole is not None:
        return PLACEHOLDER.encode() if isinstance(value, bytes) else PLACEHOLDER
    if isinstance(value, str):
        return apply_edits(value, change.edits)
    if isinstance(value, bytes):
        return apply_edits(value.decode("latin-1"), change.edits).encode("latin-1")
    if isinstance(value, Mapping):
        return {
            change.keys[key][0] if key in change.keys else key: apply_change(item, change.below.get(key))
            for key, item in value.items()
        }
    items = [apply_change(item, change.below.get(index)) for index, item in enumerate(value)]
    if isinstance(value, tuple):
        return type(value)(*items) if hasattr(value, "_fields") else tuple(items)
    return items


_WHITE = re.compile(r"[ \t\n\r]*")
_DECODER = json.JSONDecoder(strict=False)
_ESCAPE = re.compile(r"\\(?:u[0-9a-fA-F]{4}|.)", re.DOTALL)


def json_text_edits(text: str, change: Change) -> list[Edit]:
    """Return the edits that make ``change`` in the JSON text of the value it was found in."""
    edits: list[Edit] = []
    _locate(text, _skip(text, 0), change, edits)
    return edits


def _skip(text: str, position: int) -> int:
    match = _WHITE.match(text, position)
    return match.end() if match is not None else position


def _locate(text: str, start: int, change: Change | None, edits: list[Edit]) -> int:
    """Add the edits of the value that begins at ``start`` and return where it ends."""
    if change is None or change.whole is not None:
        _, end = _DECODER.raw_decode(text, start)
        if change is not None and change.whole is not None:
            edits.append(Edit(start, end, f'"{PLACEHOLDER}"', change.whole))
        return end
    if text[start] == '"':
        return _locate_string(text, start, change.edits, edits)
    if text[start] == "{":
        return _locate_object(text, start, change, edits)
    position, index = _skip(text, start + 1), 0
    while text[position] != "]":
        position = _skip(text, _locate(text, position, change.below.get(index), edits))
        index += 1
        if text[position] == ",":
            position = _skip(text, position + 1)
    return position + 1


def _locate_object(text: str, start: int, change: Change, edits: list[Edit]) -> int:
    position = _skip(text, start + 1)
    while text[position] != "}":
        key, end = _DECODER.raw_decode(text, position)
        if key in change.keys:
            name, source = change.keys[key]
            edits.append(Edit(position, end, json.dumps(name, ensure_ascii=False), source))
        position = _skip(text, _skip(text, end) + 1)
        position = _skip(text, _locate(text, position, change.below.get(key), edits))
        if text[position] == ",":
            position = _skip(text, position + 1)
    return position + 1


def _locate_string(text: str, start: int, inner: Sequence[Edit], edits: list[Edit]) -> int:
    """Turn edits of a string's decoded text into edits of its JSON form; the rest keeps its escapes."""
    _, end = _DECODER.raw_decode(text, start)
    wanted = sorted({offset for edit in inner for offset in (edit.start, edit.end)})
    places: dict[int, int] = {}
    raw, count = start + 1, 0
    for offset in wanted:
        raw, count = _advance(text, raw, count, offset)
        places[offset] = raw
    for edit in inner:
        escaped = json.dumps(edit.text, ensure_ascii=False)[1:-1]
        edits.append(Edit(places[edit.start], places[edit.end], escaped, edit.source))
    return end


def _advance(text: str, raw: int, count: int, offset: int) -> tuple[int, int]:
    while count < offset:
        escape = text.find("\\", raw, raw + offset - count)
        if escape < 0:
            return raw + offset - count, offset
        count += escape - raw
        match = _ESCAPE.match(text, escape)
        if match is None:
            return escape, offset
        raw = match.end()
        count += 1
        if _is_high_surrogate(match.group()) and _is_low_surrogate(text[raw : raw + 6]):
            raw += 6
    return raw, count


def _is_high_surrogate(escape: str) -> bool:
    return escape[1] == "u" and 0xD800 <= int(escape[2:], 16) <= 0xDBFF


def _is_low_surrogate(escape: str) -> bool:
    return re.fullmatch(r"\\u[dD][c-fC-F][0-9a-fA-F]{2}", escape) is not None
