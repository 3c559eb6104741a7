"""Two recordings of one scenario, compared call by call: requests, answers, endings, events."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from openprogram_core._json import dump_model
from openprogram_core.comparison.differences import find_first_difference
from openprogram_core.comparison.editscript import edit_blocks
from openprogram_core.comparison.findings import Findings, explain
from openprogram_core.comparison.policy import ComparisonPolicy
from openprogram_core.errors import EventProtocolError

if TYPE_CHECKING:
    from openprogram_core.recordings import RecordedCall, Recording

MAX_EDITS = 500
"""Lanes further apart than this are paired call by call between their equal ends."""


@dataclass(frozen=True)
class CallDiff:
    """What differs between a call of the one recording and its partner in the other.

    ``first`` or ``second`` is None for a call that only one recording has; then the rest is empty. Without
    their messages (``message`` None) two calls could not be rebuilt, and only their events were compared.
    ``event_index`` is the first event that differs, None when none does.
    """

    lane: str | None
    first: RecordedCall | None
    second: RecordedCall | None
    request: Findings | None = None
    message: Findings | None = None
    ending: Findings | None = None
    event_index: int | None = None

    @property
    def equal(self) -> bool:
        """Whether nothing differs."""
        if self.first is None or self.second is None or self.event_index is not None:
            return False
        return not any(part.found for part in (self.request, self.message, self.ending) if part is not None)


def diff_recordings(first: Recording, second: Recording, policy: ComparisonPolicy) -> Iterator[CallDiff]:
    """Yield one `CallDiff` for each call of either recording, lane by lane, in order.

    Calls with equal requests belong together, and between those the others in their order; what is left and
    equal though in another place is paired last.
    """
    lefts, rights = _by_lane(first), _by_lane(second)
    for lane in dict.fromkeys((*lefts, *rights)):
        for left, right in _pairs(lefts.get(lane, []), rights.get(lane, []), policy):
            if left is None or right is None:
                yield CallDiff(lane, left, right)
            else:
                yield _compare(lane, left, right, policy)


def _by_lane(recording: Recording) -> dict[str | None, list[RecordedCall]]:
    lanes: dict[str | None, list[RecordedCall]] = {}
    for call in recording.calls:
        lanes.setdefault(call.lane, []).append(call)
    return lanes


def _pairs(
    lefts: Sequence[RecordedCall], rights: Sequence[RecordedCall], policy: ComparisonPolicy
) -> list[tuple[RecordedCall | None, RecordedCall | None]]:
    left_prints = [policy.fingerprint(call.request()) for call in lefts]
    right_prints = [policy.fingerprint(call.request()) for call in rights]
    pairs: list[tuple[int | None, int | None]] = []
    left_done = right_done = 0
    for block in edit_blocks(left_prints, right_prints, MAX_EDITS):
        pairs += zip(range(left_done, block.left_from), range(right_done, block.right_from), strict=True)
        gone, come = range(block.left_from, block.left_to), range(block.right_from, block.right_to)
        paired = min(len(gone), len(come))
        pairs += zip(gone[:paired], come[:paired], strict=True)
        pairs += [(index, None) for index in gone[paired:]]
        pairs += [(None, index) for index in come[paired:]]
        left_done, right_done = block.left_to, block.right_to
    pairs += zip(range(left_done, len(lefts)), range(right_done, len(rights)), strict=True)
    return [
        (None if one is None else lefts[one], None if other is None else rights[other])
        for one, other in _rejoined(pairs, left_prints, right_prints)
    ]


def _rejoined(
    pairs: list[tuple[int | None, int | None]], left_prints: list[bytes], right_prints: list[bytes]
) -> Iterator[tuple[int | None, int | None]]:
    """Pair a call that only the first has with an equal one that only the second has."""
    free: dict[bytes, list[int]] = {}
    for left, right in pairs:
        if left is None and right is not None:
            free.setdefault(right_prints[right], []).append(right)
    partners: dict[int, int] = {}
    for left, right in pairs:
        if right is None and left is not None and free.get(left_prints[left]):
            partners[left] = free[left_prints[left]].pop(0)
    taken = set(partners.values())
    for left, right in pairs:
        if left is None and right in taken:
            continue
        yield left, partners.get(left, right) if left is not None and right is None else right


def _compare(lane: str | None, left: RecordedCall, right: RecordedCall, policy: ComparisonPolicy) -> CallDiff:
    message = None
    event_index = _first_event(left, right, policy)
    if event_index is not None:
        one, other = _message(left), _message(right)
        if one is not None and other is not None:
            message = explain(one, other, "message", policy=policy)
    return CallDiff(
        lane,
        left,
        right,
        explain(left.request(), right.request(), policy=policy),
        message,
        explain(_ending(left), _ending(right), policy=policy),
        event_index,
    )


def _ending(call: RecordedCall) -> dict[str, Any]:
    return {"outcome": call.outcome, "error": call.error}


def _first_event(left: RecordedCall, right: RecordedCall, policy: ComparisonPolicy) -> int | None:
    shared = min(left.event_count, right.event_count)
    for index, (one, other) in enumerate(zip(left.events(), right.events(), strict=False)):
        # Not by ==, for which 1 is True.
        left_json, right_json = dump_model(one), dump_model(other)
        if left_json == right_json:
            continue
        difference = find_first_difference(
            json.loads(left_json), json.loads(right_json), "event", policy=policy
        )
        if difference is not None:
            return index
    return None if left.event_count == right.event_count else shared


def _message(call: RecordedCall) -> dict[str, Any] | None:
    """The message a call's events make, None when they make none."""
    from openprogram_core.providers import MessageBuilder

    builder = MessageBuilder()
    try:
        for event in call.events():
            if builder.done:
                break
            builder.add(event)
        return cast("dict[str, Any]", json.loads(dump_model(builder.message)))
    except EventProtocolError:
        return None
