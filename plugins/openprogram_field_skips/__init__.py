"""Skips the fields that differ on every run: wall-clock times.

PYTEST_DONT_REWRITE: no assertions in here, and pytest need not warn that it comes too late for them.
"""

from openprogram_core import hookimpl
from openprogram_core.comparison import FieldSkip

NON_DETERMINISTIC_FIELD_NAMES: frozenset[str] = frozenset({"timestamp"})
"""Names of wall-clock fields, which are not compared.

In a request not below what others name: a tool's parameter or argument called ``timestamp`` is compared. See
`openprogram_core.comparison.FieldSkip`."""

__all__ = ["NON_DETERMINISTIC_FIELD_NAMES", "field_skips"]


@hookimpl
def field_skips() -> list[FieldSkip]:
    """Declare `NON_DETERMINISTIC_FIELD_NAMES` as skips."""
    return [FieldSkip(name, reason="wall-clock time") for name in sorted(NON_DETERMINISTIC_FIELD_NAMES)]
