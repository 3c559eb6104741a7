"""The wire APIs ``openai-completions`` and ``openai-responses`` over the official ``openai`` SDK.

They serve every model and server that speaks them: set ``base_url`` of the `Model`, and ``compat`` where the
server departs from the API (`CompletionsCompat`, `ResponsesCompat`). The SDK is imported at the first call.

PYTEST_DONT_REWRITE: no assertions in here, and pytest need not warn that it comes too late for them.
"""

from __future__ import annotations

from collections.abc import Mapping

from openprogram_core import hookimpl
from openprogram_core.providers import ApiProvider
from openprogram_openai.compat import CompletionsCompat, ResponsesCompat
from openprogram_openai.completions import OpenAICompletionsProvider
from openprogram_openai.responses import OpenAIResponsesProvider

__all__ = [
    "CompletionsCompat",
    "OpenAICompletionsProvider",
    "OpenAIResponsesProvider",
    "ResponsesCompat",
    "api_providers",
]


@hookimpl
def api_providers() -> Mapping[str, ApiProvider]:
    """Serve the two wire APIs of OpenAI."""
    return {
        "openai-completions": OpenAICompletionsProvider(),
        "openai-responses": OpenAIResponsesProvider(),
    }
