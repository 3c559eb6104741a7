"""The directive ``openprogram-hooks``: every hook, from `HookSpecs` itself."""

from __future__ import annotations

import inspect

from docutils import nodes
from openprogram_markdown import to_markdown
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from openprogram_core.hookspecs import HOOK_NAMES, HookSpecs


def hook_section(name: str) -> str:
    """Return the section of one hook as Markdown, with the anchor ``hook-<name>``."""
    function = getattr(HookSpecs, name)
    signature = (
        str(inspect.signature(function)).replace("(self, ", "(").replace("(self)", "()")
    )
    return "\n".join(
        [
            f"{{#hook-{name.replace('_', '-')}}}",
            f"## {name}",
            "",
            "```python",
            f"def {name}{signature.replace(chr(39), '')}: ...",
            "```",
            "",
            to_markdown(function.__doc__ or ""),
            "",
        ]
    )


class HooksDirective(SphinxDirective):
    """Writes a section for every hook."""

    def run(self) -> list[nodes.Node]:
        """Return the sections."""
        text = "\n".join(hook_section(name) for name in HOOK_NAMES)
        return self.parse_text_to_nodes(text, allow_section_headings=True)


def setup(app: Sphinx) -> dict[str, bool]:
    """Add the directive."""
    app.add_directive("openprogram-hooks", HooksDirective)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
