"""Token counts of the Gemini API."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from openprogram_core.providers import Usage
from openprogram_core.providers.adapter import count_in


def read_usage(said: Mapping[str, Any]) -> Usage:
    """Return the counts of a ``usageMetadata`` object.

    The service counts cached tokens as part of the prompt and thoughts beside the candidates; here ``input``
    is without the cached ones (and with what server-side tools read), ``output`` with the thoughts.
    """
    cached, thoughts = count_in(said, "cachedContentTokenCount"), count_in(said, "thoughtsTokenCount")
    prompt = count_in(said, "promptTokenCount") + count_in(said, "toolUsePromptTokenCount")
    return Usage(
        input=max(0, prompt - cached),
        output=count_in(said, "candidatesTokenCount") + thoughts,
        cache_read=cached,
        reasoning=thoughts,
        total_tokens=count_in(said, "totalTokenCount"),
    )
