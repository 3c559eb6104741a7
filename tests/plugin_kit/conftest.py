from __future__ import annotations

from pathlib import Path

import pytest

from tests.plugin_kit.environment import Environment, shared_environment


@pytest.fixture(scope="session")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Environment:
    return shared_environment(tmp_path_factory)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"
