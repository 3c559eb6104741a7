"""The wire API ``openai-completions``."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterable
from contextlib import aclosing
from typing import Any

from openprogram_core.providers import (
    ApiProvider,
    AssistantMessageEvent,
    Context,
    Model,
    StreamOptions,
)
from openprogram_core.providers.adapter import run_wire_call, with_credentials
from openprogram_openai.completions_reader import CompletionsReader
from openprogram_openai.completions_request import completions_body
from openprogram_openai.sdk import OpenAICall


class OpenAICompletionsProvider(ApiProvider):
    """Chat Completions, as OpenAI and many other services and servers speak it."""

    def stream(
        self, model: Model, context: Context, options: StreamOptions | None = None
    ) -> AsyncGenerator[AssistantMessageEvent, None]:
        """Return the events of one call; see `openprogram_core.providers.ApiProvider.stream`.

        Also raises `MissingCredentialsError` and `MissingDependencyError`, from the first step.
        """
        return _stream(self, model, context, options)


async def _stream(
    provider: ApiProvider, model: Model, context: Context, options: StreamOptions | None
) -> AsyncGenerator[AssistantMessageEvent, None]:
    call = _Call(model, context, with_credentials(provider, model, options or StreamOptions()))
    async with aclosing(run_wire_call(call)) as events:
        async for event in events:
            yield event


class _Call(OpenAICall):
    path = "/chat/completions"

    def __init__(self, model: Model, context: Context, options: StreamOptions) -> None:
        super().__init__(model, context, options)
        self._reader = CompletionsReader(self.assembler, self.secrets)

    def body(self) -> dict[str, Any]:
        return completions_body(self.model, self.context, self.options)

    def feed(self, payload: Any) -> Iterable[AssistantMessageEvent]:
        return self._reader.feed(payload)

    def finish(self) -> Iterable[AssistantMessageEvent]:
        return self._reader.finish()
