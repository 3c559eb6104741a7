"""Token counts of the Messages API."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from openprogram_core.providers import Usage
from openprogram_core.providers.adapter import count_in, object_in


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
    usage = Usage(
        input=count_in(merged, "input_tokens"),
        output=count_in(merged, "output_tokens"),
        cache_read=count_in(merged, "cache_read_input_tokens"),
        cache_write=count_in(merged, "cache_creation_input_tokens"),
        reasoning=count_in(object_in(merged, "output_tokens_details"), "thinking_tokens"),
    )
    return usage, merged
