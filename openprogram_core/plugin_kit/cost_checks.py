"""Measures what a plugin costs: its hooks by the call, its rules by the kilobyte of clean text."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Container, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from openprogram_core.plugin_kit.findings import Finding
from openprogram_core.plugin_kit.rule_checks import redactor_with
from openprogram_core.plugin_kit.samples import PLAIN_TEXT, STRINGS, differing_values

if TYPE_CHECKING:
    from openprogram_core._plugins import PluginSet
    from openprogram_core.redaction import SecretRule

BUDGET_S = 0.03
"""How long one figure may take to measure."""
SLOW_CALL_S = 50e-6
"""A hook that takes longer for one ordinary value is slow: a long request has thousands of them."""
SLOW_KILOBYTE_S = 10e-6
"""A rule that takes longer for a kilobyte of clean text is slow: all built-in ones together take less."""
STRINGS_IN_A_LONG_REQUEST = 2_200


def check_hook_costs(
    name: str, alone: PluginSet, *, without: Container[str | None] = ()
) -> Iterator[Finding]:
    """Yield what one call of the hooks costs that are called again and again; ``without`` the broken ones."""
    path, value = STRINGS[0]
    for hook in () if "redact_value" in without else alone.hooks("redact_value"):
        seconds = _best_time(partial(hook, field_path=path, value=value))
        yield _figure(name, "redact_value", seconds, "string of 200 characters", STRINGS_IN_A_LONG_REQUEST)
    path, recorded, incoming = differing_values()[3]
    for hook in () if "compare_field" in without else alone.hooks("compare_field"):
        seconds = _best_time(partial(hook, field_path=path, recorded=recorded, incoming=incoming))
        yield _figure(name, "compare_field", seconds, "field that differs", None)


def check_rule_costs(name: str, rules: Sequence[SecretRule], base: PluginSet) -> Iterator[Finding]:
    """Yield what each rule without literals costs; those with literals cost next to nothing together."""
    from openprogram_core.redaction import Redactor, ValueRule

    # A different text each time: what was found in a text once is remembered.
    texts = (f"{PLAIN_TEXT * 50}{number}" for number in itertools.count())
    kilobytes = len(PLAIN_TEXT) * 50 / 1000
    searched = [rule for rule in rules if isinstance(rule, ValueRule) and not rule.literals]
    if not searched:
        return

    def time_of(redactor: Redactor) -> float:
        return _best_time(lambda: redactor.remove_secret_values(next(texts)))

    floor = time_of(Redactor.from_plugins(base))
    for rule in searched:
        taken = time_of(redactor_with(name, [rule], base))
        seconds = max(taken - floor, 0.0) / kilobytes
        slow = seconds > SLOW_KILOBYTE_S
        yield Finding(
            "warning" if slow else "info",
            name,
            "secret_rules",
            f"rule {rule.name!r} has no literals and costs {seconds * 1e6:.1f} µs a kilobyte of clean text "
            f"(the built-in rules together: {floor / kilobytes * 1e6:.1f} µs)",
            "Name literals, one of which stands in every match" if slow else "",
        )


def _figure(name: str, hook_name: str, seconds: float, what: str, times: int | None) -> Finding:
    slow = seconds > SLOW_CALL_S
    message = f"takes {seconds * 1e6:,.1f} µs a {what}"
    if slow and times is not None:
        message += f", so {seconds * times:,.2f} s in a request of {times:,} strings"
    return Finding(
        "warning" if slow else "info",
        name,
        hook_name,
        message,
        "Look for a literal first ('in' costs nothing), and compile patterns at import" if slow else "",
    )


def _best_time(act: Callable[[], object]) -> float:
    """Return the shortest of several runs in seconds; one long run is enough."""
    best = float("inf")
    end = time.perf_counter() + BUDGET_S
    while True:
        begin = time.perf_counter()
        act()
        now = time.perf_counter()
        best = min(best, now - begin)
        if now >= end:
            return best
