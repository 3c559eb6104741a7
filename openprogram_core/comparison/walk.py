"""The walk over two values: iterative, in sorted order, past what is equal."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from enum import Enum
from typing import Any, Final, NamedTuple, TypeAlias

from openprogram_core.comparison.alignment import align
from openprogram_core.comparison.paths import Segment, format_path, join_path, parse_path
from openprogram_core.comparison.placeholders import matches_with_holes, pair_keys
from openprogram_core.comparison.policy import MAY_LACK_SECRETS, ComparisonPolicy
from openprogram_core.comparison.skips import SkipOrigin, SkipState
from openprogram_core.comparison.verdicts import FieldVerdict


class Missing(Enum):
    """Type of `MISSING`."""

    MISSING = "missing"

    def __repr__(self) -> str:
        return "MISSING"


MISSING: Final = Missing.MISSING
"""In the place of a value whose key or index is not there; not the same as None."""


class Difference(NamedTuple):
    """Two values that differ: the path, and each side's value or `MISSING`."""

    field_path: str
    recorded: Any
    incoming: Any


class SkippedField(NamedTuple):
    """A difference that does not count: where, by which plugin, what it declared, and why.

    ``field`` is empty when a ``compare_field`` hook said so.
    """

    field_path: str
    plugin: str
    field: str
    reason: str


Child: TypeAlias = tuple[Segment, Any, Any, SkipState | None]
_COMPARED_BY_VALUE = frozenset({str, int, bool, bytes})
_CONTAINERS = frozenset({dict, list, tuple})
_CONTAINER_TYPES = (dict, list, tuple)
ALIGNED_DEPTH = 64
"""Lists nested deeper are paired by index: fingerprints of their items would be taken once a level."""

_ROOT: Segment = "<root>" + chr(0)


class _Frame:
    """A container that is being walked.

    ``rest`` are its siblings still to come, ``asked`` says whether the plugins were asked about it.
    """

    __slots__ = ("asked", "incoming", "recorded", "rest", "segment")

    def __init__(self, segment: Segment, recorded: Any, incoming: Any, rest: Iterator[Child]) -> None:
        self.segment = segment
        self.recorded = recorded
        self.incoming = incoming
        self.rest = rest
        self.asked = False


def same_scalar(recorded: Any, incoming: Any) -> bool:
    """Compare two values of one type that are no containers: equal when JSON would write them the same."""
    if recorded == incoming:
        return not (
            type(recorded) is float
            and recorded == 0.0
            and math.copysign(1.0, recorded) != math.copysign(1.0, incoming)
        )
    return bool(recorded != recorded and incoming != incoming)


class Walk:
    """One comparison. Iterate over `differences`; `skipped` and `placeholders` grow with it.

    ``known_equal`` are pairs of ``id()`` of containers that need not be looked into.
    ``notes`` False leaves `skipped` empty, which is cheaper. ``aligned`` pairs the items of lists by what is
    equal and not by index: made for a reader, it names an insertion instead of all that it shifts.
    """

    def __init__(
        self,
        policy: ComparisonPolicy,
        path: str = "",
        *,
        notes: bool = False,
        aligned: bool = False,
        known_equal: Collection[tuple[int, int]] = (),
    ) -> None:
        self.skipped: list[SkippedField] = []
        self.placeholders = 0
        self._policy = policy
        self._path = path
        self._notes = notes
        self._aligned = aligned
        self._known_equal = known_equal
        self._frames: list[_Frame] = []
        self._entering: Segment = _ROOT

    def differences(self, recorded: Any, incoming: Any) -> Iterator[Difference]:
        """Yield the differences that count, in order."""
        state, origin = self._policy.skips.at(self._path)
        if origin is not None:
            self._note_declared(_ROOT, recorded, incoming, origin)
            return
        frames = self._frames
        children: Iterator[Child] = iter(((_ROOT, recorded, incoming, state),))
        while True:
            for segment, left, right, below in children:
                kind = type(left)
                if kind is type(right) and (kind in _CONTAINERS or issubclass(kind, _CONTAINER_TYPES)):
                    if self._known_equal and (id(left), id(right)) in self._known_equal:
                        continue
                    self._entering = segment
                    inner = self._children(left, right, below)
                    if inner:
                        frames.append(_Frame(segment, left, right, children))
                        children = iter(inner)
                        break
                    continue
                if left is right or (kind is type(right) and same_scalar(left, right)):
                    continue
                if self._policy.placeholder is not None and self._is_hole(left, right, segment):
                    self.placeholders += 1
                    continue
                depth, difference = self._judge(segment, left, right)
                if difference is not None:
                    yield difference
                if depth < len(frames):
                    children = frames[depth].rest
                    del frames[depth:]
                    break
            else:
                if not frames:
                    return
                children = frames.pop().rest

    def _children(self, left: Any, right: Any, state: SkipState | None) -> Sequence[Child]:
        if left is right:
            return ()
        if isinstance(left, dict):
            return self._fields(left, right, state)
        if self._aligned and max(len(left), len(right)) > 1 and len(self._frames) < ALIGNED_DEPTH:
            return self._aligned_items(left, right, state)
        items: list[Child] = []
        for index, (one, other) in enumerate(zip(left, right, strict=False)):
            if one is not other:
                self._add(items, index, one, other, state)
        shared = min(len(left), len(right))
        for index in range(shared, len(left)):
            self._add(items, index, left[index], MISSING, state)
        for index in range(shared, len(right)):
            self._add(items, index, MISSING, right[index], state)
        return items

    def _fields(
        self, left: dict[str, Any], right: dict[str, Any], state: SkipState | None
    ) -> Sequence[Child]:
        pending: list[str] = []
        missing = 0
        for key, one in left.items():
            other = right.get(key, MISSING)
            if one is other:
                continue
            if other is MISSING:
                missing += 1
            elif type(one) in _COMPARED_BY_VALUE and type(one) is type(other) and one == other:
                continue
            pending.append(key)
        renamed: dict[str, str] = {}
        if len(right) != len(left) - missing:
            added = [key for key in right if key not in left]
            if missing and self._policy.placeholder is not None:
                lost = [key for key in pending if key not in right and isinstance(key, str)]
                renamed = pair_keys(
                    lost,
                    (key for key in added if isinstance(key, str)),
                    self._policy.placeholder,
                    self._policy.begins_secret,
                )
                self.placeholders += len(renamed)
            taken = set(renamed.values())
            pending += [key for key in added if key not in taken]
        if not pending:
            return ()
        try:
            pending.sort()
        except TypeError:
            pending.sort(key=lambda key: (type(key).__name__, repr(key)))
        names = self._policy.skips.names if state is None else state.names
        children: list[Child] = []
        for key in pending:
            one, other = left.get(key, MISSING), right.get(renamed.get(key, key), MISSING)
            origin = names.get(key)
            if origin is not None:
                self._note_declared(key, one, other, origin)
            else:
                self._add(children, key, one, other, state)
        return children

    def _add(
        self, children: list[Child], segment: Segment, one: Any, other: Any, state: SkipState | None
    ) -> None:
        below = state.step(segment) if state is not None else None
        if below is not None and below.origin is not None:
            self._note_declared(segment, one, other, below.origin)
        else:
            children.append((segment, one, other, below))

    def _aligned_items(
        self, left: Sequence[Any], right: Sequence[Any], state: SkipState | None
    ) -> Sequence[Child]:
        items: list[Child] = []
        for index, other_index in align(left, right, self._policy.skips, state):
            if index is None:
                self._add(items, other_index or 0, MISSING, right[other_index or 0], state)
            elif other_index is None:
                self._add(items, index, left[index], MISSING, state)
            else:
                self._add(items, index, left[index], right[other_index], state)
        return items

    def _is_hole(self, left: Any, right: Any, segment: Segment) -> bool:
        placeholder = self._policy.placeholder or ""
        if type(left) is str and type(right) is str:
            return placeholder in left and matches_with_holes(
                left, right, placeholder, self._policy.begins_secret
            )
        if left is not MISSING and right is not MISSING:
            return False
        there = right if left is MISSING else left
        return self._policy.may_be_absent(segment, there) and self._first_step(segment) in MAY_LACK_SECRETS

    def _first_step(self, segment: Segment) -> object:
        """The part of a request in which ``segment`` stands."""
        steps = [*parse_path(self._path), *(frame.segment for frame in self._frames), segment]
        return next(step for step in steps if step is not _ROOT)

    def _judge(self, segment: Segment, left: Any, right: Any) -> tuple[int, Difference | None]:
        """Ask the plugins from the top down. Returns how many frames stay, and the difference that counts."""
        frames = self._frames
        if self._policy.hooks:
            path = self._path
            for depth, frame in enumerate(frames):
                path = path if frame.segment is _ROOT else join_path(path, frame.segment)
                if frame.asked:
                    continue
                frame.asked = True
                verdict = self._ask(path, frame.recorded, frame.incoming)
                if verdict is FieldVerdict.SKIP:
                    return depth, None
                if verdict is FieldVerdict.DIFFERENT:
                    return depth, Difference(path, frame.recorded, frame.incoming)
            if self._ask(self._where(segment), left, right) is FieldVerdict.SKIP:
                return len(frames), None
        return len(frames), Difference(self._where(segment), left, right)

    def _ask(self, path: str, left: Any, right: Any) -> FieldVerdict | None:
        verdict, plugin = self._policy.verdict(path, left, right)
        if verdict is FieldVerdict.SKIP and self._notes:
            self.skipped.append(SkippedField(path, plugin, "", "said by its compare_field"))
        return verdict

    def _note_declared(self, segment: Segment, left: Any, right: Any, origin: SkipOrigin) -> None:
        if not self._notes:
            return
        if next(Walk(ComparisonPolicy()).differences(left, right), None) is not None:
            where = self._where(self._entering, segment)
            self.skipped.append(SkippedField(where, *origin))

    def _where(self, *segments: Segment) -> str:
        steps = [*(frame.segment for frame in self._frames), *segments]
        return format_path((step for step in steps if step is not _ROOT), self._path)
