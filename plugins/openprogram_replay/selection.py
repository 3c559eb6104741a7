"""Which recorded call answers a request: the next of its lane, or any that is equal."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, Protocol

from openprogram_core.comparison import ComparisonPolicy, Difference, find_differences, find_first_difference
from openprogram_core.recordings import RecordedCall
from openprogram_replay.checking import RequestChecker
from openprogram_replay.kinds import Kind, Kinds

WEIGHED = 50
"""Most calls a request that fits none is held against, to name the closest."""


class Refusal(NamedTuple):
    """No call answers: what the mismatch says, and the call the request was held against, if any."""

    call_index: int
    difference: Difference
    expected: RecordedCall | None


class Selection(Protocol):
    """Chooses calls and knows which are used up. Not thread-safe; its owner has a lock."""

    used: set[int]

    def take(self, lane: str | None, incoming: dict[str, Any]) -> RecordedCall | Refusal:
        """Return the call that answers, used up from now on; a refusal uses up nothing."""
        ...


def count_calls(number: int) -> str:
    """Return ``1 call``, ``2 calls``."""
    return "1 call" if number == 1 else f"{number} calls"


class OrderedSelection:
    """The next call of the lane, and no other."""

    def __init__(self, calls: Sequence[RecordedCall], policy: ComparisonPolicy) -> None:
        self.used: set[int] = set()
        self._calls = calls
        self._policy = policy
        self._lanes: dict[str | None, list[int]] = {}
        self._next: dict[str | None, int] = {}
        self._checkers: dict[str | None, RequestChecker] = {}
        for call in calls:
            self._lanes.setdefault(call.lane, []).append(call.call_index)

    def take(self, lane: str | None, incoming: dict[str, Any]) -> RecordedCall | Refusal:
        """See `Selection.take`."""
        indexes = self._lanes.get(lane, [])
        position = self._next.get(lane, 0)
        if position >= len(indexes):
            where = "" if list(self._lanes) in ([lane], []) else f" {in_lane(lane)}"
            recorded = (count_calls(len(indexes)) if indexes else "no call") + where
            return Refusal(len(self._calls), Difference("call_index", recorded, "one more call"), None)
        call = self._calls[indexes[position]]
        checker = self._checkers.get(lane)
        if checker is None:
            checker = self._checkers[lane] = RequestChecker(self._policy)
        difference = checker.difference(call, incoming)
        if difference is not None:
            return Refusal(call.call_index, difference, call)
        self._next[lane] = position + 1
        if position + 1 == len(indexes):
            del self._checkers[lane]
        self.used.add(call.call_index)
        return call


def in_lane(lane: str | None) -> str:
    """Return how a message says in which lane something is."""
    return "outside every lane" if lane is None else f"in lane {lane!r}"


def listed(indexes: Sequence[int], most: int = 5) -> str:
    """Return calls by their indexes, those beyond ``most`` only counted."""
    shown = ", ".join(map(str, indexes[:most]))
    return shown + (f" and {len(indexes) - most} more" if len(indexes) > most else "")


def _own_lane_first(lane: str | None, kinds: Sequence[dict[str | None, _Bucket]]) -> list[_Bucket]:
    own = [lanes[lane] for lanes in kinds if lane in lanes]
    return own + [bucket for lanes in kinds for name, bucket in lanes.items() if name != lane]


class _Bucket:
    """The calls of one lane and kind, hashed one after the other as far as needed."""

    def __init__(self) -> None:
        self.calls: list[RecordedCall] = []
        self.hashed = 0
        self.by_print: dict[bytes, deque[RecordedCall]] = {}


class AnyOrderSelection:
    """The first unused call that is equal: of the same lane if there is one, else of any."""

    def __init__(self, calls: Sequence[RecordedCall], policy: ComparisonPolicy) -> None:
        self.used: set[int] = set()
        self._calls = calls
        self._policy = policy
        self._kinds = Kinds(policy)
        self._buckets: dict[Kind, dict[str | None, _Bucket]] = {}
        for call in calls:
            lanes = self._buckets.setdefault(self._kinds.of_call(call), {})
            lanes.setdefault(call.lane, _Bucket()).calls.append(call)

    def take(self, lane: str | None, incoming: dict[str, Any]) -> RecordedCall | Refusal:
        """See `Selection.take`."""
        kind = self._kinds.of_request(incoming)
        buckets = _own_lane_first(lane, [self._buckets.get(kind, {})])
        wanted = self._policy.fingerprint(incoming)
        call = next((found for bucket in buckets if (found := self._hashed(bucket, wanted))), None)
        if call is None:
            call = next(self._equal(buckets, incoming), None)
        if call is None and self._policy.hooks:
            # A plugin may say that the model or a whole message does not count.
            others = [lanes for other, lanes in self._buckets.items() if other != kind]
            call = next(self._equal(_own_lane_first(lane, others), incoming), None)
        chosen = call if call is not None else self._refuse(buckets, incoming)
        if not isinstance(chosen, Refusal):
            self.used.add(chosen.call_index)
        return chosen

    def _hashed(self, bucket: _Bucket, wanted: bytes) -> RecordedCall | None:
        while True:
            queue = bucket.by_print.get(wanted)
            while queue:
                call = queue.popleft()
                if call.call_index not in self.used:
                    return call
            if bucket.hashed == len(bucket.calls):
                return None
            call = bucket.calls[bucket.hashed]
            bucket.by_print.setdefault(self._policy.fingerprint(call.request()), deque()).append(call)
            bucket.hashed += 1

    def _equal(self, buckets: list[_Bucket], incoming: dict[str, Any]) -> Iterator[RecordedCall]:
        """Yield unused calls that are equal by the plugins' word, or where a secret was removed."""
        for bucket in buckets:
            for call in bucket.calls:
                if call.call_index in self.used:
                    continue
                if find_first_difference(call.request(), incoming, policy=self._policy) is None:
                    yield call

    def _refuse(self, buckets: list[_Bucket], incoming: dict[str, Any]) -> RecordedCall | Refusal:
        similar = [call for bucket in buckets for call in bucket.calls]
        free = [call for call in similar if call.call_index not in self.used]
        free = free or [call for call in self._calls if call.call_index not in self.used]
        wanted = self._policy.fingerprint(incoming)
        equal = sum(self._policy.fingerprint(call.request()) == wanted for call in similar)
        if equal or not free:
            recorded = f"{count_calls(equal)} equal to it" if equal else count_calls(len(self._calls))
            return Refusal(len(self._calls), Difference("call_index", recorded, "one more call"), None)
        differences, call = self._closest(free, incoming)
        return Refusal(call.call_index, differences[0], call) if differences else call

    def _closest(
        self, free: list[RecordedCall], incoming: dict[str, Any]
    ) -> tuple[list[Difference], RecordedCall]:
        """The call with the fewest differences, all of them; of several the first."""
        best: tuple[list[Difference], RecordedCall] | None = None
        for call in free[:WEIGHED]:
            limit = len(best[0]) if best is not None else None
            found = find_differences(call.request(), incoming, policy=self._policy, limit=limit)
            if best is None or len(found) < len(best[0]):
                best = (found, call)
        assert best is not None  # free is not empty
        return best
