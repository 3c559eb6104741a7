"""The ``openai`` SDK as both wire APIs use it: clients, the request, the payloads, the exceptions."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import AsyncIterator, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from openprogram_core.providers import (
    Context,
    MissingDependencyError,
    Model,
    ProviderError,
    StreamAssembler,
    StreamOptions,
)
from openprogram_core.providers.adapter import (
    LoopClients,
    WireCall,
    error_from_body,
    error_from_exception,
    merge_headers,
    provider_error,
    secret_headers,
    sendable,
)

if TYPE_CHECKING:
    import ssl

    import httpx2
    from openai import AsyncOpenAI

    from openprogram_openai.payloads import Payloads


async def _close(client: AsyncOpenAI) -> None:
    await client.close()


# An entry is a base URL: keys, headers and limits come with each request.
_CLIENTS: LoopClients[AsyncOpenAI] = LoopClients(_close)


class OpenAICall(WireCall):
    """A `WireCall` that posts a body through the SDK. Subclasses say where, what, and how to read it."""

    path: str

    def __init__(self, model: Model, context: Context, options: StreamOptions) -> None:
        super().__init__(StreamAssembler(model, context=context), options)
        self.model = model
        self.context = context
        self._stream: Payloads | None = None

    def body(self) -> dict[str, Any]:
        """Return the request's JSON. Raises `ProviderError` for what this wire API cannot say."""
        raise NotImplementedError

    async def open(self) -> AsyncIterator[Any]:
        """Send the request; the SDK raises for anything but 2xx."""
        body = _json(sendable(self.body()))
        headers: dict[str, Any] = dict(merge_headers(self.model, self.options))
        self.secrets += secret_headers(headers)
        client = await _client(self.model.base_url)
        from openai import omit

        from openprogram_openai.payloads import Payloads

        given = {name.lower() for name in headers}
        if "authorization" not in given:
            key = self.options.api_key
            headers["Authorization"] = f"Bearer {key}" if key else omit
        if "content-type" not in given:
            headers["Content-Type"] = "application/json"
        options: Any = {"headers": headers, "max_retries": max(0, self.options.max_retries)}
        if self.options.timeout_s is not None:
            options["timeout"] = self.options.timeout_s
        self._stream = await client.post(
            self.path, cast_to=object, content=body, options=options, stream=True, stream_cls=Payloads
        )
        await self._refuse_page(self._stream.response)
        return self._stream.payloads()

    async def _refuse_page(self, response: httpx2.Response) -> None:
        # A wrong base_url, a proxy or a login page answers 200, too, and would look like a stream cut off.
        content_type = response.headers.get("content-type", "").partition(";")[0].strip().lower()
        if response.status_code == 204 or content_type.endswith("html"):
            said = " ".join((await response.aread()).decode("utf-8", "replace").split())[:200]
            raise provider_error(
                "protocol",
                f"the answer is {content_type or 'empty'}, not a stream of events; is base_url right? "
                f"It says: {said}",
                retryable=False,
                status=response.status_code,
                secrets=self.secrets,
            )

    def classify(self, error: Exception) -> ProviderError | None:
        """Return what one of the SDK's exceptions means."""
        return classify(error, self.secrets)

    async def close(self) -> None:
        """Close the response, and with it the connection unless it was read to its end."""
        if self._stream is not None:
            await self._stream.close()


def _json(body: Any) -> bytes:
    try:
        return json.dumps(body, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()
    except (TypeError, ValueError) as error:
        raise ProviderError("invalid_request", f"the request is no JSON: {error}") from error


def classify(error: Exception, secrets: list[str]) -> ProviderError | None:
    """Return the `ProviderError` for an exception of the SDK, None for one that is not the SDK's."""
    sdk = sys.modules.get("openai")
    if sdk is None or not isinstance(error, sdk.OpenAIError):
        return None
    if isinstance(error, sdk.APIStatusError):
        headers: Mapping[str, str] = error.response.headers
        return error_from_body(
            error.body if isinstance(error.body, dict) else error.response.text,
            status=error.status_code,
            headers=headers,
            secrets=secrets,
        )
    if isinstance(error, sdk.APIConnectionError):
        return error_from_exception(error, secrets=secrets) or provider_error(
            "timeout" if isinstance(error, sdk.APITimeoutError) else "network", str(error), secrets=secrets
        )
    if isinstance(error, sdk.APIResponseValidationError):
        return provider_error("protocol", str(error), secrets=secrets)
    if isinstance(error, sdk.APIError):
        # An error object inside the stream. The service failed, whatever it says or does not say about it.
        return error_from_body(
            error.body, default="overloaded", fallback_message=error.message, secrets=secrets
        )
    return provider_error("invalid_request", str(error), secrets=secrets)


@cache
def _tls() -> ssl.SSLContext:
    # Reading the certificates takes longer than all else a client needs, and any loop may use them.
    from httpx2 import create_ssl_context

    return create_ssl_context()


async def _client(base_url: str | None) -> AsyncOpenAI:
    try:
        import httpx2  # noqa: F401 - an SDK that is too old brings another one
        from openai import AsyncOpenAI, DefaultAsyncHttpxClient
    except ImportError as error:
        raise MissingDependencyError("openai>=3.57", "openai") from error
    address = base_url or os.environ.get("OPENAI_BASE_URL") or None

    def make() -> AsyncOpenAI:
        http_client = DefaultAsyncHttpxClient(verify=_tls())
        # The key here is never sent: each request brings its own, or none.
        return AsyncOpenAI(api_key="unused", base_url=address, max_retries=0, http_client=http_client)

    return await _CLIENTS.get(address, make)
