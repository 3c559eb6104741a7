"""Declared skips, compiled: which field is skipped at which place, and who said so."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from openprogram_core.comparison.paths import ANY_INDEX, FieldPathError, PatternSegment, Segment, parse_path
from openprogram_core.comparison.verdicts import FieldSkip


class SkipOrigin(NamedTuple):
    """Who skips a field: the plugin's name, what it declared, and its reason."""

    plugin: str
    field: str
    reason: str


class _Node:
    """A step of the declared paths, all of them in one tree."""

    __slots__ = ("children", "origin")

    def __init__(self) -> None:
        self.children: dict[PatternSegment, _Node] = {}
        self.origin: SkipOrigin | None = None


class SkipState:
    """Where a walk stands in the declared paths: ``origin`` says whether this place is skipped."""

    __slots__ = ("_nodes", "_steps", "_with_index", "origin")

    def __init__(self, nodes: tuple[_Node, ...]) -> None:
        self._nodes = nodes
        self._steps: dict[PatternSegment, SkipState | None] = {}
        self._with_index = any(type(segment) is int for node in nodes for segment in node.children)
        self.origin: SkipOrigin | None = next((node.origin for node in nodes if node.origin), None)

    def step(self, segment: Segment) -> SkipState | None:
        """Return the state one step below, None where no declared path leads."""
        key: PatternSegment = segment
        if type(segment) is int and not self._with_index:
            key = ANY_INDEX
        try:
            return self._steps[key]
        except KeyError:
            keys = (segment, ANY_INDEX) if type(segment) is int else (segment,)
            nodes = tuple(node.children[one] for one in keys for node in self._nodes if one in node.children)
            state = self._steps[key] = SkipState(nodes) if nodes else None
            return state


class Skips:
    """All declared skips: names that count anywhere, and paths from the root."""

    def __init__(self, declared: Iterable[tuple[str, FieldSkip]] = ()) -> None:
        """Compile ``(plugin, skip)`` pairs; the first of two equal ones is named. Raises `FieldPathError`."""
        self.names: dict[str, SkipOrigin] = {}
        root = _Node()
        for plugin, skip in declared:
            origin = SkipOrigin(plugin, skip.field, skip.reason)
            if not skip.field:
                raise FieldPathError(skip.field, "it is empty, and would skip the whole request")
            if not any(mark in skip.field for mark in '.[]"'):
                self.names.setdefault(skip.field, origin)
                continue
            node = root
            for segment in parse_path(skip.field):
                node = node.children.setdefault(segment, _Node())
            node.origin = node.origin or origin
        self.paths: SkipState | None = SkipState((root,)) if root.children else None

    def at(self, path: str) -> tuple[SkipState | None, SkipOrigin | None]:
        """Return the state at a path, and who skips it or something above it."""
        state = self.paths
        for segment in parse_path(path) if path else ():
            if segment is ANY_INDEX:
                raise FieldPathError(path, "[*] stands only in declared skips")
            if isinstance(segment, str) and segment in self.names:
                return None, self.names[segment]
            state = state.step(segment) if state else None
            if state and state.origin:
                return None, state.origin
        return state, None
