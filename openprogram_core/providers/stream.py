"""The one door through which agent code calls a model."""

from __future__ import annotations

import ipaddress
import os
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import TypeVar
from urllib.parse import urlsplit

from openprogram_core.errors import MissingCredentialsError, ProviderError
from openprogram_core.providers.api_registry import get_api_provider
from openprogram_core.providers.events import AssistantMessageEvent, DoneEvent, ErrorEvent
from openprogram_core.providers.messages import AssistantMessage, Context, Model
from openprogram_core.providers.options import SimpleStreamOptions, StreamOptions
from openprogram_core.providers.provider import ApiProvider

Options = TypeVar("Options", StreamOptions, SimpleStreamOptions)


def stream(
    model: Model, context: Context, options: StreamOptions | None = None
) -> AsyncGenerator[AssistantMessageEvent, None]:
    """Call a model and return its events.

    The provider is looked up by ``model.api`` at once, so `UnknownApiError` and `MissingCredentialsError`
    come from this call; the request goes out when the first event is asked for, and `ProviderError` comes
    from there. Close the generator (``contextlib.aclosing``) when you leave it early.
    """
    provider = get_api_provider(model.api)
    return provider.stream(model, context, with_credentials(provider, model, options or StreamOptions()))


def stream_simple(
    model: Model, context: Context, options: SimpleStreamOptions | None = None
) -> AsyncGenerator[AssistantMessageEvent, None]:
    """Like `stream`, with options that mean the same for every vendor."""
    provider = get_api_provider(model.api)
    return provider.stream_simple(
        model, context, with_credentials(provider, model, options or SimpleStreamOptions())
    )


async def complete(model: Model, context: Context, options: StreamOptions | None = None) -> AssistantMessage:
    """Call a model and return the whole message.

    Look at ``stop_reason``: a stream that failed after it had begun gives a message with ``error`` or
    ``aborted`` and what had come. Raises like `stream`, and `ProviderError` of kind ``protocol`` when the
    stream ended without ``done`` or ``error``.
    """
    __tracebackhide__ = True
    return await _drain(stream(model, context, options))


async def complete_simple(
    model: Model, context: Context, options: SimpleStreamOptions | None = None
) -> AssistantMessage:
    """Like `complete`, with options that mean the same for every vendor."""
    __tracebackhide__ = True
    return await _drain(stream_simple(model, context, options))


async def _drain(events: AsyncGenerator[AssistantMessageEvent, None]) -> AssistantMessage:
    __tracebackhide__ = True
    message: AssistantMessage | None = None
    async with aclosing(events):
        async for event in events:
            if isinstance(event, DoneEvent):
                message = event.message
            elif isinstance(event, ErrorEvent):
                message = event.error
    if message is None:
        raise ProviderError("protocol", "the stream ended without done or error", retryable=True)
    return message


def with_credentials(provider: ApiProvider, model: Model, options: Options) -> Options:
    """Return ``options`` with the key from the environment where they have none and the provider wants one.

    A server on this machine, and a call that brings its own credentials in a header, need none. Raises
    `MissingCredentialsError`, which names the variables looked at.
    """
    if not provider.requires_credentials or options.api_key:
        return options
    variables = provider.api_key_variables(model)
    for variable in variables:
        key = os.environ.get(variable)
        if key:
            return options.model_copy(update={"api_key": key})
    if _is_loopback(model.base_url) or _carries_credentials(model, options):
        return options
    raise MissingCredentialsError(model.provider, variables)


def _carries_credentials(model: Model, options: StreamOptions) -> bool:
    names = {name.lower() for name in (*model.headers, *options.headers)}
    return bool(names & {"authorization", "api-key", "x-api-key", "x-goog-api-key"})


def _is_loopback(base_url: str | None) -> bool:
    # A local server seldom wants a key; one that does answers 401 and says so.
    host = urlsplit(base_url).hostname if base_url else None
    if host is None:
        return False
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")
