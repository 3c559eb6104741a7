"""The rows of a recording as JSON lines, whatever is in them harmless to a terminal and equal in value."""

from __future__ import annotations

import os
from pathlib import Path

from openprogram_core.cli._output import complain, data, printable_json, warn
from openprogram_core.cli._words import PRIVATE
from openprogram_core.recordings.limits import MAX_ROW_BYTES
from openprogram_core.recordings.lines import open_regular, read_lines


def write_rows(recording: Path) -> int:
    """Write every row of ``recording`` to stdout, and a warning to stderr. Returns the exit code."""
    warn(PRIVATE)
    exit_code = 0
    with os.fdopen(open_regular(recording), "rb", buffering=1 << 18) as file:
        for number, (_, line) in enumerate(read_lines(file, MAX_ROW_BYTES), start=1):
            if line is None:
                complain(f"{recording}, line {number}: left out, it is longer than {MAX_ROW_BYTES:,} bytes")
                exit_code = 1
                continue
            data(printable_json(line.rstrip(b"\n").decode("utf-8", "backslashreplace")))
    return exit_code
