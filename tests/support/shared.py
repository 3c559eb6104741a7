"""Finds the real streams and cases that lie beside the project, where they do."""

from __future__ import annotations

from pathlib import Path

import pytest

PROJECT_ROOT = Path(__file__).resolve().parents[2]


def shared_path(name: str) -> Path:
    """Return ``../shared/<name>``; skips the test with the reason where it is missing."""
    path = PROJECT_ROOT.parent / "shared" / name
    if not path.exists():
        pytest.skip(f"needs {name} in the folder 'shared' beside the project, which is not there")
    return path
