"""Token counts of the Gemini API."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from openprogram_core.providers import Usage


def read_usage(said: Mapping[str, Any]) -> Usage:
    """Return the counts of a ``usageMetadata`` object.

    The service counts cached tokens as part of the prompt and thoughts beside the candidates; here ``input``
    is without the cached ones (and with what server-side tools read), ``output`` with the thoughts.
    """

    def count(name: str) -> int:
        value = said.get(name)
        return value if isinstance(value, int) and not isinstance(value, bool) else 0

    cached, thoughts = count("cachedContentTokenCount"), count("thoughtsTokenCount")
    prompt = count("promptTokenCount") + count("toolUsePromptTokenCount")
    return Usage(
        input=max(0, prompt - cached),
        output=count("candidatesTokenCount") + thoughts,
        cache_read=cached,
        reasoning=thoughts,
        total_tokens=count("totalTokenCount"),
    )
