"""pytest plugin: a test's provider calls are recorded once and replayed ever after.

Mark a test with ``@pytest.mark.openprogram_recording`` or ask for the fixture of that name. What a test that
does neither pays is a look at its markers; the core is not imported.

PYTEST_DONT_REWRITE: pytest need not rewrite assertions in here, nor warn that it came too late for that.
"""

from __future__ import annotations

import pytest

from openprogram_pytest.claims import Claims, put_fixture_first, uses_recording
from openprogram_pytest.fixtures import (
    openprogram_recording,
    openprogram_recording_config,
    openprogram_shared_recording,
)
from openprogram_pytest.outcomes import FINISHED, outcomes_of
from openprogram_pytest.reporter import Reporter
from openprogram_pytest.settings import MARKER, MODES, record_mode

__all__ = ["openprogram_recording", "openprogram_recording_config", "openprogram_shared_recording"]


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option for the mode, and the setting for allowed hosts."""
    group = parser.getgroup("openprogram", "recorded provider calls")
    group.addoption(
        "--openprogram-record",
        choices=list(MODES),
        default="none",
        dest="openprogram_record",
        help="; ".join(f"{mode}: {meaning}" for mode, meaning in MODES.items()) + ". Default: none",
    )
    parser.addini(
        "openprogram_allowed_hosts",
        "hosts that tests may reach while their provider calls are replayed; localhost is this machine",
        type="args",
        default=[],
    )


def pytest_configure(config: pytest.Config) -> None:
    """Declare the marker and make room for what is counted."""
    config.addinivalue_line(
        "markers",
        f"{MARKER}(path=None, *, skip=[], plugins=[], order='ordered', allow_hosts=[]): "
        "record the test's provider calls, or replay them.",
    )
    config.stash[Claims.KEY] = Claims()
    config.stash[FINISHED] = []
    config.pluginmanager.register(Reporter(config), "openprogram_pytest_reporter")


def pytest_report_header(config: pytest.Config) -> str | None:
    """Say so when live services may be called."""
    mode = record_mode(config)
    return None if mode == "none" else f"openprogram: --openprogram-record={mode}: {MODES[mode]}"


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Give the fixture to marked tests, before anything is deselected."""
    claims = config.stash[Claims.KEY]
    claims.add_items(items)
    for item in items:
        if uses_recording(item):
            put_fixture_first(item)
            outcomes_of(config)
