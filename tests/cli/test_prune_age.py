from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.command_line import run


@pytest.mark.parametrize("days", ["nan", "inf", "-inf", "-1", "soon"])
def test_an_age_that_is_no_number_of_days_deletes_nothing(days: str, tmp_path: Path) -> None:
    assert run("recordings", "record", "--name", "kept", home=tmp_path).code == 0
    assert run("recordings", "off", home=tmp_path).code == 0
    ran = run("recordings", "prune", f"--older-than-days={days}", "--yes", home=tmp_path)
    assert (ran.code, ran.out) == (2, "")
    assert "--older-than-days" in ran.err
    assert (tmp_path / "recordings" / "kept.jsonl").exists()
