"""Examples in docstrings run."""

from __future__ import annotations

import doctest
import importlib
from pathlib import Path

import pytest

from tests.docs.blocks import ROOT

SOURCES = (ROOT / "openprogram_core", *sorted((ROOT / "plugins").glob("openprogram_*")))


def _module_name(path: Path) -> str:
    base = ROOT if (ROOT / "openprogram_core") in path.parents else ROOT / "plugins"
    return ".".join(path.relative_to(base).with_suffix("").parts).removesuffix(".__init__")


WITH_EXAMPLES = sorted(
    _module_name(path)
    for folder in SOURCES
    for path in folder.rglob("*.py")
    if ">>> " in path.read_text(encoding="utf-8")
)


@pytest.mark.parametrize("name", WITH_EXAMPLES)
def test_the_examples_of_a_module_run(name: str) -> None:
    from openprogram_core.providers import unregister_api_provider

    result = doctest.testmod(importlib.import_module(name), optionflags=doctest.ELLIPSIS)
    unregister_api_provider("scripted")
    assert result.attempted > 0
    assert result.failed == 0
