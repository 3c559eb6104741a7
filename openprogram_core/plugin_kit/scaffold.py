"""Writes the files of a new plugin: a package that installs, and whose tests pass, as written."""

from __future__ import annotations

import keyword
import re
import shutil
import sys
from importlib import resources
from pathlib import Path
from secrets import token_hex

from openprogram_core.errors import OpenProgramError

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9]*([._-][A-Za-z0-9]+)*")
_MAX_NAME = 60


class ScaffoldError(OpenProgramError):
    """A new plugin cannot be written: its name is no name for a package, or its folder is in use."""


def write_plugin(name: str, parent: Path) -> list[Path]:
    """Write the package ``name`` into a new folder of that name in ``parent``; returns the files, sorted.

    The folder appears whole or not at all. Raises `ScaffoldError`, and OSError when it cannot be written.
    """
    distribution, module = names_for(name)
    target = parent / distribution
    if target.exists() or target.is_symlink():
        raise ScaffoldError(f"{target} is there already; take another name, or another place with --into")
    if not parent.is_dir():
        raise ScaffoldError(f"{parent} is no folder; create it, or take another place with --into")
    words = _words(distribution, module)
    draft = parent / f".{distribution}.{token_hex(4)}"
    draft.mkdir()
    try:
        for template, relative in _files(module):
            path = draft / relative
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(_fill(template, words) if template else "", encoding="utf-8", newline="\n")
        draft.rename(target)
    except BaseException:
        shutil.rmtree(draft, ignore_errors=True)
        raise
    return sorted(path for path in target.rglob("*") if path.is_file())


def names_for(name: str) -> tuple[str, str]:
    """Return the distribution's and the module's name for what a user typed. Raises `ScaffoldError`."""
    if not _NAME.fullmatch(name) or len(name) > _MAX_NAME:
        raise ScaffoldError(
            f"{name!r} is no name for a package: letters, digits and single hyphens, a letter first, at most "
            f"{_MAX_NAME} characters, such as 'acme-secrets'"
        )
    distribution = re.sub(r"[._-]+", "-", name).lower()
    module = distribution.replace("-", "_")
    if keyword.iskeyword(module) or module in sys.stdlib_module_names or module.startswith("openprogram"):
        raise ScaffoldError(f"{name!r}: a module {module!r} would hide another one; take a name of your own")
    return distribution, module


def _files(module: str) -> list[tuple[str, str]]:
    return [
        ("pyproject.toml", "pyproject.toml"),
        ("README.md", "README.md"),
        ("gitignore", ".gitignore"),
        ("plugin.py", f"src/{module}/__init__.py"),
        ("", f"src/{module}/py.typed"),
        ("test_plugin.py", f"tests/test_{module}.py"),
    ]


def _words(distribution: str, module: str) -> dict[str, str]:
    from openprogram_core import __version__

    major, minor = (int(part) for part in __version__.split(".")[:2])
    # Before 1.0 a minor version may change hooks, from 1.0 on only a major one.
    below = f"{major + 1}" if major else f"0.{minor + 1}"
    return {
        "DISTRIBUTION": distribution,
        "MODULE": module,
        "CORE_FROM": f"{major}.{minor}",
        "CORE_BELOW": below,
    }


def _fill(template: str, words: dict[str, str]) -> str:
    text = (resources.files(__package__) / "template" / f"{template}.tmpl").read_text(encoding="utf-8")
    for name, word in words.items():
        text = text.replace(f"@{name}@", word)
    return text
