"""Models that point at a scripted server."""

from __future__ import annotations

from typing import Any

from openprogram_core.providers import ApiProvider, Model
from openprogram_openai import OpenAICompletionsProvider, OpenAIResponsesProvider
from tests.support.wire_server import WireServer

PROVIDERS: dict[str, ApiProvider] = {
    "openai-completions": OpenAICompletionsProvider(),
    "openai-responses": OpenAIResponsesProvider(),
}


def model_at(server: WireServer, api: str, **fields: Any) -> Model:
    """Return a model of ``api`` whose service is ``server``; it needs no key there."""
    defaults: dict[str, Any] = {"id": "m", "provider": "local", "base_url": f"{server.url}/v1"}
    return Model(api=api, **{**defaults, **fields})
