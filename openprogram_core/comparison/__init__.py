"""Comparison: field paths, verdicts, first difference, all differences."""

from openprogram_core.comparison.differences import (
    Comparison,
    compare,
    find_differences,
    find_first_difference,
)
from openprogram_core.comparison.findings import Finding, Findings, explain
from openprogram_core.comparison.given import check_request_skips, unmet_skips
from openprogram_core.comparison.paths import FieldPathError, any_index_path
from openprogram_core.comparison.policy import ComparisonPolicy
from openprogram_core.comparison.recording_diff import CallDiff, diff_recordings
from openprogram_core.comparison.report import render_findings, render_out_of_reach, render_skipped
from openprogram_core.comparison.texts import escape, one_line_difference
from openprogram_core.comparison.verdicts import FieldSkip, FieldVerdict
from openprogram_core.comparison.walk import MISSING, Difference, SkippedField

__all__ = [
    "MISSING",
    "CallDiff",
    "Comparison",
    "ComparisonPolicy",
    "Difference",
    "FieldPathError",
    "FieldSkip",
    "FieldVerdict",
    "Finding",
    "Findings",
    "SkippedField",
    "any_index_path",
    "check_request_skips",
    "compare",
    "diff_recordings",
    "escape",
    "explain",
    "find_differences",
    "find_first_difference",
    "one_line_difference",
    "render_findings",
    "render_out_of_reach",
    "render_skipped",
    "unmet_skips",
]
