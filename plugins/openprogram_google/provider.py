"""``google-generative-ai`` over the vendor's SDK."""

from __future__ import annotations

import contextlib
import json
from collections.abc import AsyncGenerator, Iterable
from typing import TYPE_CHECKING

from openprogram_core.providers import (
    ApiProvider,
    AssistantMessageEvent,
    Context,
    Model,
    ProviderError,
    StreamAssembler,
    StreamOptions,
)
from openprogram_core.providers.adapter import (
    LoopClients,
    WireCall,
    error_from_body,
    merge_headers,
    run_wire_call,
    secret_headers,
    with_credentials,
)
from openprogram_google.reader import StreamReader
from openprogram_google.request import build_body
from openprogram_google.sdk import GoogleClient, make_client, send

if TYPE_CHECKING:
    import httpx2

API = "google-generative-ai"


class GoogleGenerativeAiProvider(ApiProvider):
    """Calls the Gemini API, Google's or one that speaks it at ``model.base_url``.

    `GenerateCompat` says what ``model.compat`` may hold.
    """

    def __init__(self) -> None:
        self._clients: LoopClients[GoogleClient] = LoopClients(lambda client: client.close())

    def stream(
        self, model: Model, context: Context, options: StreamOptions | None = None
    ) -> AsyncGenerator[AssistantMessageEvent, None]:
        """Return the events of one call; see `ApiProvider.stream`.

        Also raises `MissingCredentialsError` and `MissingDependencyError`, from the first step.
        """
        return self._stream(model, context, options or StreamOptions())

    async def _stream(
        self, model: Model, context: Context, options: StreamOptions
    ) -> AsyncGenerator[AssistantMessageEvent, None]:
        call = _GenerateCall(self._clients, model, context, with_credentials(self, model, options))
        async with contextlib.aclosing(run_wire_call(call)) as events:
            async for event in events:
                yield event

    def api_key_variables(self, model: Model) -> tuple[str, ...]:
        """Google's own variables for its own models; another provider's key has that provider's name."""
        if model.provider in ("google", "gemini", API):
            return ("GEMINI_API_KEY", "GOOGLE_API_KEY")
        return super().api_key_variables(model)


class _GenerateCall(WireCall):
    def __init__(
        self,
        clients: LoopClients[GoogleClient],
        model: Model,
        context: Context,
        options: StreamOptions,
    ) -> None:
        super().__init__(StreamAssembler(model, context=context), options)
        self._clients = clients
        self._model = model
        self._context = context
        self._reader = StreamReader(self.assembler, self.secrets)
        self._response: httpx2.Response | None = None

    async def open(self) -> AsyncGenerator[str, None]:
        body = build_body(self._model, self._context, self.options)
        client = await self._clients.get(None, make_client)
        headers = merge_headers(self._model, self.options)
        self.secrets += secret_headers(headers)
        self._response = response = await send(client, self._model, body, headers, self.options)
        content_type = response.headers.get("content-type", "").partition(";")[0].strip().lower()
        if content_type != "text/event-stream":
            raise error_from_body(
                await response.aread(),
                fallback_message=f"the answer is {content_type or 'of no type'}, not a stream of events",
                secrets=self.secrets,
            )
        return self._payloads(response)

    async def _payloads(self, response: httpx2.Response) -> AsyncGenerator[str, None]:
        import httpx2

        # An answer may hold an image, which is longer than any usual limit for one event.
        events = aiter(httpx2.EventSource(response, max_event_size=None))
        async with contextlib.aclosing(events):  # type: ignore[type-var]  # typed as an iterator, made by yield
            async for event in events:
                if event.data and event.data != "[DONE]":
                    yield event.data

    def feed(self, payload: str) -> Iterable[AssistantMessageEvent]:
        return self._reader.feed(json.loads(payload))

    def finish(self) -> Iterable[AssistantMessageEvent]:
        return self._reader.finish()

    def classify(self, error: Exception) -> ProviderError | None:
        from google.genai import errors

        if isinstance(error, errors.APIError):
            headers = getattr(error.response, "headers", None)
            status = error.code if isinstance(error.code, int) and error.code >= 400 else None
            return error_from_body(error.details, status=status, headers=headers, secrets=self.secrets)
        return None

    async def close(self) -> None:
        if self._response is not None:
            await self._response.aclose()
