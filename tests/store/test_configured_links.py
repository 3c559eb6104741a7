"""A link put in the way of the configured recording blocks every call instead of being followed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.command_line import environment
from tests.support.recording_files import conversation, write

START = """
import structlog
from openprogram_core import initialize_provider_runtime
structlog.configure(logger_factory=structlog.PrintLoggerFactory(__import__("sys").stderr))
print(initialize_provider_runtime().mode)
"""


def start(home: Path) -> tuple[str, str]:
    done = subprocess.run(
        [sys.executable, "-c", START], env=environment(home), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done
    return done.stdout.strip(), done.stderr


@pytest.mark.skipif(os.name != "posix", reason="links need POSIX")
@pytest.mark.parametrize("level", ["file", "recordings folder"])
@pytest.mark.parametrize("mode", ["record", "replay"])
def test_a_link_blocks(mode: str, level: str, tmp_path: Path) -> None:
    home = tmp_path / "home"
    outside = write(tmp_path / "outside" / "one.jsonl", conversation())
    home.mkdir()
    (home / "config.toml").write_text(f"[record_replay]\nmode = '{mode}'\nfile = 'one.jsonl'\n")
    if level == "file":
        (home / "recordings").mkdir()
        (home / "recordings" / "one.jsonl").symlink_to(outside)
    else:
        (home / "recordings").symlink_to(outside.parent)
    assert start(home)[0] == "blocked"
    assert outside.read_bytes() == conversation()


@pytest.mark.skipif(os.name != "posix", reason="modes are POSIX")
@pytest.mark.parametrize("mode", ["record", "replay"])
def test_a_mode_that_is_too_wide_is_narrowed_at_the_start(mode: str, tmp_path: Path) -> None:
    path = write(tmp_path / "recordings" / "one.jsonl", conversation())
    path.chmod(0o644)
    (tmp_path / "config.toml").write_text(f"[record_replay]\nmode = '{mode}'\nfile = 'one.jsonl'\n")
    assert start(tmp_path)[0] == mode
    assert path.stat().st_mode & 0o777 == 0o600
