"""The numbers of the format, where a command can have them without loading the format."""

from __future__ import annotations

RECORDING_FORMAT_VERSION = 1
"""Compared for equality by the reader. Raised when required fields or their meaning change."""

MAX_ROW_BYTES = 64 * 1024 * 1024
"""Longest row, its newline included, that is written or read."""
