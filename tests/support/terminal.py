"""Runs a command line at a terminal of its own."""

from __future__ import annotations

import os
import select
import struct
import subprocess
import time
from pathlib import Path

import pytest

from tests.support.command_line import COMMAND, Ran, environment


def run_at_terminal(*arguments: str, home: Path, typed: str = "", columns: int = 80, **variables: str) -> Ran:
    """Run ``openprogram`` with all three streams at one terminal; what it shows comes back as ``out``.

    ``typed`` is given when the command has asked something: its output ends without a line end.
    """
    fcntl = pytest.importorskip("fcntl", reason="needs a pseudo-terminal")
    termios = pytest.importorskip("termios", reason="needs a pseudo-terminal")
    master, slave = os.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    process = subprocess.Popen(
        [*COMMAND, *arguments],
        stdin=slave,
        stdout=slave,
        stderr=slave,
        env={**environment(home), "TERM": "xterm", **variables},
        start_new_session=True,
    )
    os.close(slave)
    shown = b""
    deadline = time.monotonic() + 30
    try:
        while time.monotonic() < deadline:
            ready, _, _ = select.select([master], [], [], 0.2)
            if ready:
                try:
                    piece = os.read(master, 65536)
                except OSError:
                    break
                if not piece:
                    break
                shown += piece
            if typed and shown.endswith(b"] "):
                os.write(master, typed.encode())
                typed = ""
        return Ran(process.wait(timeout=10), shown.decode("utf-8", "replace").replace("\r\n", "\n"), "")
    finally:
        process.kill()
        process.wait()
        os.close(master)
