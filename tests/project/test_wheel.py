from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.support.shared import PROJECT_ROOT

PACKAGES = {"openprogram_core"} | {
    folder.name for folder in (PROJECT_ROOT / "plugins").iterdir() if folder.name.startswith("openprogram_")
}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("wheel")
    subprocess.run(
        [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(target)],
        cwd=PROJECT_ROOT,
        check=True,
        capture_output=True,
        timeout=120,
    )
    return next(target.glob("*.whl"))


def test_the_wheel_brings_the_packages_and_no_module_called_plugins_or_tests(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    tops = {name.split("/")[0] for name in names}
    assert tops == PACKAGES | {next(top for top in tops if top.endswith(".dist-info"))}
    for package in PACKAGES:
        assert f"{package}/__init__.py" in names
        assert f"{package}/py.typed" in names
    assert not [name for name in names if "__pycache__" in name]


def test_the_plugins_folder_holds_packages_and_nothing_loose() -> None:
    loose = [
        path.name
        for path in (PROJECT_ROOT / "plugins").iterdir()
        if path.name != "__pycache__" and not (path / "__init__.py").is_file()
    ]
    assert loose == []


def test_every_plugin_is_declared_as_an_entry_point(wheel: Path) -> None:
    archive = zipfile.ZipFile(wheel)
    declared = archive.read(
        next(name for name in archive.namelist() if name.endswith("entry_points.txt"))
    ).decode()
    for package in PACKAGES - {"openprogram_core"}:
        assert f"= {package}" in declared
