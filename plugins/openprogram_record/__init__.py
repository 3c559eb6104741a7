"""Records provider calls at the provider boundary, secrets removed, each row on file before its event.

``with recording(path): ...`` records everything a block calls; `RecordingProvider` records one provider. By
configuration (``openprogram recordings record``) it is active in mode ``record``.

PYTEST_DONT_REWRITE: no assertions in here, and pytest need not warn that it comes too late for them.
"""

from __future__ import annotations

from openprogram_core import hookimpl
from openprogram_core.providers import ProviderWrapper, RuntimeSettings
from openprogram_core.recordings import RecordingWriteError
from openprogram_record._calls import CallRecorder
from openprogram_record._provider import RecordingProvider
from openprogram_record._scope import recorder, recording
from openprogram_record._sink import RecordingSink

__all__ = ["CallRecorder", "RecordingProvider", "RecordingSink", "RecordingWriteError", "recording"]


@hookimpl
def wrap_provider(settings: RuntimeSettings) -> ProviderWrapper | None:
    """Record into the configured file, going on after what it holds, when the mode is ``record``."""
    if settings.mode != "record":
        return None
    if settings.path is None:
        raise ValueError("mode record without a file; run 'openprogram recordings record'")
    return recorder(RecordingSink(settings.path, plugins=settings.plugins, append=True))
