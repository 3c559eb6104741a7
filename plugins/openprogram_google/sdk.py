"""The one place that touches the vendor's SDK."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote

from openprogram_core.providers import MissingDependencyError, Model, StreamOptions

if TYPE_CHECKING:
    import httpx2

DEFAULT_TIMEOUT_S = 600.0
"""The longest wait for a piece of an answer where the options do not say; the SDK's own is for ever."""

_KEY_HEADER = "x-goog-api-key"
_NO_KEY = "none"
_ENDS_IN_VERSION = re.compile(r"/v\d+(?:alpha|beta)?\d*/?$")


class GoogleClient(NamedTuple):
    """The SDK's client and the HTTP client that was given to it, which it leaves to us to close."""

    sdk: Any
    http: httpx2.AsyncClient

    async def close(self) -> None:
        """Close both."""
        await self.http.aclose()
        self.sdk.close()


def make_client() -> GoogleClient:
    """Return a client; keys, addresses and limits come with each request.

    Raises `MissingDependencyError` when the SDK is not installed.
    """
    try:
        from google import genai
    except ImportError as error:
        # The namespace "google" may be there, brought by another package.
        if error.name not in ("google", "google.genai"):
            raise
        raise MissingDependencyError("google-genai", "google") from error
    import httpx2
    from google.genai import types

    # Given a client of this kind the SDK uses no other, whatever else is installed.
    http = httpx2.AsyncClient(follow_redirects=True)
    http_options = types.HttpOptions(httpx_async_client=http)
    return GoogleClient(genai.Client(api_key=_NO_KEY, vertexai=False, http_options=http_options), http)


async def send(
    client: GoogleClient,
    model: Model,
    body: dict[str, Any],
    headers: dict[str, str],
    options: StreamOptions,
) -> httpx2.Response:
    """Send one request and return the open response of a good status; raises the SDK's errors.

    A version at the end of ``model.base_url`` is the API's version. The SDK's typed method drops what its
    types do not know, rewrites signatures, continues an answer by itself, and takes a comment in the stream
    for a broken answer. One step below it, the SDK still makes the address, the headers, the retries and the
    errors, and the answer comes through whole.
    """
    from google.genai import types

    sdk = client.sdk._api_client
    version = "" if model.base_url and _ENDS_IN_VERSION.search(model.base_url) else None
    http_options = types.HttpOptions(base_url=model.base_url, api_version=version, headers=headers)
    if options.max_retries:
        http_options.retry_options = types.HttpRetryOptions(attempts=options.max_retries + 1)
    name = model.id if model.id.startswith(("models/", "tunedModels/")) else f"models/{model.id}"
    path = f"{quote(name, safe='/')}:streamGenerateContent?alt=sse"
    request = sdk._build_request("post", path, body, http_options)
    # Set here and not through the SDK's options, which would tell the service to stop after this time.
    request.timeout = options.timeout_s if options.timeout_s is not None else DEFAULT_TIMEOUT_S
    if options.api_key:
        request.headers[_KEY_HEADER] = options.api_key
    elif request.headers.get(_KEY_HEADER) == _NO_KEY:
        del request.headers[_KEY_HEADER]
    answer = await sdk._async_request(http_request=request, http_options=http_options, stream=True)
    response: httpx2.Response = answer.response_stream
    return response
