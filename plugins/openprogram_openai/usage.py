"""Token counts, from the objects of both wire APIs and of the servers that speak them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from openprogram_core.providers import Usage


def completions_usage(usage: Mapping[str, Any]) -> Usage:
    """Return the counts of a ``usage`` object of Chat Completions.

    ``prompt_cache_hit_tokens`` is DeepSeek's name for the cached ones. A server that counts reasoning beside
    the completion shows it by its total.
    """
    details = _object(usage, "prompt_tokens_details")
    prompt, completion = _count(usage, "prompt_tokens"), _count(usage, "completion_tokens")
    cached = _count(details, "cached_tokens") or _count(usage, "prompt_cache_hit_tokens")
    reasoning = _count(_object(usage, "completion_tokens_details"), "reasoning_tokens")
    total = _count(usage, "total_tokens")
    if reasoning and total == prompt + completion + reasoning:
        completion += reasoning
    return _usage(prompt, completion, cached, _count(details, "cache_write_tokens"), reasoning, total)


def responses_usage(usage: Mapping[str, Any]) -> Usage:
    """Return the counts of a ``usage`` object of Responses."""
    details = _object(usage, "input_tokens_details")
    return _usage(
        _count(usage, "input_tokens"),
        _count(usage, "output_tokens"),
        _count(details, "cached_tokens"),
        _count(details, "cache_write_tokens"),
        _count(_object(usage, "output_tokens_details"), "reasoning_tokens"),
        _count(usage, "total_tokens"),
    )


def _usage(prompt: int, output: int, cached: int, written: int, reasoning: int, total: int) -> Usage:
    return Usage(
        input=max(0, prompt - cached - written),
        output=output,
        cache_read=cached,
        cache_write=written,
        reasoning=reasoning,
        total_tokens=total or prompt + output,
    )


def _object(value: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    inner = value.get(name)
    return inner if isinstance(inner, Mapping) else {}


def _count(value: Mapping[str, Any], name: str) -> int:
    count = value.get(name)
    return int(count) if isinstance(count, int | float) and not isinstance(count, bool) else 0
