"""JSON as recordings hold it: every Python value that is JSON survives the trip.

NaN and the infinities stay what they are, integers keep all digits, ``-0.0`` its sign, and lone surrogates
are written as escapes. That is a superset of RFC 8259, the one Python's own ``json`` reads.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from openprogram_core.errors import OpenProgramError

if TYPE_CHECKING:
    from pydantic import BaseModel

MAX_DEPTH = 128
"""Deepest nesting of a row."""

MOST_CONTAINERS = 1_000_000
MOST_VALUES = 8_000_000
"""Bounds of what one JSON text may hold, far beyond what a provider call has."""

_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
_encode_ascii = json.JSONEncoder(ensure_ascii=True, separators=(",", ":")).encode


class JsonFaultError(OpenProgramError):
    """Bytes are no JSON this project reads. The message is the reason alone, without a place."""


def dump_json(value: Any) -> bytes:
    """Encode a JSON value as compact UTF-8 without a newline. Raises TypeError for what is no JSON value."""
    try:
        return _encode(value).encode()
    except UnicodeEncodeError:
        # A lone surrogate has no UTF-8 form; as an escape it survives.
        return _encode_ascii(value).encode()


def dump_model(model: BaseModel) -> bytes:
    """Encode a pydantic model like `dump_json` its JSON dump, in one pass where that is possible."""
    try:
        return model.__pydantic_serializer__.to_json(model)
    except ValueError:
        # Pydantic refuses lone surrogates. Not its JSON mode first: that one replaces them in keys, silently.
        try:
            return dump_json(model.model_dump())
        except TypeError:
            return dump_json(model.model_dump(mode="json"))


def _refuse_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                shown = key if len(key) <= 64 else key[:64] + "…"
                raise JsonFaultError(f"the key {shown!r} stands twice in one object")
            seen.add(key)
    return made


_decode = json.JSONDecoder(object_pairs_hook=_refuse_duplicates).decode


def parse_json(data: bytes, *, depth: int = MAX_DEPTH) -> Any:
    """Decode UTF-8 JSON. Raises `JsonFaultError` with the reason.

    Refused are invalid UTF-8, what is no JSON, a key twice in one object, nesting deeper than ``depth``, and
    more values than any row has: each takes many times its bytes of memory.
    """
    if len(data) > MOST_CONTAINERS and (
        data.count(b"[") + data.count(b"{") > MOST_CONTAINERS or data.count(b",") > MOST_VALUES
    ):
        raise JsonFaultError(f"more than {MOST_CONTAINERS:,} lists and objects, or {MOST_VALUES:,} values")
    try:
        value = _decode(data.decode())
    except UnicodeDecodeError as error:
        raise JsonFaultError(f"invalid UTF-8 at byte {error.start + 1} of the line") from None
    except RecursionError:
        raise JsonFaultError(f"nested deeper than {depth} levels") from None
    except json.JSONDecodeError as error:
        raise JsonFaultError(f"no valid JSON: {error.msg} at character {error.pos + 1} of the line") from None
    except ValueError:
        # Python's own limit for turning digits into an int, which a hostile number would make slow.
        raise JsonFaultError("an integer with more than 4,300 digits") from None
    if may_nest_deeper(data, depth) and is_deeper(value, depth):
        raise JsonFaultError(f"nested deeper than {depth} levels")
    return value


def may_nest_deeper(data: bytes, limit: int = MAX_DEPTH) -> bool:
    """Whether JSON text has brackets enough to nest deeper than ``limit``; cheap, and wrong only on Yes."""
    return len(data) > 2 * limit and data.count(b"{") + data.count(b"[") > limit


def is_deeper(value: Any, limit: int = MAX_DEPTH) -> bool:
    """Whether lists and dicts nest deeper than ``limit`` in a JSON value. No recursion."""
    level = [value] if isinstance(value, dict | list) else []
    depth = 0
    while level:
        depth += 1
        if depth > limit:
            return True
        level = [
            inner
            for outer in level
            for inner in (outer.values() if isinstance(outer, dict) else outer)
            if isinstance(inner, dict | list)
        ]
    return False
