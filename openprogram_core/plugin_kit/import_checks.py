"""Checks that importing a plugin does nothing but import: in a fresh interpreter, watched."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from openprogram_core.plugin_kit.findings import Finding

TIMEOUT_S = 60.0
SLOW_IMPORT_S = 0.5

_INSIDE = (
    "Do it inside the hook or the call that needs it: the plugin is imported whenever plugins are loaded"
)


def check_import(name: str, target: str, *, timeout: float = TIMEOUT_S) -> Iterator[Finding]:
    """Yield what importing ``target`` (``module`` or ``module:attribute``) does besides defining names.

    An import that fails yields nothing here; that is what loading reports.
    """
    try:
        result, printed = _probe(target, timeout)
    except subprocess.TimeoutExpired:
        yield Finding("error", name, None, f"its import did not end within {timeout:g} s", _INSIDE)
        return
    if result is None:
        yield Finding("error", name, None, "its import ended the interpreter", _INSIDE)
        return
    if "failed" in result:
        return
    for act in result["acts"]:
        yield Finding("error", name, None, f"its import {act['act']} ({act['where']})", _INSIDE)
    for sdk in result["sdks"]:
        yield Finding("error", name, None, f"its import imports the vendor's SDK {sdk!r}", _INSIDE)
    if printed:
        yield Finding(
            "error", name, None, "its import prints to stdout", "Commands write data there; remove it"
        )
    if result["seconds"] > SLOW_IMPORT_S:
        yield Finding("warning", name, None, f"its import takes {result['seconds']:.1f} s", _INSIDE)


def _probe(target: str, timeout: float) -> tuple[dict[str, Any] | None, str]:
    with tempfile.TemporaryDirectory() as folder:
        result_file = Path(folder) / "result.json"
        environment = {
            **os.environ,
            # What is importable here is importable there, and nothing of the user's state is touched.
            "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
            "OPENPROGRAM_HOME": folder,
        }
        done = subprocess.run(
            [sys.executable, "-B", "-m", f"{__package__}.import_probe", target, str(result_file)],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=timeout,
            check=False,
            env=environment,
            cwd=folder,
        )
        if not result_file.exists():
            return None, done.stdout
        return json.loads(result_file.read_text(encoding="utf-8")), done.stdout.strip()
