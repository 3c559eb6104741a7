"""A bounded memory of what was found in the parts of requests."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Hashable
from typing import Generic, TypeVar

V = TypeVar("V")


class Memo(Generic[V]):
    """Keeps what was used last, up to ``limit`` units of size. Thread-safe."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._size = 0
        self._lock = threading.Lock()
        self._entries: OrderedDict[Hashable, tuple[int, V]] = OrderedDict()

    def get(self, key: Hashable) -> V | None:
        """Return what was kept under ``key``, or None."""
        with self._lock:
            entry = self._entries.get(key)
            if entry is None:
                return None
            self._entries.move_to_end(key)
            return entry[1]

    def put(self, key: Hashable, value: V, size: int) -> None:
        """Keep ``value`` and forget what was used longest ago until ``limit`` holds."""
        if size > self._limit:
            return
        with self._lock:
            old = self._entries.pop(key, None)
            if old is not None:
                self._size -= old[0]
            self._entries[key] = (size, value)
            self._size += size
            while self._size > self._limit:
                _, (dropped, _) = self._entries.popitem(last=False)
                self._size -= dropped
