"""One client per event loop, closed when the loop shuts down."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, Awaitable, Callable, Hashable
from typing import Any, Generic, TypeVar

Client = TypeVar("Client")


class LoopClients(Generic[Client]):
    """Makes and keeps one client for each event loop and key.

    A client's connections belong to the loop they were made in; sharing one between loops breaks, one a call
    throws its connections away. ``close`` closes a client; it runs when its loop shuts down in the usual way
    (``asyncio.run``, ``asyncio.Runner``, pytest-asyncio): the loop closes the asynchronous generators that
    are still suspended, and one of them holds the client.
    """

    def __init__(self, close: Callable[[Client], Awaitable[None]]) -> None:
        self._close = close
        self._lock = threading.Lock()
        self._kept: dict[asyncio.AbstractEventLoop, dict[Hashable, tuple[Client, AsyncGenerator[Any, None]]]]
        self._kept = {}

    async def get(self, key: Hashable, make: Callable[[], Client]) -> Client:
        """Return the running loop's client for ``key``; ``make`` makes it when there is none yet."""
        loop = asyncio.get_running_loop()
        with self._lock:
            clients = self._kept.get(loop)
            if clients is not None and key in clients:
                return clients[key][0]
            # A loop that was closed without a shutdown took its connections with it.
            for dead in [known for known in self._kept if known.is_closed()]:
                del self._kept[dead]
            client = make()
            keeper = self._keep(loop, key, client)
            self._kept.setdefault(loop, {})[key] = (client, keeper)
        # The first step tells the loop about the generator; it does not wait for anything.
        await anext(keeper)
        return client

    async def _keep(
        self, loop: asyncio.AbstractEventLoop, key: Hashable, client: Client
    ) -> AsyncGenerator[None, None]:
        try:
            yield
        finally:
            with self._lock:
                clients = self._kept.get(loop, {})
                clients.pop(key, None)
                if not clients:
                    self._kept.pop(loop, None)
            await self._close(client)

    async def close_all(self) -> None:
        """Close the running loop's clients now; the next `get` makes new ones."""
        with self._lock:
            clients = list(self._kept.get(asyncio.get_running_loop(), {}).values())
        for _, keeper in clients:
            await keeper.aclose()
