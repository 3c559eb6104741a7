"""``anthropic-messages`` over the vendor's SDK."""

from __future__ import annotations

import contextlib
import json
from collections.abc import AsyncGenerator, Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

from openprogram_anthropic.reader import StreamReader
from openprogram_anthropic.request import build_body
from openprogram_core.providers import (
    ApiProvider,
    AssistantMessageEvent,
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
    merge_headers,
    run_wire_call,
    secret_headers,
    with_credentials,
)

if TYPE_CHECKING:
    import anthropic
    import httpx2

API = "anthropic-messages"


class AnthropicMessagesProvider(ApiProvider):
    """Calls the Messages API, Anthropic's or one that speaks it at ``model.base_url``.

    `MessagesCompat` says what ``model.compat`` may hold.
    """

    def __init__(self) -> None:
        self._clients: LoopClients[anthropic.AsyncAnthropic] = LoopClients(lambda client: client.close())

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
        call = _MessagesCall(self._clients, model, context, with_credentials(self, model, options))
        async with contextlib.aclosing(run_wire_call(call)) as events:
            async for event in events:
                yield event

    def api_key_variables(self, model: Model) -> tuple[str, ...]:
        """Anthropic's own variables for its own models; another provider's key has that provider's name."""
        if model.provider == "anthropic":
            return ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN")
        return super().api_key_variables(model)


class _Payload(NamedTuple):
    name: str | None
    data: str


class _MessagesCall(WireCall):
    def __init__(
        self,
        clients: LoopClients[anthropic.AsyncAnthropic],
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

    async def open(self) -> AsyncGenerator[_Payload, None]:
        anthropic = _sdk()
        import httpx2

        options, model = self.options, self._model
        body = build_body(model, self._context, options)
        # Without a key of ours the SDK must not go and look for one: a recorder would not know it.
        key = options.api_key or ""
        # The SDK adds the version itself, but the address is often written with it.
        base_url = model.base_url.rstrip("/").removesuffix("/v1") if model.base_url else None
        client: Any = await self._clients.get(
            (key, base_url),
            lambda: anthropic.AsyncAnthropic(api_key=key, base_url=base_url, max_retries=0),
        )
        headers: dict[str, Any] = dict(merge_headers(model, options))
        self.secrets += secret_headers(headers)
        if not key and "authorization" not in {name.lower() for name in headers}:
            headers["Authorization"] = anthropic.omit
        request: dict[str, Any] = {"headers": headers, "max_retries": options.max_retries}
        if options.timeout_s is not None:
            request["timeout"] = options.timeout_s
        # The SDK's typed method changes what it is given and warns about models; its stream drops pings,
        # unnamed events and what its types do not know. One step below both, everything comes through.
        response: httpx2.Response = await client.post(
            "/v1/messages", cast_to=httpx2.Response, body=body, options=request, stream=True
        )
        self._response = response
        content_type = response.headers.get("content-type", "").partition(";")[0].strip().lower()
        if content_type in ("application/json", "text/html"):
            raise error_from_body(
                await response.aread(),
                fallback_message=f"the answer is {content_type}, not a stream of events",
                secrets=self.secrets,
            )
        return self._payloads(anthropic.AsyncStream.raw_events(response))

    async def _payloads(self, events: Any) -> AsyncGenerator[_Payload, None]:
        async with contextlib.aclosing(events):
            async for event in events:
                if event.data and event.data != "[DONE]":
                    yield _Payload(event.event, event.data)

    def feed(self, payload: _Payload) -> Iterable[AssistantMessageEvent]:
        return self._reader.feed(payload.name, json.loads(payload.data))

    def finish(self) -> Iterable[AssistantMessageEvent]:
        return ()

    def classify(self, error: Exception) -> ProviderError | None:
        import anthropic

        if isinstance(error, anthropic.APIStatusError):
            return error_from_body(
                error.body, status=error.status_code, headers=error.response.headers, secrets=self.secrets
            )
        return None

    async def close(self) -> None:
        if self._response is not None:
            await self._response.aclose()


def _sdk() -> Any:
    try:
        import anthropic
    except ModuleNotFoundError as error:
        if error.name != "anthropic":
            raise
        raise MissingDependencyError("anthropic", "anthropic") from error
    return anthropic
