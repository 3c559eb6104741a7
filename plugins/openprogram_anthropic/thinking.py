"""How much to think, in the words of the Messages API."""

from __future__ import annotations

import re
from typing import Any, Literal

from openprogram_anthropic.compat import MessagesCompat
from openprogram_core.providers import Model, ProviderError, SimpleStreamOptions
from openprogram_core.providers.adapter import read_compat

SMALLEST_BUDGET = 1024
"""The service's least number of thinking tokens."""

BUDGETS = {"minimal": 1024, "low": 2048, "medium": 8192, "high": 16384, "xhigh": 32768}
"""Thinking tokens of a level, where the caller's ``thinking_budgets`` do not say."""

_EFFORTS = {"minimal": "low", "low": "low", "medium": "medium", "high": "high", "xhigh": "xhigh"}
# Claude up to 4.5 counts a budget, and so do the other models that speak this API; later ones decide by
# themselves and take an effort.
_TAKES_EFFORT = re.compile(
    r"claude-(?!\d|instant)(?![a-z]+-(?:3|4(?:[-.][0-5])?)(?:-\d{8}|-latest|@|:|$))[a-z]+-"
)


def thinking_mode(model: Model) -> Literal["budget", "adaptive"]:
    """Return how ``model`` is told to think: ``compat["thinking"]``, else what its id says."""
    said = read_compat(model, MessagesCompat).thinking
    return said or _said_by_id(model)


def _said_by_id(model: Model) -> Literal["budget", "adaptive"]:
    return "adaptive" if _TAKES_EFFORT.search(model.id) else "budget"


def thinking_fields(model: Model, options: SimpleStreamOptions, max_tokens: int) -> dict[str, Any]:
    """Return the request fields for ``options.reasoning``.

    A model without ``reasoning`` is told nothing. A budget counts towards ``max_tokens``, so it is lowered to
    fit. Raises `ProviderError` of kind ``invalid_request`` when there is no room for the smallest one.
    """
    level = options.reasoning
    if level is None or not model.reasoning:
        return {}
    if level == "off":
        return {"thinking": {"type": "disabled"}}
    if level not in options.thinking_budgets and thinking_mode(model) == "adaptive":
        return {"thinking": {"type": "adaptive"}, "output_config": {"effort": _EFFORTS[level]}}
    budget = min(options.thinking_budgets.get(level, BUDGETS[level]), max_tokens - 1)
    if budget < SMALLEST_BUDGET:
        raise ProviderError(
            "invalid_request",
            f"reasoning {level!r} needs a max_tokens above {SMALLEST_BUDGET} and a budget of at least that; "
            f"max_tokens is {max_tokens}, the budget {budget}. Raise them, or set reasoning to 'off'",
        )
    return {"thinking": {"type": "enabled", "budget_tokens": budget}}


def room_for_thinking(model: Model, options: SimpleStreamOptions) -> int:
    """Return the tokens a default limit must leave for thinking, 0 where no budget is counted."""
    level = options.reasoning
    if level is None or level == "off" or not model.reasoning:
        return 0
    if level not in options.thinking_budgets and thinking_mode(model) == "adaptive":
        return 0
    return options.thinking_budgets.get(level, BUDGETS[level])
