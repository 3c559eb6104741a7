"""Makes autodoc see this project's modules as their readers do.

Names that a module loads at first use are loaded, and a pydantic model shows its fields.
"""

from __future__ import annotations

import importlib
import inspect
from typing import Any

from pydantic import BaseModel
from sphinx.application import Sphinx
from sphinx.util.inspect import stringify_signature

LAZY_DOORS = ("openprogram_core", "openprogram_core.recordings")


def load_lazy_names(app: Sphinx) -> None:
    """Put the names of lazily loading modules where autodoc looks for them."""
    for name in LAZY_DOORS:
        door = importlib.import_module(name)
        for member in door.__all__:
            setattr(door, member, getattr(door, member))


def field_lines(model: type[BaseModel]) -> list[str]:
    """Return the fields of ``model`` itself as lines of reStructuredText, in their order."""
    lines = []
    for name, annotation in inspect.get_annotations(model).items():
        if name not in model.model_fields:
            continue
        field = model.model_fields[name]
        if field.is_required():
            default = ""
        elif isinstance(field.default_factory, type):
            default = f" = ``{field.default_factory.__name__}()``"
        elif field.default_factory is not None:
            default = f" = ``{field.get_default(call_default_factory=True)!r}``"
        else:
            default = f" = ``{field.default!r}``"
        lines.append(f"- ``{name}``: ``{annotation}``{default}")
    return lines


def show_fields(
    app: Sphinx, what: str, name: str, thing: Any, options: Any, lines: list[str]
) -> None:
    """Add a model's fields to its description."""
    if what == "class" and issubclass(thing, BaseModel):
        fields = field_lines(thing)
        if fields:
            lines += ["", *fields, ""]


def as_written(
    app: Sphinx,
    what: str,
    name: str,
    thing: Any,
    options: Any,
    signature: str | None,
    returns: str | None,
) -> tuple[str, str | None] | None:
    """Show annotations as the source has them: a union of thirteen events by its name.

    A model has none: its fields follow anyway, one a line.
    """
    if isinstance(thing, type) and issubclass(thing, BaseModel):
        return "", None
    if signature is None or what not in ("class", "exception", "function", "method"):
        return None
    try:
        written = inspect.signature(thing)
    except (TypeError, ValueError):
        return None
    parameters = [
        one for one in written.parameters.values() if one.name not in ("self", "cls")
    ]
    text = stringify_signature(
        written.replace(parameters=parameters), show_return_annotation=False
    )
    returned = written.return_annotation
    shown = what in ("function", "method") and isinstance(returned, str)
    if shown and hasattr(thing, "__wrapped__") and returned.startswith("Iterator["):
        returned = f"AbstractContextManager[{returned.removeprefix('Iterator[')}"
    return text, returned if shown else None


def skip_machinery(
    app: Sphinx, what: str, name: str, thing: Any, skip: bool, options: Any
) -> bool | None:
    """Leave out what pydantic puts into every model, and a named tuple's fields: its description has them."""
    if name in ("model_config", "model_post_init"):
        return True
    return (
        True
        if (getattr(thing, "__doc__", None) or "").startswith("Alias for field number")
        else None
    )


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect to autodoc."""
    app.connect("builder-inited", load_lazy_names)
    app.connect("autodoc-process-docstring", show_fields)
    app.connect("autodoc-process-signature", as_written)
    app.connect("autodoc-skip-member", skip_machinery)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
