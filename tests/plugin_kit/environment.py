"""A real environment: a venv with the built wheel of this project in it, and packages installed by pip."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
import venv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.support.once import made_once
from tests.support.shared import PROJECT_ROOT

_PIP = (sys.executable, "-m", "pip")
_PIP_MANNERS = ("--no-deps", "--quiet", "--disable-pip-version-check", "--root-user-action=ignore")
_BUILD_WHEELS = """
import os, sys
from hatchling.build import build_wheel
target, *folders = sys.argv[1:]
for folder in folders:
    os.chdir(folder)
    build_wheel(target)
"""


@dataclass(frozen=True)
class Environment:
    """``python`` is the venv's interpreter; ``sites`` are folders with packages of one test's own."""

    python: Path
    sites: tuple[Path, ...] = ()

    def with_packages(self, site: Path, *wheels: Path) -> Environment:
        """Install wheels with pip into the folder ``site``; returns the environment that sees them first."""
        self.pip("install", "--no-index", "--no-compile", "--target", str(site), *map(str, wheels))
        return self.with_site(site)

    def with_site(self, site: Path) -> Environment:
        """Return the environment that sees the packages in the folder ``site`` first."""
        return Environment(self.python, (site, *self.sites))

    def pip(self, command: str, *arguments: str) -> None:
        """Run pip, offline and without dependencies."""
        done = subprocess.run(
            [*_PIP, "--python", str(self.python), command, *_PIP_MANNERS, *arguments],
            capture_output=True,
            text=True,
            timeout=180,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr

    def run(self, arguments: Sequence[str], home: Path, **variables: str) -> subprocess.CompletedProcess[str]:
        """Run the interpreter with ``home`` as the state folder and no project source on its path."""
        names = ("PATH", "HOME", "SYSTEMROOT", "TMPDIR", "LANG")
        inherited = {name: os.environ[name] for name in names if name in os.environ}
        return subprocess.run(
            [str(self.python), *arguments],
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
            cwd=home.parent,
            env={
                **inherited,
                "PYTHONPATH": os.pathsep.join(map(str, self.sites)),
                "PYTHONDONTWRITEBYTECODE": "1",
                "PYTHONWARNINGS": "error",
                "OPENPROGRAM_HOME": str(home),
                **variables,
            },
        )

    def code(self, code: str, home: Path) -> str:
        """Run code and return what it printed. It has to end well."""
        done = self.run(["-c", code], home)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def openprogram(self, *arguments: str, home: Path) -> subprocess.CompletedProcess[str]:
        """Run the command line."""
        return self.run(["-m", "openprogram_core.cli", *arguments], home)

    def checked(self, package: str, home: Path) -> tuple[int, list[dict[str, Any]]]:
        """Run ``openprogram plugins check`` and return its exit code and the findings of the package."""
        done = self.openprogram("plugins", "check", package, "--json", home=home)
        assert done.stdout, done.stderr
        return done.returncode, json.loads(done.stdout)["plugins"][0]["findings"]


def make_environment(folder: Path) -> None:
    """Make a venv that has this project's wheel, and its dependencies from the running environment."""
    venv.create(folder / "venv", with_pip=False, symlinks=os.name != "nt")
    environment = _environment_in(folder)
    asked = [str(environment.python), "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]
    site = Path(subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip())
    # The plain path, whose own .pth files are not read: this project's source stays out.
    (site / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    environment.pip("install", str(build_wheels(folder / "wheels", PROJECT_ROOT)[0]))


def shared_environment(factory: pytest.TempPathFactory) -> Environment:
    """Return the environment that all tests of a run share, on all its workers; nobody may change it."""
    return _environment_in(made_once(factory, "environment", make_environment))


def _environment_in(folder: Path) -> Environment:
    scripts = folder / "venv" / ("Scripts" if os.name == "nt" else "bin")
    return Environment(scripts / ("python.exe" if os.name == "nt" else "python"))


def build_wheels(target: Path, *folders: Path) -> list[Path]:
    """Build a wheel of every folder, sorted by file name."""
    subprocess.run(
        [sys.executable, "-c", _BUILD_WHEELS, str(target), *map(str, folders)],
        capture_output=True,
        check=True,
        timeout=180,
    )
    return sorted(target.glob("*.whl"))


def write_package(
    folder: Path,
    name: str,
    code: str,
    *,
    module: str | None = None,
    entry: str | None = None,
    target: str | None = None,
    version: str = "1.0",
    requires: Sequence[str] = (),
) -> Path:
    """Write a package with one module and one entry point; returns its folder.

    The module is the name with underscores, and the entry point has the module's name and names the module,
    unless ``entry`` and ``target`` say otherwise.
    """
    module = module or name.replace("-", "_")
    root = folder / f"{name}-{version}"
    root.mkdir(parents=True)
    (root / f"{module}.py").write_text(code, encoding="utf-8")
    (root / "pyproject.toml").write_text(
        f"""
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"
[project]
name = "{name}"
version = "{version}"
dependencies = {json.dumps(list(requires))}
[project.entry-points."openprogram.plugins"]
{entry or module} = "{target or module}"
[tool.hatch.build.targets.wheel]
include = ["{module}.py"]
""",
        encoding="utf-8",
    )
    return root
