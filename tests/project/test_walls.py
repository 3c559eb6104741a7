from __future__ import annotations

import ast
import importlib
import inspect
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from tests.support.shared import PROJECT_ROOT

DOORS = {
    "openprogram_core",
    "openprogram_core.comparison",
    "openprogram_core.errors",
    "openprogram_core.providers",
    "openprogram_core.providers.adapter",
    "openprogram_core.recordings",
    "openprogram_core.redaction",
    "openprogram_core.testing",
}
MOST_LINES = 500


def sources(*folders: str) -> Iterator[Path]:
    for folder in folders:
        yield from sorted((PROJECT_ROOT / folder).rglob("*.py"))


def test_the_core_imports_no_plugin_and_no_plugin_a_private_module() -> None:
    ran = subprocess.run(
        [str(Path(sys.executable).with_name("lint-imports")), "--no-cache"],
        cwd=PROJECT_ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout


def test_plugins_come_in_through_the_public_doors() -> None:
    strays = []
    for path in sources("plugins"):
        own = path.relative_to(PROJECT_ROOT / "plugins").parts[0]
        for node in ast.walk(ast.parse(path.read_text())):
            modules = (
                [node.module or ""]
                if isinstance(node, ast.ImportFrom)
                else [alias.name for alias in node.names]
                if isinstance(node, ast.Import)
                else []
            )
            for module in modules:
                top = module.split(".")[0]
                foreign = top.startswith("openprogram_") and top not in (own, "openprogram_core")
                if (top == "openprogram_core" and module not in DOORS) or (foreign and module != top):
                    strays.append(f"{path.relative_to(PROJECT_ROOT)}: {module}")
    assert strays == []


def test_no_module_is_longer_than_its_role_allows() -> None:
    long = {
        str(path.relative_to(PROJECT_ROOT)): lines
        for path in sources("openprogram_core", "plugins")
        if (lines := len(path.read_text().splitlines())) > MOST_LINES
    }
    assert long == {}


def test_every_public_name_of_a_door_exists_and_is_documented() -> None:
    undocumented = []
    for door in sorted(DOORS):
        module = importlib.import_module(door)
        for name in getattr(module, "__all__", [name for name in vars(module) if name[0].isupper()]):
            value = getattr(module, name)
            if (inspect.isfunction(value) or inspect.isclass(value)) and not value.__doc__:
                undocumented.append(f"{door}.{name}")
    assert undocumented == []
