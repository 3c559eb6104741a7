"""Comparison: field paths, verdicts, first difference, all differences."""

from openprogram_core.comparison.verdicts import FieldSkip, FieldVerdict

__all__ = ["FieldSkip", "FieldVerdict"]
