"""Departures of models and servers from the Gemini API: what a `Model`'s ``compat`` may hold."""

from __future__ import annotations

import re
from typing import Literal

from pydantic import BaseModel, ConfigDict

from openprogram_core.providers import Model
from openprogram_core.providers.adapter import read_compat

_BEFORE_GEMINI_3 = re.compile(r"gemini-[12](?:\b|[.-])")


class GenerateCompat(BaseModel):
    """``Model.compat`` of ``google-generative-ai``. What is None is what the model's id says."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    thinking: Literal["budget", "level"] | None = None
    """How a level of reasoning is said: as a budget of tokens (Gemini 2.5) or as a level (later)."""

    images_beside_results: bool | None = None
    """Whether images of a tool's result go beside the function's response (Gemini 1 and 2) or into it."""

    checks_signatures: bool | None = None
    """Whether the service refuses calls without a signature (Gemini 3 and later), so that the calls of
    another model need a stand-in."""


def settled_compat(model: Model) -> GenerateCompat:
    """Return ``model.compat`` with every question answered. Raises `ProviderError` for what is unknown."""
    said = read_compat(model, GenerateCompat)
    older = _BEFORE_GEMINI_3.search(model.id) is not None
    answers = {
        "thinking": "budget" if older else "level",
        "images_beside_results": older,
        "checks_signatures": not older,
    }
    given = {name: value for name, value in said.model_dump().items() if value is not None}
    return GenerateCompat(**{**answers, **given})
