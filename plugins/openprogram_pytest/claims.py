"""Which test every recording belongs to: two tests never share one, and one without a test is an orphan."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import ClassVar

import pytest

from openprogram_pytest.naming import FOLDER, SHARED_PREFIX, SUFFIX, module_folder, recording_path
from openprogram_pytest.settings import MARKER

_HEADER_START = b'{"type":"header"'


class Claims:
    """The recordings of the collected tests, by path. Paths that differ only by case are one."""

    KEY: ClassVar[pytest.StashKey[Claims]] = pytest.StashKey()

    def __init__(self) -> None:
        self._owners: dict[str, list[str]] = {}
        self._modules: set[Path] = set()

    def add_items(self, items: Iterable[pytest.Item]) -> None:
        """Note whose recordings the collected tests are."""
        for item in items:
            self._modules.add(item.path)
            if uses_recording(item):
                self.dispute(recording_path(item, _own_path(item)), item.nodeid)

    def dispute(self, path: Path, nodeid: str) -> str | None:
        """Claim a recording for a test; returns who else has claimed it, or None."""
        owners = self._owners.setdefault(_key(path), [])
        if nodeid not in owners:
            owners.append(nodeid)
        return next((owner for owner in owners if owner != nodeid), None)

    def orphans(self) -> list[Path]:
        """Return recordings beside the collected modules that belong to no test, sorted.

        Recordings of fixtures are among them: which of those are in use only a whole run can tell.
        """
        found: list[Path] = []
        for parent in {module.parent for module in self._modules}:
            if (parent / FOLDER).is_dir():
                found += self._recordings_beside(parent)
        return sorted({path for path in found if _key(path) not in self._owners})

    def _recordings_beside(self, parent: Path) -> Iterator[Path]:
        collected = {module_folder(module).name for module in self._modules if module.parent == parent}
        there = {module_folder(module).name for module in parent.glob("*.py")}
        for folder in (parent / FOLDER).glob("*/"):
            # A module that was not collected may have tests for all that lies here.
            if folder.name in collected or folder.name not in there:
                yield from (path for path in folder.glob(f"*{SUFFIX}") if _is_recording(path))


def uses_recording(item: pytest.Item) -> bool:
    """Whether a test is marked, or asks for the fixture by name."""
    return item.get_closest_marker(MARKER) is not None or MARKER in getattr(item, "fixturenames", ())


def is_shared(path: Path) -> bool:
    """Whether a recording is a fixture's own."""
    return path.name.startswith(SHARED_PREFIX)


def put_fixture_first(item: pytest.Item) -> None:
    """Let the test's recording begin before its own fixtures do, and after those of a wider scope."""
    # A list of its own: pytest shares one between all parameters of a test, marked or not.
    names = [name for name in getattr(item, "fixturenames", ()) if name != MARKER]
    names.insert(_first_function_scoped(item, names), MARKER)
    item.fixturenames = names  # type: ignore[attr-defined]  # every function item has it


def _first_function_scoped(item: pytest.Item, names: Sequence[str]) -> int:
    definitions = getattr(getattr(item, "_fixtureinfo", None), "name2fixturedefs", {})
    for index, name in enumerate(names):
        found = definitions.get(name)
        if found and found[-1].scope == "function":
            return index
    return len(names)


def _own_path(item: pytest.Item) -> str | None:
    # A marker that is wrong fails its test when that runs; one such must not end the run of all.
    for marker in item.iter_markers(MARKER):
        path = marker.args[0] if marker.args else marker.kwargs.get("path")
        if path is not None:
            return str(path)
    return None


def _key(path: Path) -> str:
    return str(path).casefold()


def _is_recording(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(len(_HEADER_START)) == _HEADER_START
    except OSError:
        return False
