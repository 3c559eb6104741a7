"""The report of a mismatch: every difference, which recorded call fits best, and what did not count."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from openprogram_core.comparison import (
    ComparisonPolicy,
    Findings,
    escape,
    explain,
    find_first_difference,
    render_findings,
    render_out_of_reach,
    render_skipped,
    unmet_skips,
)
from openprogram_core.recordings import RecordedCall, Recording
from openprogram_replay.advice import (
    NOT_MADE,
    ONE_MORE_CALL,
    READ_PAST,
    ReplayWording,
    advise_fields,
    advise_lane,
    advise_new_lane,
    advise_order,
)
from openprogram_replay.kinds import Kinds
from openprogram_replay.selection import count_calls, in_lane

if TYPE_CHECKING:
    from openprogram_core.redaction import Redactor

LOOKED_AT = 500
"""Most calls that are read to find an equal one; the nearest to the expected one."""

WEIGHED = 20
"""Most calls whose differences are counted to find the closest."""

SHOWN = 20
"""Most differences that are listed."""


@dataclass(frozen=True)
class MismatchFacts:
    """What was the case when a request was refused. ``used`` are the calls used up until then."""

    recording: Recording
    order: str
    lane: str | None
    incoming: dict[str, Any]
    expected: RecordedCall | None
    used: frozenset[int]
    policy: ComparisonPolicy
    redactor: Redactor
    wording: ReplayWording


class _Closest(NamedTuple):
    call: RecordedCall
    findings: Findings


def make_report(facts: MismatchFacts) -> str:
    """Return the report below its first line. Never raises."""
    return _joined(_lines(facts), facts.wording)


def make_leftover_report(recording: Recording, left: list[int], wording: ReplayWording) -> str:
    """Return the report on calls that were recorded and not made. Never raises."""
    return _joined(_leftover_lines(recording, left), wording)


def make_read_past_report(recording: Recording, wording: ReplayWording) -> str:
    """Return the report on a stream that is read on where the recorded one was left."""
    return _joined(iter((f"recording {recording.path}", "", READ_PAST)), wording)


def _joined(lines: Iterator[str], wording: ReplayWording) -> str:
    closing = f"\n{escape(wording.closing)}" if wording.closing else ""
    # A report that fails must not hide the mismatch it explains.
    try:
        return "\n".join(escape(line) for line in lines) + closing
    except Exception as error:
        return f"(no report: {type(error).__name__}; was the recording closed or changed?){closing}"


def _leftover_lines(recording: Recording, left: list[int]) -> Iterator[str]:
    yield f"recording {recording.path}: {count_calls(len(recording.calls))}, of which were not made:"
    for index in left[:SHOWN]:
        call = recording.calls[index]
        lane = "" if call.lane is None else f", {in_lane(call.lane)}"
        messages = "1 message" if call.message_count == 1 else f"{call.message_count} messages"
        yield f"  call {index}: {call.model_id}, {messages}{lane}"
    if len(left) > SHOWN:
        yield f"  and {len(left) - SHOWN} more"
    yield ""
    yield NOT_MADE


def _lines(facts: MismatchFacts) -> Iterator[str]:
    calls = facts.recording.calls
    where = "" if facts.lane is None else f", {in_lane(facts.lane)}"
    used = f"{count_calls(len(calls))}, {len(facts.used)} used"
    yield f"recording {facts.recording.path}: {used}, {facts.order}{where}"
    equal = _equal_calls(facts)
    compared = facts.expected
    if equal:
        yield _equal_line(facts, equal)
    else:
        closest = _closest(facts)
        if closest is not None and (compared is None or closest.call.call_index != compared.call_index):
            yield (
                f"closest is call {closest.call.call_index}, with {_differences(closest.findings)}"
                + _state_of(facts, closest.call)
            )
            compared = compared or closest.call
        elif facts.expected is not None and len(calls) > 1:
            yield f"no recorded call is equal; call {facts.expected.call_index} is the closest"
        elif not calls:
            yield "the recording holds no call"
    if facts.expected is None:
        yield from _lanes(facts)
    findings = None
    if compared is not None and not (facts.expected is None and equal):
        findings = _explain(facts, compared)
        yield ""
        yield f"call {compared.call_index} has {_differences(findings)} from this request:"
        for line in render_findings(findings):
            yield f"  {line}"
        yield from render_out_of_reach(findings, facts.policy)
        yield from render_skipped(findings.skipped, findings.placeholders)
    unmet = unmet_skips(facts.policy.skips.given, _requests(facts))
    if unmet:
        yield f"skips that met nothing: {', '.join(unmet)}"
    yield ""
    yield from _advice(facts, equal, findings)


def _requests(facts: MismatchFacts) -> Iterator[dict[str, Any]]:
    yield facts.incoming
    for call in _nearest(facts, WEIGHED):
        yield call.request()


def _advice(facts: MismatchFacts, equal: list[RecordedCall], findings: Findings | None) -> Iterator[str]:
    call = _first_free(facts, equal)
    lanes = {one.lane for one in facts.recording.calls}
    if call is not None and call.lane != facts.lane:
        yield from advise_lane(call.lane)
    elif call is not None:
        yield from advise_order(facts.wording)
    elif facts.expected is None and facts.order == "ordered" and lanes and facts.lane not in lanes:
        yield from advise_new_lane(in_lane(facts.lane))
    elif facts.expected is None or equal or findings is None:
        yield ONE_MORE_CALL
    else:
        yield from advise_fields(findings, facts.wording)


def _explain(facts: MismatchFacts, call: RecordedCall) -> Findings:
    recorded = facts.redactor.remove_secret_values(call.request())
    return explain(recorded, facts.incoming, policy=facts.policy, limit=SHOWN)


def _differences(findings: Findings) -> str:
    number = len(findings.found) + findings.more
    return "1 difference" if number == 1 else f"{number} differences"


def _nearest(facts: MismatchFacts, most: int) -> list[RecordedCall]:
    """The calls nearest to the expected one, nearest first."""
    calls = facts.recording.calls
    start = facts.expected.call_index if facts.expected is not None else max(len(calls) - 1, 0)
    near = range(max(start - most, 0), min(start + most, len(calls)))
    return [calls[index] for index in sorted(near, key=lambda index: (abs(index - start), index))[:most]]


def _equal_calls(facts: MismatchFacts) -> list[RecordedCall]:
    kinds = Kinds(facts.policy)
    kind = kinds.of_request(facts.incoming)
    return [
        call
        for call in _nearest(facts, LOOKED_AT)
        if (facts.policy.hooks or kinds.of_call(call) == kind)
        and find_first_difference(call.request(), facts.incoming, policy=facts.policy) is None
    ]


def _first_free(facts: MismatchFacts, equal: list[RecordedCall]) -> RecordedCall | None:
    free = [call for call in equal if call.call_index not in facts.used]
    return next((call for call in free if call.lane == facts.lane), free[0] if free else None)


def _equal_line(facts: MismatchFacts, equal: list[RecordedCall]) -> str:
    call = _first_free(facts, equal)
    if call is None:
        times = len(equal)
        calls = ", ".join(str(call.call_index) for call in sorted(equal, key=lambda call: call.call_index))
        return (
            f"equal to call {calls}: recorded {_times(times)}, used {_times(times)}, "
            f"this is the {_ordinal(times + 1)} time"
        )
    if call.lane != facts.lane:
        return (
            f"equal to call {call.call_index}, which was recorded {in_lane(call.lane)}; "
            f"this call was made {in_lane(facts.lane)}: is call_lane() missing or another?"
        )
    missed = [
        other.call_index
        for other in facts.recording.calls[: call.call_index]
        if other.lane == facts.lane and other.call_index not in facts.used
    ]
    what = "call" if len(missed) == 1 else "calls"
    was = "was" if len(missed) == 1 else "were"
    return f"equal to call {call.call_index}: {what} {_listed(missed)} {was} not made"


def _closest(facts: MismatchFacts) -> _Closest | None:
    best: _Closest | None = None
    api = facts.incoming["model"].get("api")
    for call in _nearest(facts, WEIGHED):
        if call.api != api and facts.policy.compares("model.api"):
            continue
        findings = _explain(facts, call)
        if best is None or _weight(findings) < _weight(best.findings):
            best = _Closest(call, findings)
    return best


def _weight(findings: Findings) -> int:
    return len(findings.found) + findings.more


def _state_of(facts: MismatchFacts, call: RecordedCall) -> str:
    if call.call_index in facts.used:
        return ", and it was used already"
    return "" if call.lane == facts.lane else f", {in_lane(call.lane)}"


def _lanes(facts: MismatchFacts) -> Iterator[str]:
    counts: dict[str | None, int] = {}
    for call in facts.recording.calls:
        counts[call.lane] = counts.get(call.lane, 0) + 1
    if list(counts) not in ([], [facts.lane]):
        yield "recorded: " + ", ".join(
            f"{count_calls(number)} {in_lane(lane)}" for lane, number in counts.items()
        )


def _listed(indexes: list[int]) -> str:
    if len(indexes) > 5:
        return f"{', '.join(map(str, indexes[:5]))} and {len(indexes) - 5} more"
    *head, last = map(str, indexes)
    return f"{', '.join(head)} and {last}" if head else last


def _times(number: int) -> str:
    return {1: "once", 2: "twice"}.get(number, f"{number} times")


def _ordinal(number: int) -> str:
    words = {1: "first", 2: "second", 3: "third", 4: "fourth", 5: "fifth"}
    return words.get(number, f"{number}th")
