"""Departures of servers from OpenAI's wire APIs: what a `Model`'s ``compat`` may hold."""

from __future__ import annotations

import os
from typing import Literal
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field

from openprogram_core.providers import Model

Effort = Literal["off", "minimal", "low", "medium", "high", "xhigh"]


class _Compat(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    system_role: Literal["system", "developer"] | None = None
    """Role of the system prompt. None: ``developer`` for a reasoning model at OpenAI, else ``system``."""

    efforts: dict[Effort, str | None] = Field(default_factory=dict)
    """The server's word for a level of reasoning; None sends nothing. ``off`` is ``none`` by default."""

    strict_tools: bool = True
    """Whether the server knows a tool's ``strict``."""

    call_id_length: int | None = None
    """Exact length of tool call ids, letters and digits only, where a server insists (Mistral: 9)."""


class CompletionsCompat(_Compat):
    """``Model.compat`` of ``openai-completions``."""

    max_tokens_field: Literal["max_tokens", "max_completion_tokens"] | None = None
    """None: ``max_completion_tokens`` at OpenAI, ``max_tokens`` elsewhere."""

    stream_usage: bool = True
    """Whether to ask for the usage chunk (``stream_options``)."""

    reasoning: Literal["effort", "openrouter", "qwen", "none"] = "effort"
    """How a level of reasoning is said: ``reasoning_effort``; ``reasoning: {effort | max_tokens}``;
    ``enable_thinking`` and ``thinking_budget``; or not at all."""

    thinking: Literal["drop", "reasoning", "reasoning_content", "tags"] = "drop"
    """How earlier thinking goes back to the server it came from: not at all, in a field of that name, or as
    ``<think>`` in the text. OpenRouter's signed ``reasoning_details`` go back whatever this says."""

    tool_images: Literal["user", "tool"] = "user"
    """Where images in tool results go: into a user message behind the results, or into the result itself."""

    tool_name: bool = False
    """Whether a tool result carries the tool's ``name``."""


class ResponsesCompat(_Compat):
    """``Model.compat`` of ``openai-responses``."""

    store: bool | None = False
    """Whether the service keeps the response; None leaves it to the service."""

    reasoning_summary: Literal["auto", "concise", "detailed"] | None = "auto"
    """Which summary of the reasoning to ask for when a level of reasoning is set."""

    encrypted_reasoning: bool = True
    """Whether a reasoning model is asked for its encrypted reasoning, without which its thinking cannot be
    sent back."""


def is_openai(model: Model) -> bool:
    """Whether ``model`` is served by OpenAI itself."""
    base_url = model.base_url or os.environ.get("OPENAI_BASE_URL")
    host = urlsplit(base_url).hostname if base_url else "api.openai.com"
    return host is not None and (host == "openai.com" or host.endswith(".openai.com"))


def system_role(model: Model, compat: _Compat) -> str:
    """Return the role the system prompt takes."""
    default = "developer" if model.reasoning and is_openai(model) else "system"
    return compat.system_role or default
