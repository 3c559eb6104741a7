"""Runs the command line: as a process where streams matter, in this process where only words do."""

from __future__ import annotations

import contextlib
import io
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest

COMMAND = [sys.executable, "-m", "openprogram_core.cli"]


class Ran(NamedTuple):
    """What a command line gave back."""

    code: int
    out: str
    err: str


def environment(home: Path | str, **variables: str) -> dict[str, str]:
    """This process's environment with the state folder ``home`` and nothing that colours or configures."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if name not in ("NO_COLOR", "FORCE_COLOR", "COLUMNS", "XDG_STATE_HOME")
    }
    return {**kept, "OPENPROGRAM_HOME": str(home), **variables}


def run(*arguments: str, home: Path | str, stdin: str = "", **settings: Any) -> Ran:
    """Run ``openprogram`` as a process of its own, with ``stdin`` as its whole input."""
    settings.setdefault("env", environment(home))
    done = subprocess.run(
        [*COMMAND, *arguments], input=stdin, capture_output=True, text=True, check=False, **settings
    )
    return Ran(done.returncode, done.stdout, done.stderr)


def call(*arguments: str, home: Path | str, monkeypatch: pytest.MonkeyPatch) -> Ran:
    """Run ``openprogram`` in this process; no stream of it is a terminal."""
    from openprogram_core.cli import main

    monkeypatch.setenv("OPENPROGRAM_HOME", str(home))
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(arguments)
    return Ran(code, out.getvalue(), err.getvalue())
