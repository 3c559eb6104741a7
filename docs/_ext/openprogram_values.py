"""The directive ``openprogram-values``: a package's public constants and type aliases, from their source."""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
import textwrap
from collections.abc import Iterator
from types import ModuleType

from docutils import nodes
from openprogram_markdown import to_markdown
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective


def public_values(door: ModuleType) -> list[str]:
    """Return the names a package exports that are neither classes nor functions, sorted."""
    values = {
        name: getattr(door, name) for name in door.__all__ if not name.startswith("__")
    }
    return sorted(
        name
        for name, value in values.items()
        if not isinstance(value, type) and not inspect.isroutine(value)
    )


def _modules(door: ModuleType) -> Iterator[ModuleType]:
    yield door
    package = importlib.import_module(door.__package__ or door.__name__)
    for found in pkgutil.iter_modules(package.__path__, package.__name__ + "."):
        yield importlib.import_module(found.name)


def find_definition(door: ModuleType, name: str) -> tuple[str, str]:
    """Return the source of a value and the docstring below it. Raises LookupError."""
    for module in _modules(door):
        body = ast.parse(inspect.getsource(module)).body
        for statement, following in zip(body, [*body[1:], None], strict=True):
            if isinstance(statement, ast.AnnAssign):
                target: ast.expr = statement.target
            elif isinstance(statement, ast.Assign):
                target = statement.targets[0]
            else:
                continue
            if (
                isinstance(target, ast.Name)
                and target.id == name
                and statement.value is not None
            ):
                said = following.value if isinstance(following, ast.Expr) else None
                text = said.value if isinstance(said, ast.Constant) else ""
                return ast.unparse(statement.value), str(text)
    raise LookupError(f"{door.__name__}.{name} is defined nowhere in {door.__name__}")


def value_text(door: ModuleType, name: str) -> str:
    """Return the description of one value as Markdown."""
    shown, said = find_definition(door, name)
    value, language = getattr(door, name), "python"
    if isinstance(value, frozenset) and all(isinstance(item, str) for item in value):
        shown, language = ", ".join(sorted(value)), "text"
    lines = [
        f"````{{py:data}} {door.__name__}.{name}",
        "",
        to_markdown(said),
        "",
        f"```{language}",
        textwrap.fill(shown, 80),
        "```",
    ]
    return "\n".join([*lines, "````", ""])


class ValuesDirective(SphinxDirective):
    """``openprogram-values:: PACKAGE`` writes the description of each."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Return the descriptions; a package without any is an error."""
        door = importlib.import_module(self.arguments[0])
        names = public_values(door)
        if not names:
            raise self.error(
                f"{door.__name__} exports neither constants nor type aliases"
            )
        return self.parse_text_to_nodes(
            "\n".join(value_text(door, name) for name in names)
        )


def setup(app: Sphinx) -> dict[str, bool]:
    """Add the directive."""
    app.add_directive("openprogram-values", ValuesDirective)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
