"""The two questions of comparison: where is the first difference, and where are all of them."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from itertools import islice
from typing import Any

from openprogram_core.comparison.policy import ComparisonPolicy
from openprogram_core.comparison.walk import Difference, SkippedField, Walk


@dataclass(frozen=True)
class Comparison:
    """Everything one comparison found.

    ``differences`` up to the limit and how many ``more`` there are; ``skipped`` are the differences that do
    not count and who said so; ``placeholders`` is how often a placeholder stood for a secret of the other
    side.
    """

    differences: tuple[Difference, ...]
    more: int
    skipped: tuple[SkippedField, ...]
    placeholders: int


def default_policy() -> ComparisonPolicy:
    """Return the policy of the installed plugins; loads them at the first call and activates nothing."""
    from openprogram_core._plugins import default_plugin_set

    return ComparisonPolicy.from_plugins(default_plugin_set())


def find_first_difference(
    recorded: Any,
    incoming: Any,
    path: str = "",
    *,
    policy: ComparisonPolicy | None = None,
    known_equal: Collection[tuple[int, int]] = (),
) -> Difference | None:
    """Return the first difference of two JSON values, or None when they are equal under the skips.

    Dicts are walked by sorted key, lists by index, so a pair always gives the same path. Types count: ``1``,
    ``1.0`` and ``True`` differ, NaN equals NaN; two values are equal when JSON would write them the same,
    the order of keys aside. A missing key or index is `MISSING`. ``path`` is where the two values stand; it
    is put before the paths that are found.

    Without ``policy`` the installed plugins' skips and ``compare_field`` hooks apply, and a placeholder is
    text like any other; `ComparisonPolicy.exact` leaves the plugins out, `ComparisonPolicy.for_replay` reads
    placeholders as replay does. ``known_equal`` are pairs of the ``id()`` of a recorded and an incoming dict
    or list that are equal: who compares much of the same again need not pay for it again.
    Raises PluginError when a plugin failed.
    """
    walk = Walk(policy or default_policy(), path, known_equal=known_equal)
    return next(walk.differences(recorded, incoming), None)


def find_differences(
    recorded: Any,
    incoming: Any,
    path: str = "",
    *,
    policy: ComparisonPolicy | None = None,
    limit: int | None = None,
) -> list[Difference]:
    """Return all differences in order, at most ``limit``; the first is `find_first_difference`'s."""
    walk = Walk(policy or default_policy(), path)
    return list(islice(walk.differences(recorded, incoming), limit))


def compare(
    recorded: Any,
    incoming: Any,
    path: str = "",
    *,
    policy: ComparisonPolicy | None = None,
    limit: int = 100,
    aligned: bool = False,
) -> Comparison:
    """Compare two values for a report: what differs, what was skipped and by whom.

    ``aligned`` pairs the items of lists by what is equal in them, so that an insertion is one difference and
    not one for each item it shifts; an index is then the recorded side's, and the incoming side's where only
    that has the item.
    """
    walk = Walk(policy or default_policy(), path, notes=True, aligned=aligned)
    differences = walk.differences(recorded, incoming)
    found = tuple(islice(differences, limit))
    more = sum(1 for _ in differences)
    return Comparison(found, more, tuple(walk.skipped), walk.placeholders)
