"""Comparison: field paths, verdicts, first difference, all differences."""

from openprogram_core.comparison.differences import (
    Comparison,
    compare,
    find_differences,
    find_first_difference,
)
from openprogram_core.comparison.paths import FieldPathError
from openprogram_core.comparison.policy import ComparisonPolicy
from openprogram_core.comparison.verdicts import FieldSkip, FieldVerdict
from openprogram_core.comparison.walk import MISSING, Difference, SkippedField

__all__ = [
    "MISSING",
    "Comparison",
    "ComparisonPolicy",
    "Difference",
    "FieldPathError",
    "FieldSkip",
    "FieldVerdict",
    "SkippedField",
    "compare",
    "find_differences",
    "find_first_difference",
]
