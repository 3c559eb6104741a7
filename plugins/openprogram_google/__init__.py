"""The wire API ``google-generative-ai``: Google's Gemini API and servers that speak it.

PYTEST_DONT_REWRITE: no assertions in here, and pytest need not warn that it comes too late for them.
"""

from __future__ import annotations

from openprogram_core import hookimpl
from openprogram_core.providers import ApiProvider
from openprogram_google.compat import GenerateCompat
from openprogram_google.provider import API, GoogleGenerativeAiProvider

__all__ = ["API", "GenerateCompat", "GoogleGenerativeAiProvider", "api_providers"]


@hookimpl
def api_providers() -> dict[str, ApiProvider]:
    """Bring ``google-generative-ai``."""
    return {API: GoogleGenerativeAiProvider()}
