"""How a plugin takes its place around every provider."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

from openprogram_core.providers.provider import ApiProvider

if TYPE_CHECKING:
    from openprogram_core._plugins import PluginSet

Mode: TypeAlias = Literal["off", "record", "replay"]
Order: TypeAlias = Literal["ordered", "any-order"]
Stage: TypeAlias = Literal["transport", "record_replay", "observer"]

STAGES: tuple[Stage, ...] = ("transport", "record_replay", "observer")
"""Inner to outer."""


@dataclass(frozen=True)
class RuntimeSettings:
    """What ``wrap_provider`` is told at activation.

    ``mode`` is the configured mode, ``path`` the recording to write or read (None when off), ``order`` how
    replay chooses the next call, ``plugins`` the loaded plugin set.
    """

    mode: Mode
    path: Path | None
    order: Order
    plugins: PluginSet


@dataclass(frozen=True)
class ProviderWrapper:
    """Wraps every provider, whether it was registered before or after.

    ``wrap(api, provider)`` returns the provider to use; ``provider`` is None only for an API named in
    ``serves``, which resolves even when nobody registered it; ``serves_all`` names every API. ``stage``
    decides who is inside whom; inside one stage wrappers go by name, never by the order they were found in.
    ``close`` is called at interpreter exit.
    """

    name: str
    stage: Stage
    wrap: Callable[[str, ApiProvider | None], ApiProvider]
    serves: frozenset[str] = frozenset()
    serves_all: bool = False
    close: Callable[[], None] = field(default=lambda: None)

    def resolves(self, api: str) -> bool:
        """Whether ``api`` resolves through this wrapper although nobody registered it."""
        return self.serves_all or api in self.serves
