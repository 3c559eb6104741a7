from __future__ import annotations

from pathlib import Path

import pytest

from tests.plugin_kit.environment import Environment, make_environment


@pytest.fixture(scope="session")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Environment:
    return make_environment(tmp_path_factory.mktemp("environment"))


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"
