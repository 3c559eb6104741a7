"""Runs the blocks of one page in order, in the current folder. A program of its own: one process a page.

Python blocks share one namespace; what a block prints can be held against the text block after it. Commands
run in a shell, and what they print is held against the lines under them, where ``...`` stands for any text or
none. How much white space there is makes no difference.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import subprocess
import sys
import traceback
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from tests.docs.blocks import SHELL, Block, blocks_of
from tests.docs.stand_in_service import stand_in_service

LOCAL_SERVER = "http://127.0.0.1:11434"
"""The address of a local model server in the examples; the stand-in takes its place."""

INSTALLS = re.compile(r"\bpip install\b|\b-m venv\b|\bgit clone\b")


class BlockFailedError(Exception):
    """A block did not do what the page says."""


class PageRun:
    """One page: the namespace of its Python blocks, and what the last one printed."""

    def __init__(self, page: Path, service_url: str) -> None:
        self._page = page
        self._service_url = service_url
        self._names: dict[str, Any] = {"__name__": "__main__"}
        self._printed: str | None = None

    def run(self, block: Block) -> str:
        """Run one block; says what was done with it. Raises `BlockFailedError`."""
        if "not run" in block.marks:
            return "not run"
        if "needs" in block.marks and find_spec(block.marks["needs"]) is None:
            return "not run"
        text = block.text.replace(LOCAL_SERVER, self._service_url)
        if block.file is not None:
            path = Path(block.file)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
            return "written"
        if block.language == "python":
            self._run_python(block, text)
            return "run"
        if block.language in SHELL:
            return self._run_shell(block, text)
        if "edits" in block.marks:
            _edit(Path(block.marks["edits"]), text)
            return "edited"
        if "prints" in block.marks:
            self._compare(text, self._printed or "")
            return "compared"
        return "shown"

    def _run_python(self, block: Block, text: str) -> None:
        # The line numbers of a traceback are those of the page.
        code = compile("\n" * (block.line - 1) + text, str(self._page), "exec", dont_inherit=True)
        known = set(self._names)
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            try:
                exec(code, self._names)
                for name in [name for name in self._names if name not in known]:
                    if name.startswith("test_"):
                        self._names[name]()
            except Exception as error:
                raise BlockFailedError(traceback.format_exc()) from error
        self._printed = output.getvalue()

    def _run_shell(self, block: Block, text: str) -> str:
        done = "shown"
        commands = list(_commands(block.language, text))
        for number, (command, expected) in enumerate(commands):
            if INSTALLS.search(command):
                continue
            done = "run"
            ran = subprocess.run(
                command,
                shell=True,
                text=True,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                # pytest makes its own errors of warnings; other plugins' start-up is not ours to judge.
                env={name: value for name, value in os.environ.items() if name != "PYTHONWARNINGS"},
                check=False,
            )
            exits = block.marks.get("exits", "0") if number == len(commands) - 1 else "0"
            if ran.returncode != int(exits):
                raise BlockFailedError(f"$ {command}\nexit code {ran.returncode}:\n{ran.stdout}")
            if expected:
                self._compare(expected, ran.stdout)
        return done

    def _compare(self, expected: str, printed: str) -> None:
        pieces = (re.escape(" ".join(piece.split())) for piece in expected.split("..."))
        pattern = r"\s*" + r"\s*.*?\s*".join(pieces) + r"\s*"
        if not re.fullmatch(pattern, " ".join(printed.split()), re.DOTALL):
            raise BlockFailedError(f"the page says:\n{expected}\nbut it was:\n{printed}")


def _edit(path: Path, diff: str) -> None:
    lines = diff.splitlines(keepends=True)
    before = "".join(line[1:] for line in lines if line[0] in " -")
    after = "".join(line[1:] for line in lines if line[0] in " +")
    text = path.read_text(encoding="utf-8")
    if text.count(before) != 1:
        raise BlockFailedError(f"{path} does not have these lines once:\n{before}")
    path.write_text(text.replace(before, after), encoding="utf-8")


def _commands(language: str, text: str) -> list[tuple[str, str]]:
    """Return the commands of a block, each with the output shown under it."""
    if language != "console":
        joined = text.replace("\\\n", " ")
        return [(line, "") for line in joined.splitlines() if line.strip() and not line.startswith("#")]
    commands: list[tuple[str, str]] = []
    for line in text.splitlines(keepends=True):
        if line.startswith("$ "):
            commands.append((line[2:].strip(), ""))
        elif commands:
            command, output = commands[-1]
            commands[-1] = (command, output + line)
    return commands


def run_page(page: Path) -> int:
    """Run a page; returns the exit code and writes what failed to stderr."""
    sys.path.insert(0, os.getcwd())  # noqa: PTH109 - the examples import the files they wrote
    with stand_in_service() as service:
        os.environ["OPENAI_BASE_URL"] = f"{service.url}/v1"
        run = PageRun(page, service.url)
        for block in blocks_of(page):
            try:
                run.run(block)
            except BlockFailedError as failure:
                sys.stderr.write(f"{page.name}, line {block.line}:\n{failure}\n")
                return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(run_page(Path(sys.argv[1])))
