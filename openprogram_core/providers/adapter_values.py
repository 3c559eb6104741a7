"""Fields of what a service sent, held to the type they must have.

A service that sends a number for a text breaks its own API. Read through these functions it becomes an error
of kind ``protocol`` that names the field, before anything of it has reached the message.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from openprogram_core.errors import ProviderError


def text_in(value: Mapping[str, Any], name: str) -> str:
    """Return a field's text, empty when missing or null. Raises `ProviderError` of kind ``protocol``."""
    found = value.get(name)
    if found is None or isinstance(found, str):
        return found or ""
    raise _wrong(name, "a text", found)


def object_in(value: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Return a field's object, empty when it is missing or null; raises like `text_in`."""
    found = value.get(name)
    if found is None or isinstance(found, dict):
        return found or {}
    raise _wrong(name, "an object", found)


def list_in(value: Mapping[str, Any], name: str) -> list[Any]:
    """Return a field's list, empty when it is missing or null; raises like `text_in`."""
    found = value.get(name)
    if found is None or isinstance(found, list):
        return found or []
    raise _wrong(name, "a list", found)


def objects_in(value: Mapping[str, Any], name: str) -> list[dict[str, Any]]:
    """Return a field's list of objects, empty when it is missing or null; raises like `text_in`."""
    found = list_in(value, name)
    for item in found:
        if not isinstance(item, dict):
            raise _wrong(name, "a list of objects", item)
    return found


def count_in(value: Mapping[str, Any], name: str) -> int:
    """Return a field's count, 0 when it is missing or no whole number: a wrong count spoils no message."""
    found = value.get(name)
    return found if isinstance(found, int) and not isinstance(found, bool) else 0


def _wrong(name: str, expected: str, found: object) -> ProviderError:
    return ProviderError(
        "protocol",
        f"the service sent {type(found).__name__} as {name!r}, where its API has {expected}",
        retryable=True,
    )
