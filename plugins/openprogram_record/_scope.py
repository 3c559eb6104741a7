"""Recording for as long as a block runs."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from openprogram_core.providers import ApiProvider, ProviderWrapper, override_providers
from openprogram_record._provider import RecordingProvider
from openprogram_record._sink import RecordingSink


@contextmanager
def recording(
    path: str | os.PathLike[str], plugins: Sequence[object] = (), append: bool = False
) -> Iterator[RecordingSink]:
    """Record every provider call of this process into ``path`` while the block runs.

    It counts for all wire APIs and all threads, is stronger than the configuration, and is undone at the end
    whatever happens; blocks nest, the innermost counts. Gives the `RecordingSink`; ``plugins`` and
    ``append`` are its, and so are the errors. Calls still running at the end of the block end as
    ``abandoned``.
    """
    with RecordingSink(path, plugins=plugins, append=append) as sink, override_providers(recorder(sink)):
        yield sink


def recorder(sink: RecordingSink) -> ProviderWrapper:
    """Return the wrapper that records every provider into ``sink``."""

    def wrap(api: str, provider: ApiProvider | None) -> ApiProvider:
        if provider is None:
            raise TypeError(f"{api}: there is no provider to record")
        return RecordingProvider(provider, sink)

    return ProviderWrapper("openprogram_record", "record_replay", wrap, close=sink.close)
