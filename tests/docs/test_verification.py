"""Every promise of the normative design is held by tests that exist."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from tests.docs.blocks import DOCS, ROOT

DESIGN = DOCS / "record-replay.md"
WITHOUT_TEST = {7, 36}
"""Promises that say what this is not."""


def _parts() -> tuple[str, list[str]]:
    text, _, table = DESIGN.read_text(encoding="utf-8").partition("\n## Verification\n")
    rows = [line for line in table.splitlines() if line.startswith("| ") and not line.startswith("| ---")]
    return text, rows[1:]


def _tests_of(path: Path) -> set[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    return {node.name for node in ast.walk(tree) if isinstance(node, functions)}


def test_each_named_test_exists() -> None:
    named = [one for row in _parts()[1] for one in re.findall(r"`([^`]+::[^`]+)`", row)]
    assert len(named) > 40
    missing = []
    for one in named:
        path, _, name = one.partition("::")
        if not (ROOT / path).is_file() or name not in _tests_of(ROOT / path):
            missing.append(one)
    assert missing == []


def test_every_promise_has_a_test() -> None:
    text, rows = _parts()
    promises = [int(number) for number in re.findall(r"^(\d+)\. ", text, flags=re.MULTILINE)]
    assert promises == list(range(1, len(promises) + 1))
    held: set[int] = set()
    for row in rows:
        numbers = re.match(r"\| ((?:\d+, )*\d+) ", row)
        assert numbers is not None, row
        held |= {int(number) for number in numbers[1].split(", ")}
    assert set(promises) - held == WITHOUT_TEST
