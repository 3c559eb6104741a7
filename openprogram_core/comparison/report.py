"""Findings as plain text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from openprogram_core.comparison.findings import Finding, Findings
from openprogram_core.comparison.policy import ComparisonPolicy
from openprogram_core.comparison.textdiff import render_changes
from openprogram_core.comparison.texts import describe, json_type, show, show_pair
from openprogram_core.comparison.walk import SkippedField

LONG_TEXT = 60
"""A pair of strings of which one is longer is shown as a diff."""


Sides = tuple[str, str]
SIDES: Sides = ("recorded", "incoming")
"""What the two sides of a comparison are called."""


def render_findings(findings: Findings, sides: Sides = SIDES) -> list[str]:
    """Return the lines for what differs; ``sides`` are the words for the two values."""
    lines: list[str] = []
    for finding in findings.found:
        lines += render_finding(finding, sides)
    if findings.more:
        lines.append(f"and {findings.more} more")
    return lines


def render_finding(finding: Finding, sides: Sides = SIDES) -> Iterator[str]:
    """Yield the lines for one finding; the first is not indented."""
    path = finding.field_path or "(the whole value)"
    match finding.kind:
        case "inserted" | "added":
            yield f"{path} {finding.kind}: {describe(finding.incoming)}"
        case "removed":
            yield f"{path} removed: {describe(finding.recorded)}"
        case "moved":
            yield f"{path} moved to {finding.other_path}: {describe(finding.recorded)}"
        case "swapped":
            yield f"{path} and {finding.other_path} changed places"
            yield from _pair(finding, sides)
        case "changed":
            yield path
            yield from _pair(finding, sides)


def _pair(finding: Finding, sides: Sides) -> Iterator[str]:
    recorded, incoming = finding.recorded, finding.incoming
    if type(recorded) is str and type(incoming) is str and max(len(recorded), len(incoming)) > LONG_TEXT:
        for line in render_changes(recorded, incoming, sides=sides):
            yield f"  {line}"
        return
    left, right = show_pair(recorded, incoming, 400)
    if type(recorded) is not type(incoming) and not left.endswith(")"):
        left, right = f"{left} ({json_type(recorded)})", f"{right} ({json_type(incoming)})"
    yield f"  {sides[0]} {left}"
    yield f"  {sides[1]} {right}"


def render_out_of_reach(findings: Findings, policy: ComparisonPolicy) -> list[str]:
    """Return one line for each skip by name that does not reach what was found, and how to skip it."""
    places: dict[tuple[str, str], list[str]] = {}
    for finding in findings.found:
        origin = policy.skips.out_of_reach(finding.field_path)
        if origin is not None:
            places.setdefault((origin.field, origin.plugin), []).append(finding.field_path)
    return [
        f"{show(field)[1:-1]} ({plugin}) is not skipped at {', '.join(paths[:3])}"
        f"{', …' if len(paths) > 3 else ''}: such a name there is no field of a message. "
        "Skip it by its path if it does not count"
        for (field, plugin), paths in places.items()
    ]


def render_skipped(skipped: Sequence[SkippedField], placeholders: int) -> list[str]:
    """Return one line for each declaration that skipped something, and one for the placeholders."""
    groups: dict[tuple[str, str, str], list[str]] = {}
    for one in skipped:
        groups.setdefault((one.plugin, one.field, one.reason), []).append(one.field_path)
    lines = []
    for (plugin, field, reason), paths in groups.items():
        what = show(field)[1:-1] if field else "fields"
        places = "1 place" if len(paths) == 1 else f"{len(paths)} places"
        shown = ", ".join(paths[:3]) + (", …" if len(paths) > 3 else "")
        why = f"{plugin}: {reason}" if reason else plugin
        lines.append(f"skipped {what} at {places} ({why}): {shown}")
    if placeholders:
        times = "once" if placeholders == 1 else f"{placeholders} times"
        lines.append(f"a placeholder stood for a removed secret {times}")
    return lines
