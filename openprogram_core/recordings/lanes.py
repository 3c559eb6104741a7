"""Names for the strands of a program that calls models concurrently."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_lane: ContextVar[str | None] = ContextVar("openprogram_call_lane", default=None)


@contextmanager
def call_lane(name: str) -> Iterator[None]:
    """Put the calls that begin in this block into the lane ``name``, when recording and when replaying.

    Replay gives each lane its own calls in their order, however the lanes overlap. The name travels with the
    context: tasks started inside the block inherit it, a thread does when it runs in a copy of the context
    (``contextvars.copy_context().run``, which is what ``asyncio.to_thread`` does).
    """
    token = _lane.set(name)
    try:
        yield
    finally:
        _lane.reset(token)


def current_lane() -> str | None:
    """Return the lane of the running code, None outside every lane."""
    return _lane.get()
