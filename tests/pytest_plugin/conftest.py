from __future__ import annotations

# What runs in this process and is taken out of sys.modules afterwards would be loaded by every run anew, the
# plugins of others included.
import hypothesis  # noqa: F401 - see above
import pytest

import openprogram_pytest.span  # noqa: F401 - see above
from openprogram_core import default_plugin_set
from openprogram_core.comparison import ComparisonPolicy
from openprogram_core.redaction import Redactor
from tests.pytest_plugin.project import Project


@pytest.fixture(scope="session", autouse=True)
def _loaded(tmp_path_factory: pytest.TempPathFactory) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OPENPROGRAM_HOME", str(tmp_path_factory.mktemp("home")))
        plugins = default_plugin_set()
        Redactor.from_plugins(plugins)
        ComparisonPolicy.from_plugins(plugins)


@pytest.fixture
def project(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Project:
    monkeypatch.setenv("OPENPROGRAM_HOME", str(pytester.path / "home"))
    monkeypatch.delenv("PYTEST_ADDOPTS", raising=False)
    return Project(pytester)
