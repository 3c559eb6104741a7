"""Orbit's protocol: one POST, answered by JSON lines ``{"say": ...}`` and a last ``{"end": ...}``."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator
from urllib.parse import urlsplit

from openprogram_core.providers import (
    ApiProvider,
    AssistantMessageEvent,
    Context,
    Model,
    ProviderError,
    StreamAssembler,
    StreamOptions,
    Usage,
    price,
)


class OrbitProvider(ApiProvider):
    """Calls ``model.base_url`` over plain HTTP/1.0."""

    def stream(
        self, model: Model, context: Context, options: StreamOptions | None = None
    ) -> AsyncGenerator[AssistantMessageEvent, None]:
        """See `ApiProvider.stream`."""
        return self._run(model, context, options or StreamOptions())

    async def _run(
        self, model: Model, context: Context, options: StreamOptions
    ) -> AsyncGenerator[AssistantMessageEvent, None]:
        url = urlsplit(model.base_url or "http://127.0.0.1:1")
        body = json.dumps(
            {"model": model.id, "messages": len(context.messages), **options.extra_body}
        ).encode()
        head = (
            f"POST {url.path or '/'} HTTP/1.0\r\nHost: {url.netloc}\r\n"
            f"Authorization: Bearer {options.api_key}\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        try:
            reader, writer = await asyncio.open_connection(url.hostname, url.port)
        except OSError as error:
            raise ProviderError("network", f"Orbit cannot be reached: {error}", retryable=True) from error
        try:
            writer.write(head.encode() + body)
            await writer.drain()
            status = int((await reader.readline()).split()[1])
            while (await reader.readline()).strip():
                pass
            if status != 200:
                raise ProviderError("invalid_request", f"Orbit answered {status}", status=status)
            assembler = StreamAssembler(model, context=context)
            async for line in reader:
                for event in self._events(assembler, model, json.loads(line)):
                    yield event
        finally:
            writer.close()

    def _events(
        self, assembler: StreamAssembler, model: Model, piece: dict[str, object]
    ) -> list[AssistantMessageEvent]:
        if "say" in piece:
            return assembler.text(0, str(piece["say"]))
        usage = piece["end"]
        assert isinstance(usage, dict)
        assembler.usage = price(model, Usage(input=usage["in"], output=usage["out"]))
        return [*assembler.end(0), *assembler.done("stop")]
