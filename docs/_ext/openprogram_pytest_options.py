"""The directive ``openprogram-pytest-options``: the pytest plugin's options, marker and fixtures."""

from __future__ import annotations

import inspect
from typing import cast

import pytest
from docutils import nodes
from openprogram_markdown import to_markdown
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

import openprogram_pytest
from openprogram_pytest.settings import MODES, RecordingSettings


class _Collector:
    """Stands where pytest collects what a plugin declares, and writes it down."""

    def __init__(self) -> None:
        self.options: list[tuple[str, str]] = []
        self.settings: list[tuple[str, str]] = []

    def getgroup(self, name: str, description: str = "") -> _Collector:
        return self

    def addoption(self, name: str, *, help: str, **attributes: object) -> None:
        self.options.append((name, help))

    def addini(self, name: str, help: str, **attributes: object) -> None:
        self.settings.append((name, help))


def declared() -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """Return the plugin's command-line options and its settings, each with its help text."""
    collector = _Collector()
    openprogram_pytest.pytest_addoption(cast(pytest.Parser, collector))
    return collector.options, collector.settings


def _entry(term: str, text: str) -> list[str]:
    return [f"`{term}`", ": " + text, ""]


def options_text() -> str:
    """Return everything the plugin declares, as Markdown."""
    options, settings = declared()
    lines = ["## Option", ""]
    for name, _ in options:
        lines += [f"`{name}=MODE`, where `MODE` is one of:", ""]
    for mode, meaning in MODES.items():
        lines += _entry(mode, meaning + (" (the default)" if mode == "none" else ""))
    lines += ["## Setting in pytest's configuration", ""]
    for name, text in settings:
        lines += _entry(name, text)
    lines += [
        "## Marker and its arguments",
        "",
        "`@pytest.mark.openprogram_recording(path=None, ...)`",
        "",
    ]
    lines += [to_markdown(RecordingSettings.__doc__ or ""), "", "## Fixtures", ""]
    for name in openprogram_pytest.__all__:
        fixture = getattr(openprogram_pytest, name)
        function = fixture._get_wrapped_function()
        lines += [f"### {name}", "", to_markdown(inspect.getdoc(function) or ""), ""]
    return "\n".join(lines)


class PytestOptionsDirective(SphinxDirective):
    """Writes what the plugin declares."""

    def run(self) -> list[nodes.Node]:
        """Return the sections."""
        return self.parse_text_to_nodes(options_text(), allow_section_headings=True)


def setup(app: Sphinx) -> dict[str, bool]:
    """Add the directive."""
    app.add_directive("openprogram-pytest-options", PytestOptionsDirective)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
