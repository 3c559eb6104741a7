"""Differences as a person reads them: what was inserted, removed, moved, swapped or changed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from openprogram_core.comparison.differences import compare
from openprogram_core.comparison.digest import fingerprint
from openprogram_core.comparison.policy import ComparisonPolicy
from openprogram_core.comparison.walk import MISSING, Difference, SkippedField

Kind = Literal["changed", "inserted", "added", "removed", "moved", "swapped"]


@dataclass(frozen=True)
class Finding:
    """One thing that happened. ``other_path`` is where it went (moved) or what it changed places with."""

    kind: Kind
    field_path: str
    recorded: Any
    incoming: Any
    other_path: str | None = None


@dataclass(frozen=True)
class Findings:
    """The findings in order, how many ``more`` there are, and what did not count.

    ``skipped`` and ``placeholders`` as in `openprogram_core.comparison.Comparison`.
    """

    found: tuple[Finding, ...]
    more: int
    skipped: tuple[SkippedField, ...]
    placeholders: int


def explain(
    recorded: Any, incoming: Any, path: str = "", *, policy: ComparisonPolicy, limit: int = 20
) -> Findings:
    """Compare for a reader: lists are paired by what is equal, and what belongs together is one finding."""
    comparison = compare(recorded, incoming, path, policy=policy, limit=1_000, aligned=True)
    found = _gathered(comparison.differences, policy)
    more = comparison.more + max(len(found) - limit, 0)
    return Findings(tuple(found[:limit]), more, comparison.skipped, comparison.placeholders)


def _gathered(differences: Sequence[Difference], policy: ComparisonPolicy) -> list[Finding]:
    """Join two differences that are one: a removal and an insertion, or two values that changed places."""
    prints = [_prints(one, policy) for one in differences]
    waiting: dict[tuple[bytes, ...], list[int]] = {}
    partner: dict[int, int] = {}
    for index, (recorded, incoming) in enumerate(prints):
        reverse = waiting.get((incoming, recorded))
        if reverse and recorded != incoming:
            first = reverse.pop(0)
            partner[first], partner[index] = index, -1
        else:
            waiting.setdefault((recorded, incoming), []).append(index)
    findings: list[Finding] = []
    for index, one in enumerate(differences):
        other = partner.get(index)
        if other is None:
            findings.append(Finding(_kind(one), one.field_path, one.recorded, one.incoming))
        elif other >= 0:
            findings.append(_joined(one, differences[other]))
    return findings


def _prints(difference: Difference, policy: ComparisonPolicy) -> tuple[bytes, ...]:
    state, _ = policy.skips.at(difference.field_path)
    sides = (difference.recorded, difference.incoming)
    return tuple(b"" if side is MISSING else fingerprint(side, policy.skips, state) for side in sides)


def _joined(one: Difference, other: Difference) -> Finding:
    if MISSING not in (one.recorded, one.incoming):
        return Finding("swapped", one.field_path, one.recorded, one.incoming, other.field_path)
    gone, come = (one, other) if one.incoming is MISSING else (other, one)
    return Finding("moved", gone.field_path, gone.recorded, come.incoming, come.field_path)


def _kind(difference: Difference) -> Kind:
    if difference.incoming is MISSING:
        return "removed"
    if difference.recorded is MISSING:
        # A quoted key ends in a bracket too.
        return "inserted" if difference.field_path[-2:-1].isdigit() else "added"
    return "changed"
