"""Declared skips, compiled: which field is skipped at which place, and who said so."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from openprogram_core.comparison.paths import ANY_INDEX, FieldPathError, PatternSegment, Segment, parse_path
from openprogram_core.comparison.reach import BEYOND, ROOT, Place, place_below
from openprogram_core.comparison.verdicts import FieldSkip

REMEMBERED = 1_000
"""Most steps below one place that are remembered; the names of free-form fields are without number."""


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
    """Where a walk stands: ``origin`` says whether this place is skipped, ``names`` which fields of it."""

    __slots__ = ("_nodes", "_place", "_skips", "_steps", "_with_index", "names", "origin")

    def __init__(self, skips: Skips, nodes: tuple[_Node, ...], place: Place) -> None:
        self._skips = skips
        self._nodes = nodes
        self._place = place
        self._steps: dict[PatternSegment, SkipState | None] = {}
        self._with_index = any(type(segment) is int for node in nodes for segment in node.children)
        self.names: Mapping[str, SkipOrigin] = skips.given_names if place is BEYOND else skips.names
        self.origin: SkipOrigin | None = next((node.origin for node in nodes if node.origin), None)

    def step(self, segment: Segment) -> SkipState | None:
        """Return the state one step below, None where no declared path leads and every name is skipped."""
        key: PatternSegment = segment
        if type(segment) is int and not self._with_index:
            key = ANY_INDEX
        try:
            return self._steps[key]
        except KeyError:
            state = self._make_step(segment)
            if len(self._steps) < REMEMBERED:
                self._steps[key] = state
            return state

    def _make_step(self, segment: Segment) -> SkipState | None:
        keys = (segment, ANY_INDEX) if type(segment) is int else (segment,)
        nodes = tuple(node.children[one] for one in keys for node in self._nodes if one in node.children)
        place = place_below(self._place, segment)
        if nodes:
            return SkipState(self._skips, nodes, place)
        if place is BEYOND:
            return self._skips.beyond
        return None if place is None else SkipState(self._skips, (), place)

    def skips_items(self) -> bool:
        """Whether whole items of a list that stands here are skipped, some or all."""
        return any(
            child.origin is not None
            for node in self._nodes
            for segment, child in node.children.items()
            if not isinstance(segment, str)
        )


def is_name(field: str) -> bool:
    """Whether a declared field is a bare name, and no path."""
    return not any(mark in field for mark in '.[]"')


class Skips:
    """All declared skips: bare names, and paths from the root.

    A plugin's names reach as far as `openprogram_core.comparison.reach` says; ``given`` are a person's own
    skips, whose names reach anywhere; the attribute holds their fields.
    """

    def __init__(
        self, declared: Iterable[tuple[str, FieldSkip]] = (), given: Iterable[tuple[str, FieldSkip]] = ()
    ) -> None:
        """Compile ``(plugin, skip)`` pairs; the first of two equal ones is named, a given one before others.

        Raises `FieldPathError`.
        """
        self.names: dict[str, SkipOrigin] = {}
        self.given: list[str] = []
        root = _Node()
        for plugin, skip in given:
            self.given.append(skip.field)
            self._add(root, SkipOrigin(plugin, skip.field, skip.reason))
        self.given_names: Mapping[str, SkipOrigin] = dict(self.names)
        for plugin, skip in declared:
            self._add(root, SkipOrigin(plugin, skip.field, skip.reason))
        place = ROOT if len(self.names) > len(self.given_names) else None
        self.beyond = SkipState(self, (), BEYOND)
        self.paths: SkipState | None = SkipState(self, (root,), place) if root.children or place else None

    def _add(self, root: _Node, origin: SkipOrigin) -> None:
        if not origin.field:
            raise FieldPathError(origin.field, "it is empty, and would skip the whole request")
        if is_name(origin.field):
            self.names.setdefault(origin.field, origin)
            return
        node = root
        for segment in parse_path(origin.field):
            node = node.children.setdefault(segment, _Node())
        node.origin = node.origin or origin

    def at(self, path: str) -> tuple[SkipState | None, SkipOrigin | None]:
        """Return the state at a path, and who skips it or something above it."""
        state = self.paths
        for segment in parse_path(path) if path else ():
            if segment is ANY_INDEX:
                raise FieldPathError(path, "[*] stands only in declared skips")
            names = self.names if state is None else state.names
            if isinstance(segment, str) and segment in names:
                return None, names[segment]
            state = state.step(segment) if state else None
            if state and state.origin:
                return None, state.origin
        return state, None

    def out_of_reach(self, path: str) -> SkipOrigin | None:
        """Return the skip by name that would cover a path if it reached that far."""
        steps = parse_path(path)
        return next((self.names[one] for one in steps if isinstance(one, str) and one in self.names), None)
