"""Entry points of installed distributions: the only place that asks the packaging metadata."""

from __future__ import annotations

from typing import Any, NamedTuple

GROUP = "openprogram.plugins"


class FoundEntryPoint(NamedTuple):
    """One entry point: its name, where it points, and the distribution that declares it."""

    name: str
    target: str
    distribution: str
    version: str
    entry_point: Any

    def load(self) -> object:
        """Import what the entry point names. Raises whatever that import raises."""
        loaded: object = self.entry_point.load()
        return loaded


def find_entry_points(group: str = GROUP) -> list[FoundEntryPoint]:
    """Return the group's entry points sorted by name, then by distribution. Imports none of them."""
    import importlib_metadata

    found = [
        FoundEntryPoint(
            point.name,
            point.value,
            point.dist.name if point.dist is not None else "",
            point.dist.version if point.dist is not None else "",
            point,
        )
        for point in importlib_metadata.entry_points(group=group)
    ]
    return sorted(found, key=lambda point: (point.name, point.distribution))
