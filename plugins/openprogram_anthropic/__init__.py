"""The wire API ``anthropic-messages``: Anthropic's Messages API and servers that speak it.

PYTEST_DONT_REWRITE: no assertions in here, and pytest need not warn that it comes too late for them.
"""

from __future__ import annotations

from openprogram_anthropic.compat import MessagesCompat
from openprogram_anthropic.provider import API, AnthropicMessagesProvider
from openprogram_core import hookimpl
from openprogram_core.providers import ApiProvider

__all__ = ["API", "AnthropicMessagesProvider", "MessagesCompat", "api_providers"]


@hookimpl
def api_providers() -> dict[str, ApiProvider]:
    """Bring ``anthropic-messages``."""
    return {API: AnthropicMessagesProvider()}
