"""Options of one provider call, and the signal that stops it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, Literal

from pydantic import ConfigDict, Field

from openprogram_core.providers.messages import WireModel


class AbortSignal:
    """Stops running calls from outside their task, from any thread.

    A provider that sees its signal set closes its connection and ends the stream with an ``error`` event of
    reason ``aborted``.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._callbacks: list[Callable[[], None]] = []
        self._aborted = False

    @property
    def aborted(self) -> bool:
        """Whether `abort` was called."""
        return self._aborted

    def abort(self) -> None:
        """Set the signal and run what was added with `add_callback`, once."""
        with self._lock:
            self._aborted = True
            callbacks, self._callbacks = self._callbacks, []
        for callback in callbacks:
            callback()

    def add_callback(self, callback: Callable[[], None]) -> Callable[[], None]:
        """Call ``callback`` on `abort`, at once if that has happened. Returns a function that removes it."""
        with self._lock:
            if not self._aborted:
                self._callbacks.append(callback)
                return lambda: self._remove(callback)
        callback()
        return lambda: None

    def _remove(self, callback: Callable[[], None]) -> None:
        with self._lock:
            if callback in self._callbacks:
                self._callbacks.remove(callback)


class StreamOptions(WireModel):
    """Options every wire API understands; ``extra_body`` carries what only one of them does.

    ``max_retries`` is 0 by default: a retry inside a vendor's SDK would hide behind one recorded call.
    ``timeout_s`` is in seconds. ``signal`` lives only while the process runs: it is never recorded or
    compared. Keys and headers are not in the repr, which tracebacks and test reports show.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    api_key: str | None = Field(default=None, repr=False)
    temperature: float | None = None
    top_p: float | None = None
    max_tokens: int | None = None
    stop: list[str] | None = None
    seed: int | None = None
    tool_choice: Literal["auto", "none", "required"] | dict[str, Any] | None = None
    parallel_tool_calls: bool | None = None
    response_format: dict[str, Any] | None = None
    cache_retention: Literal["none", "short", "long"] | None = None
    prompt_cache_key: str | None = None
    service_tier: str | None = None
    metadata: dict[str, Any] | None = None
    headers: dict[str, str] = Field(default_factory=dict, repr=False)
    extra_body: dict[str, Any] = Field(default_factory=dict)
    timeout_s: float | None = None
    max_retries: int = 0
    signal: AbortSignal | None = Field(default=None, exclude=True, repr=False)


class SimpleStreamOptions(StreamOptions):
    """`StreamOptions` plus one word for how much to think, the same for every vendor.

    ``thinking_budgets`` gives a level's budget in tokens for the services that count it.
    """

    reasoning: Literal["off", "minimal", "low", "medium", "high", "xhigh"] | None = None
    thinking_budgets: dict[str, int] = Field(default_factory=dict)
