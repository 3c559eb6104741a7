"""Where a test's recording is: ``recordings/<module>/<test>.jsonl`` beside the test, a name any system takes.

A name that had to be changed to be safe gets a short hash of the original, so that two tests never meet in
one file because of that.
"""

from __future__ import annotations

import hashlib
import os
import re
from pathlib import Path

import pytest

FOLDER = "recordings"
SUFFIX = ".jsonl"
SHARED_PREFIX = "fixture-"

# Some file systems end at 143 bytes, and a temporary name needs a little more than the final one.
_MAX_NAME = 100
_HASH_LENGTH = 8
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")
_RESERVED = frozenset(
    ("con", "prn", "aux", "nul", *(f"{name}{digit}" for name in ("com", "lpt") for digit in range(10)))
)


def recording_path(item: pytest.Item, given: str | os.PathLike[str] | None = None) -> Path:
    """Return the path of a test's recording; ``given`` is the marker's own, relative to the test's folder."""
    if given is not None:
        return item.path.parent / given
    return module_folder(item.path) / (_test_name(item) + SUFFIX)


def module_folder(module: Path) -> Path:
    """Return the folder of the recordings of a test module."""
    return module.parent / FOLDER / safe_name(module.stem)


def shared_path(request: pytest.FixtureRequest, name: str | None) -> Path:
    """Return the path of a fixture's own recording: beside its module, or at the root for a whole session."""
    shown = name or request.fixturename or "recording"
    if name is None and hasattr(request, "param"):
        shown = f"{shown}--{getattr(request, 'param_index', 0)}"
    file_name = SHARED_PREFIX + safe_name(shown) + SUFFIX
    if request.scope in ("session", "package"):
        return request.config.rootpath / FOLDER / file_name
    return module_folder(request.path) / file_name


def safe_name(name: str, *, fold_case: bool = False) -> str:
    """Return ``name`` as a file name without suffix, with a hash of it where it had to be changed.

    With ``fold_case`` upper case counts as a change: file systems that ignore case would mix two such names.
    """
    safe = _UNSAFE.sub("-", name)
    if fold_case:
        safe = safe.lower()
    safe = safe[:_MAX_NAME].strip(".-") or "x"
    if safe == name and safe.partition(".")[0].lower() not in _RESERVED:
        return safe
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:_HASH_LENGTH]
    # The hash stands first where the name is one that Windows keeps for itself, with any suffix.
    if safe.partition(".")[0].lower() in _RESERVED:
        return f"{digest}-{safe}"
    return f"{safe[: _MAX_NAME - _HASH_LENGTH - 1]}-{digest}"


def _test_name(item: pytest.Item) -> str:
    classes = [node.name for node in item.listchain() if isinstance(node, pytest.Class)]
    function, bracket, parameters = item.name.partition("[")
    name = safe_name(".".join((*classes, function)))
    if not bracket:
        return name
    full = f"{name}--{safe_name(parameters.removesuffix(']'), fold_case=True)}"
    return full if len(full) <= _MAX_NAME else safe_name(full)
