"""Runs code in a fresh interpreter, with a state directory of its own."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from collections.abc import Mapping
from pathlib import Path


def run_python(
    code: str,
    *,
    home: Path,
    env: Mapping[str, str] | None = None,
    timeout: float = 60,
    python: str | Path = sys.executable,
) -> subprocess.CompletedProcess[str]:
    """Run ``code`` and return what it printed and its exit code. ``home`` is its ``OPENPROGRAM_HOME``."""
    variables = {name: value for name, value in os.environ.items() if not name.endswith("_API_KEY")}
    variables |= {"OPENPROGRAM_HOME": str(home), "PYTHONWARNINGS": "error", **(env or {})}
    return subprocess.run(
        [str(python), "-c", textwrap.dedent(code)],
        capture_output=True,
        text=True,
        env=variables,
        timeout=timeout,
        check=False,
    )
