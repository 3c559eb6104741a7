"""JSON as recordings hold it: every Python value that is JSON survives the trip.

NaN and the infinities stay what they are, integers keep all digits, ``-0.0`` its sign, and lone surrogates
are written as escapes. That is a superset of RFC 8259, the one Python's own ``json`` reads.
"""

from __future__ import annotations

import json
from typing import Any

from pydantic import BaseModel
from pydantic_core import PydanticSerializationError

MAX_DEPTH = 128
"""Deepest nesting of a row."""

_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
_encode_ascii = json.JSONEncoder(ensure_ascii=True, separators=(",", ":")).encode


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
    except PydanticSerializationError:
        return dump_json(model.model_dump(mode="json"))
