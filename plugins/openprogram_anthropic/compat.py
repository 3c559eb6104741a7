"""Departures of servers from the Messages API: what a `Model`'s ``compat`` may hold."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict


class MessagesCompat(BaseModel):
    """``Model.compat`` of ``anthropic-messages``."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    thinking: Literal["budget", "adaptive"] | None = None
    """How a level of reasoning is said: as a budget of tokens or as an effort. None: what the id says."""

    unsigned_thinking: bool = False
    """Whether thinking that came without a signature goes back."""
