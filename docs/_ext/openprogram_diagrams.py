"""The directive ``diagram``: an SVG file of ours, put into the page itself.

Inside the page its colours are the theme's, so that it follows the reader's choice of light or dark.
"""

from __future__ import annotations

import re
from html import escape
from pathlib import Path

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

_DECLARATION = re.compile(r"<\?xml[^>]*\?>|<!--.*?-->", re.DOTALL)


class DiagramDirective(SphinxDirective):
    """``diagram:: images/name.svg`` with a required ``:alt:``; the content is the caption."""

    required_arguments = 1
    has_content = True
    option_spec = {"alt": directives.unchanged_required}  # noqa: RUF012 - docutils reads it from the class

    def run(self) -> list[nodes.Node]:
        """Return the figure; other builders than HTML get the description."""
        if "alt" not in self.options:
            raise self.error("a diagram needs :alt:, which says in words what it shows")
        relative, absolute = self.env.relfn2path(self.arguments[0])
        self.env.note_dependency(relative)
        drawing = _DECLARATION.sub(
            "", Path(absolute).read_text(encoding="utf-8")
        ).strip()
        alt = escape(self.options["alt"], quote=True)
        drawing = drawing.replace("<svg ", f'<svg role="img" aria-label="{alt}" ', 1)
        caption = " ".join(self.content)
        below = f"<figcaption>{escape(caption)}</figcaption>" if caption else ""
        html = f'<figure class="diagram">{drawing}{below}</figure>'
        return [nodes.raw("", html, format="html")]


def setup(app: Sphinx) -> dict[str, bool]:
    """Add the directive."""
    app.add_directive("diagram", DiagramDirective)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
