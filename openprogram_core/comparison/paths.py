"""Field paths: how a place in a request is written, and read back.

``context.messages[2].content[0].text``. A key that is no plain identifier is quoted: ``headers["x-id"]``. The
root is the empty path.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from enum import Enum
from typing import Literal, TypeAlias

from openprogram_core.errors import OpenProgramError


class _AnyIndex(Enum):
    ANY_INDEX = "*"


ANY_INDEX = _AnyIndex.ANY_INDEX
"""``[*]`` in a declared path: every index of a list."""

Segment: TypeAlias = str | int
"""One step: a dict's key or a list's index."""

PatternSegment: TypeAlias = str | int | Literal[_AnyIndex.ANY_INDEX]

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_TOKEN = re.compile(
    r'\.?(?P<name>[^.\[\]"]+)|\[(?:(?P<index>\d+)|(?P<any>\*)|(?P<quoted>"(?:[^"\\]|\\.)*"))\]'
)


class FieldPathError(OpenProgramError):
    """A field path that cannot be read. ``path`` is the text."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(
            f"field path {path!r}: {reason}. Write a name ('timestamp'), or a path from the request's root "
            "('context.messages[*].id', 'options.headers[\"x-request-id\"]')"
        )
        self.path = path
        self.reason = reason


def join_path(path: str, segment: Segment) -> str:
    """Return ``path`` with one step added."""
    return path + _written(segment, not path)


def format_path(segments: Iterable[Segment], path: str = "") -> str:
    """Return the path of several steps below ``path``."""
    return "".join([path, *(_written(one, not path and place == 0) for place, one in enumerate(segments))])


def any_index_path(path: str) -> str:
    """Return ``path`` with ``[*]`` for every index: how it is declared as a skip. Raises `FieldPathError`."""
    written = ""
    for segment in parse_path(path):
        written = join_path(written, segment) if isinstance(segment, str) else f"{written}[*]"
    return written


def _written(segment: Segment, first: bool) -> str:
    if type(segment) is int:
        return f"[{segment}]"
    key = str(segment)
    if _PLAIN.fullmatch(key):
        return key if first else f".{key}"
    # What a terminal would not print is escaped; the rest stays readable.
    return f"[{json.dumps(key, ensure_ascii=not key.isprintable())}]"


def parse_path(path: str) -> tuple[PatternSegment, ...]:
    """Read a path back, ``[*]`` included. Raises `FieldPathError`."""
    segments: list[PatternSegment] = []
    position = 0
    while position < len(path):
        token = _TOKEN.match(path, position)
        if token is None or (token["name"] and (token[0][0] == ".") != (position > 0)):
            raise FieldPathError(path, f"not understood from character {position}: {path[position:][:40]!r}")
        if token["name"]:
            segments.append(token["name"])
        elif token["index"]:
            segments.append(int(token["index"]))
        elif token["any"]:
            segments.append(ANY_INDEX)
        else:
            try:
                segments.append(json.loads(token["quoted"]))
            except ValueError as error:
                raise FieldPathError(path, f"the quoted key {token['quoted']} is no JSON string") from error
        position = token.end()
    return tuple(segments)
