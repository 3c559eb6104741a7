"""A vendor's plugin: its wire API ``orbit-chat``, and the fields in which no two of its calls are alike."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from openprogram_core import hookimpl
from openprogram_core.comparison import FieldSkip, FieldVerdict
from openprogram_core.providers import ApiProvider
from orbit_ai.provider import OrbitProvider


@hookimpl
def api_providers() -> Mapping[str, ApiProvider]:
    """Give the wire API."""
    return {"orbit-chat": OrbitProvider()}


@hookimpl
def field_skips() -> Iterable[FieldSkip]:
    """Give the number that Orbit wants anew with every request."""
    return [FieldSkip("options.extra_body.orbit_nonce", reason="Orbit wants a new one with every request")]


@hookimpl
def compare_field(field_path: str, recorded: Any, incoming: Any) -> FieldVerdict | None:
    """Let two spellings of one model of Orbit's be the same."""
    if field_path != "model.id" or not isinstance(recorded, str) or not isinstance(incoming, str):
        return None
    if recorded.removesuffix("-latest") == incoming.removesuffix("-latest"):
        return FieldVerdict.SKIP
    return None
