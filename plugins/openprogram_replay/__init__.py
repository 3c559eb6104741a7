"""Replays recorded provider calls: the same events, offline, and the exact field where a request differs.

PYTEST_DONT_REWRITE: no assertions in here, and pytest need not warn that it comes too late for them.
"""

from __future__ import annotations

from openprogram_core import hookimpl
from openprogram_core.providers import ProviderWrapper, RuntimeSettings
from openprogram_replay.advice import ReplayWording
from openprogram_replay.configured import ConfiguredReplay
from openprogram_replay.errors import RecordedCallError, ReplayMismatch
from openprogram_replay.provider import ReplayProvider
from openprogram_replay.scope import Replay, replaying

__all__ = [
    "RecordedCallError",
    "Replay",
    "ReplayMismatch",
    "ReplayProvider",
    "ReplayWording",
    "replaying",
    "wrap_provider",
]


@hookimpl
def wrap_provider(settings: RuntimeSettings) -> ProviderWrapper | None:
    """Answer every call from the configured recording in mode ``replay``; stay out in the others."""
    if settings.mode != "replay" or settings.path is None:
        return None
    return ConfiguredReplay(settings.path, settings).wrapper()
