"""Token counts of the Messages API."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from openprogram_core.providers import Usage


def read_usage(kept: Mapping[str, Any], said: Mapping[str, Any]) -> tuple[Usage, dict[str, Any]]:
    """Return the counts after one more usage object, and that object with what earlier ones said.

    The service's counts are running totals of the message: a later one replaces an earlier one, it is not
    added. ``input_tokens`` is already without the cached tokens.
    """
    merged = dict(kept)
    for name, value in said.items():
        # A server that repeats the object may leave counts out, or give 0, that it had told before.
        if value is not None and not (value == 0 and merged.get(name)):
            merged[name] = value
    details = merged.get("output_tokens_details")
    thinking = details.get("thinking_tokens") if isinstance(details, Mapping) else None
    usage = Usage(
        input=_count(merged.get("input_tokens")),
        output=_count(merged.get("output_tokens")),
        cache_read=_count(merged.get("cache_read_input_tokens")),
        cache_write=_count(merged.get("cache_creation_input_tokens")),
        reasoning=_count(thinking),
    )
    return usage, merged


def _count(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else 0
