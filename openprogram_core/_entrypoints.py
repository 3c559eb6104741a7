"""Entry points of installed distributions: the only place that asks the packaging metadata."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

GROUP = "openprogram.plugins"
OWN_DISTRIBUTION = "openprogram-core"


class FoundEntryPoint(NamedTuple):
    """One entry point: its name, where it points, and the distribution that declares it.

    ``requires`` is what the distribution requires, as written; ``shadowed`` are the versions of the same
    distribution that are installed as well, further down the path.
    """

    name: str
    target: str
    distribution: str
    version: str
    entry_point: Any
    requires: tuple[str, ...] = ()
    shadowed: tuple[str, ...] = ()

    def load(self) -> object:
        """Import what the entry point names. Raises whatever that import raises."""
        loaded: object = self.entry_point.load()
        return loaded

    @property
    def owner(self) -> str:
        """The distribution with its version, as a person reads it."""
        return f"{self.distribution} {self.version}"


def find_entry_points(group: str = GROUP) -> list[FoundEntryPoint]:
    """Return the group's entry points sorted by name, then by distribution. Imports none of them.

    Of a distribution that is installed more than once only the copy counts that Python would import.
    """
    import importlib_metadata

    copies: dict[str, list[Any]] = {}
    for distribution in importlib_metadata.distributions():
        if distribution.entry_points.select(group=group):
            copies.setdefault(_normalized(distribution.name), []).append(distribution)
    found = []
    for name in copies:
        first = importlib_metadata.distribution(name)
        # Each of these parses the whole metadata file, so each is asked for once.
        shown, version, requires = first.name, first.version, tuple(first.requires or ())
        others = {copy.version for copy in copies[name]} if len(copies[name]) > 1 else set()
        shadowed = tuple(sorted(others - {version}))
        found += [
            FoundEntryPoint(point.name, point.value, shown, version, point, requires, shadowed)
            for point in first.entry_points.select(group=group)
        ]
    return sorted(found, key=lambda point: (point.name, point.distribution))


def disputed_claim(point: FoundEntryPoint, points: Sequence[FoundEntryPoint]) -> str | None:
    """Say who else claims this entry point's name, or brings the same code under another; None if nobody.

    What belongs to this distribution keeps its place whoever else claims it.
    """
    if point.distribution == OWN_DISTRIBUTION:
        return None
    same_name = [other for other in points if other.name == point.name]
    if len(same_name) > 1:
        claims = " and ".join(other.owner for other in same_name)
        return f"the plugin name {point.name!r} is claimed by {claims}; uninstall or rename one of them"
    for other in points:
        if other.target == point.target and other.name != point.name:
            return (
                f"{point.target} is a plugin twice, as {point.name!r} of {point.owner} and as {other.name!r} "
                f"of {other.owner}; uninstall one of them, or disable one: [plugins] disabled in config.toml"
            )
    return None


def unmet_requirement(point: FoundEntryPoint) -> str | None:
    """Say which version of this distribution the plugin requires, when it is not the installed one."""
    if point.distribution == OWN_DISTRIBUTION:
        return None
    own = [text for text in point.requires if _normalized(text).startswith(OWN_DISTRIBUTION)]
    if not own:
        return None
    from packaging.requirements import InvalidRequirement, Requirement

    from openprogram_core import __version__

    for text in own:
        try:
            requirement = Requirement(text)
        except InvalidRequirement:
            continue
        if _normalized(requirement.name) != OWN_DISTRIBUTION:
            continue
        if requirement.marker is not None and not requirement.marker.evaluate({"extra": ""}):
            continue
        if not requirement.specifier.contains(__version__, prereleases=True):
            return (
                f"{point.owner} requires {OWN_DISTRIBUTION}{requirement.specifier}, installed is "
                f"{__version__}: pip install '{OWN_DISTRIBUTION}{requirement.specifier}', or install a "
                f"version of {point.distribution} made for {__version__}"
            )
    return None


def _normalized(name: str) -> str:
    return name.lower().replace("_", "-").replace(".", "-")
