"""The stream of an answer as plain JSON values. Imports the SDK, so it is imported inside a call."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Any

from openai import AsyncStream


class Payloads(AsyncStream[object]):
    """The SDK's stream, without its models: fields it does not know yet are all there."""

    async def _iter_events(self) -> AsyncIterator[Any]:
        async for event in super()._iter_events():
            # An event without data (a bare `event: ping`) is no event; the SDK would fail to parse it.
            if event.data.strip():
                yield type(event)(event="error", data=_error(event.data)) if event.event == "error" else event

    async def payloads(self) -> AsyncIterator[Any]:
        """Yield the payloads; a server that does not stream gives one, the whole answer."""
        if "json" in self.response.headers.get("content-type", "").partition(";")[0]:
            try:
                whole = json.loads(await self.response.aread())
            except ValueError:
                pass  # a stream after all, under the wrong name: it is read below
            else:
                yield whole
                return
        # Closed with this generator, not when the garbage collector gets to it.
        async with aclosing(self._iterator):  # type: ignore[type-var] # declared wider than it is
            async for payload in self._iterator:
                yield payload


def _error(data: str) -> str:
    """Return the data of an event that only its name calls an error as an error object."""
    try:
        value = json.loads(data)
    except ValueError:
        value = data
    if isinstance(value, dict) and ("error" in value or "type" in value):
        return data
    return json.dumps({"error": value})
