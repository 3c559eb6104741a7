"""The built documentation: its pages, their anchors and links."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable, Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

from tests.docs.blocks import DOCS


class _PageParser(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.ids: dict[str, int] = {}
        self.links: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        for name, value in attributes:
            if name == "id" and value:
                self.ids.setdefault(value, len(self.text))
            elif name in ("href", "src") and value:
                self.links.append(value)

    def handle_data(self, text: str) -> None:
        self.text += text


class Page:
    """One HTML page. ``ids`` are its anchors, each with the place in ``text`` where it stands."""

    def __init__(self, path: Path) -> None:
        parser = _PageParser()
        parser.feed(path.read_text(encoding="utf-8"))
        self.path = path
        self.ids = parser.ids
        self.links = parser.links
        self.text = parser.text

    def section(self, anchor: str, anchors: Iterable[str]) -> str:
        """Return the text from ``anchor`` to the next of ``anchors``."""
        begin = self.ids[anchor]
        ends = [self.ids[one] for one in anchors if self.ids[one] > begin]
        return self.text[begin : min(ends, default=len(self.text))]


class Site:
    """All pages below a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.pages = {path: Page(path) for path in sorted(folder.rglob("*.html"))}

    def page(self, name: str) -> Page:
        """Return a page by its path without suffix."""
        return self.pages[self.folder / f"{name}.html"]

    def dead_links(self) -> Iterator[str]:
        """Yield every relative link that leads to no file, or to no place on its page."""
        for page in self.pages.values():
            for link in page.links:
                parts = urlsplit(link)
                if parts.scheme or parts.netloc:
                    continue
                target = (page.path.parent / unquote(parts.path)).resolve() if parts.path else page.path
                page_there = self.pages.get(target)
                if not target.exists():
                    yield f"{page.path.name}: {link} leads to no file"
                elif parts.fragment and page_there and unquote(parts.fragment) not in page_there.ids:
                    yield f"{page.path.name}: {link} leads to no place on the page"


def build(folder: Path) -> subprocess.CompletedProcess[str]:
    """Build the documentation as CI does, into ``folder``."""
    return subprocess.run(
        [
            *(sys.executable, "-m", "sphinx", "--quiet", "--fail-on-warning", "--keep-going"),
            *("-b", "html", "-d", str(folder.with_name("doctrees")), str(DOCS), str(folder)),
        ],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
