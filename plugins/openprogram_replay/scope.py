"""Replay for one block of code, checked at its end."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

from openprogram_core import PluginSet
from openprogram_core.comparison import FieldSkip
from openprogram_core.providers import ApiProvider, ProviderWrapper, override_providers
from openprogram_replay.errors import ReplayMismatch
from openprogram_replay.provider import Order, ReplayProvider

WRAPPER_NAME = "openprogram_replay"


class Replay:
    """What `replaying` gives: the provider, and how far it has come."""

    def __init__(self, provider: ReplayProvider) -> None:
        self.provider = provider

    @property
    def calls_used(self) -> int:
        """How many recorded calls have been given back, or begun to be."""
        return self.provider.calls_used

    def assert_consumed(self) -> None:
        """Raise `ReplayMismatch` when there was one, caught or not, or when recorded calls were not made."""
        self.provider.assert_consumed()


def replay_wrapper(provider: ReplayProvider) -> ProviderWrapper:
    """Return the wrapper that puts ``provider`` in the place of every other.

    APIs that are not in the recording get it too: their calls are mismatches, never live ones.
    """

    def wrap(api: str, wrapped: ApiProvider | None) -> ApiProvider:
        return provider

    return ProviderWrapper(
        WRAPPER_NAME, "record_replay", wrap, provider.apis, serves_all=True, close=provider.close
    )


@contextmanager
def replaying(
    path: str | os.PathLike[str],
    plugins: PluginSet | Sequence[object] = (),
    skip: Iterable[str | FieldSkip] = (),
    order: Order = "ordered",
) -> Iterator[Replay]:
    """Answer every provider call of this process from the recording at ``path`` while the block runs.

    The arguments are those of `ReplayProvider`. When the block ends well, `Replay.assert_consumed` is called:
    a mismatch that the program caught, and a recorded call that it did not make, raise `ReplayMismatch`. When
    the block raises, that goes on up; a mismatch before it is added to it as a note.
    """
    provider = ReplayProvider(path, order=order, plugins=plugins, skip=skip)
    try:
        with override_providers(replay_wrapper(provider)):
            yield Replay(provider)
        provider.assert_consumed()
    except BaseException as error:
        _add_notes(error, provider)
        raise
    finally:
        provider.close()


def add_report(error: ReplayMismatch, more: str = "") -> None:
    """Add to a mismatch what its report says below the message, and ``more``, as a note, once."""
    _add_note(error, "\n".join(error.report().splitlines()[1:]).strip("\n") + more)


def _add_notes(error: BaseException, provider: ReplayProvider) -> None:
    if isinstance(error, ReplayMismatch):
        others = len(provider.mismatches) - 1
        came = f"\nIt was the first; {others} more mismatch{'es' if others > 1 else ''} came after it."
        add_report(error, came if others > 0 else "")
    elif provider.mismatches and isinstance(error, Exception):
        _add_note(error, f"before this: {provider.mismatches[0].report()}")


def _add_note(error: BaseException, note: str) -> None:
    # Nested blocks see the same error one after the other.
    if note and note not in getattr(error, "__notes__", ()):
        error.add_note(note)
