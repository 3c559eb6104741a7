"""Every example of the documentation and the README runs, and prints what the page says."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.blocks import ROOT, SHELL, blocks_of, pages

RUNNABLE = ("python", *SHELL)
NOT_RUN_AT_MOST = 6
"""Raise it only with a good reason: an example that does not run is one that will be wrong."""


def _name(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


WITH_EXAMPLES = [page for page in pages() if any(block.language in RUNNABLE for block in blocks_of(page))]


@pytest.mark.parametrize("page", WITH_EXAMPLES, ids=_name)
def test_the_examples_of_a_page_run_in_order(page: Path, tmp_path: Path) -> None:
    work, home = tmp_path / "work", tmp_path / "home"
    work.mkdir()
    variables = {name: value for name, value in os.environ.items() if not name.endswith("_API_KEY")}
    variables |= {
        "OPENPROGRAM_HOME": str(home),
        "OPENAI_API_KEY": "not-a-real-key-of-anybody",
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")]),
        "PYTHONPATH": str(ROOT),
        "PYTHONWARNINGS": "error",
        "PYTEST_ADDOPTS": "-W error -p no:cacheprovider -p no:asyncio",
        "NO_COLOR": "1",
        "COLUMNS": "100",
    }
    for name in ("PYTEST_XDIST_WORKER", "PYTEST_CURRENT_TEST", "PYTEST_XDIST_TESTRUNUID"):
        variables.pop(name, None)
    ran = subprocess.run(
        [sys.executable, "-m", "tests.docs.page_runner", str(page)],
        cwd=work,
        env=variables,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr


def test_every_example_that_does_not_run_says_why_and_they_are_few() -> None:
    reasons = [
        (f"{_name(page)}:{block.line}", block.marks["not run"])
        for page in pages()
        for block in blocks_of(page)
        if "not run" in block.marks
    ]
    assert [place for place, reason in reasons if len(reason) < 10] == []
    assert len(reasons) <= NOT_RUN_AT_MOST, reasons


def test_an_example_that_runs_only_with_another_package_names_a_real_one() -> None:
    needed = {block.marks["needs"] for page in pages() for block in blocks_of(page) if "needs" in block.marks}
    assert needed <= {"langchain_core", "pydantic_ai"}
