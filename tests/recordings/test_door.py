"""The package's door: light to open, and every name behind it."""

from __future__ import annotations

from pathlib import Path

import pytest

import openprogram_core.recordings
from tests.support.interpreter import run_python


def test_opening_the_door_loads_nothing_heavy(tmp_path: Path) -> None:
    done = run_python(
        """
        import sys
        from openprogram_core.recordings import call_lane, current_lane, is_being_written
        is_being_written("/nowhere")
        heavy = {"pydantic", "pluggy", "click", "structlog", "asyncio", "openprogram_core.providers"}
        print(sorted(heavy & sys.modules.keys()))
        """,
        home=tmp_path,
    )
    assert done.stdout == "[]\n", done.stderr


@pytest.mark.parametrize("name", openprogram_core.recordings.__all__)
def test_every_name_is_there(name: str) -> None:
    assert getattr(openprogram_core.recordings, name) is not None


def test_other_names_are_not() -> None:
    with pytest.raises(AttributeError, match="nothing_of_the_kind"):
        openprogram_core.recordings.nothing_of_the_kind  # noqa: B018  # the look-up is what is tested
