"""The logger: structlog's, never configured here, and nothing foreign in it unredacted."""

from __future__ import annotations

import subprocess
import sys

from structlog.testing import capture_logs

from openprogram_core._logging import get_logger

SECRET = "sk-" + "proj-" + "Ab3dEf6hIj9kLm2nOp5qRs8t"


def test_texts_among_the_fields_are_redacted_and_bounded() -> None:
    with capture_logs() as logs:
        get_logger("here").warning(
            "it_broke",
            error=ValueError(f"refused: Bearer {SECRET}"),
            texts=[f"key {SECRET}"],
            long="x" * 100_000,
            number=3,
            nothing=None,
        )
    [entry] = logs
    assert (entry["event"], entry["log_level"], entry["number"], entry["nothing"]) == (
        "it_broke",
        "warning",
        3,
        None,
    )
    assert SECRET not in repr(entry)
    assert entry["error"].startswith("ValueError: refused: ")
    assert len(entry["long"]) < 2_000


def test_every_level_is_passed_on() -> None:
    logger = get_logger("here")
    with capture_logs() as logs:
        for level in (logger.debug, logger.info, logger.warning, logger.error):
            level("said")
    assert [entry["log_level"] for entry in logs] == ["debug", "info", "warning", "error"]


def test_a_logger_costs_nothing_until_it_logs_and_configures_nothing() -> None:
    code = """
import sys
from openprogram_core._logging import get_logger
logger = get_logger("here")
assert "structlog" not in sys.modules
logger.error("said")
import structlog
assert not structlog.is_configured()
"""
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)
