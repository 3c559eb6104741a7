"""Finds the code blocks of a Markdown page and what its marks say about them.

A mark is an HTML comment on the line before a block, so that it shows neither here nor on a code host:

- ``<!-- not run: REASON -->``: the block is not run.
- ``<!-- needs: MODULE -->``: run only where that module can be imported.
- ``<!-- file: NAME -->``: the block is the content of a file. A Python block whose first line is
  ``# NAME.py`` is one without a mark.
- ``<!-- edits: NAME -->``: a diff block, applied to that file.
- ``<!-- prints -->``: a text block with what the Python block before it printed.
- ``<!-- exits: CODE -->``: the last command of a console block ends with this exit code.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"

_FENCE = re.compile(r"^(?P<indent> *)(?P<fence>`{3,}|~{3,})\s*(?P<language>[^`\s]*)(?P<rest>[^`]*)$")
_MARK = re.compile(
    r"^\s*<!--\s*(?P<name>not run|needs|file|edits|prints|exits)(?::\s*(?P<value>.*?))?\s*-->\s*$"
)
_FILE_LINE = re.compile(r"^# (?P<name>[\w./-]+\.py)$")
SHELL = ("sh", "shell", "bash", "console")


@dataclass(frozen=True)
class Block:
    """One fenced block. ``line`` is that of its first line of content, counted from 1."""

    language: str
    line: int
    text: str
    marks: dict[str, str] = field(default_factory=dict)

    @property
    def file(self) -> str | None:
        """The file this block is the content of."""
        if "file" in self.marks:
            return self.marks["file"]
        match = _FILE_LINE.match(self.text.partition("\n")[0]) if self.language == "python" else None
        return match["name"] if match else None


def pages() -> list[Path]:
    """Return every page of the documentation, and the README."""
    found = sorted(path for path in DOCS.rglob("*.md") if "_build" not in path.parts)
    return [ROOT / "README.md", *found]


def blocks_of(page: Path) -> list[Block]:
    """Return the page's fenced blocks in order; directives are blocks too, with ``{name}`` as language."""
    blocks: list[Block] = []
    marks: dict[str, str] = {}
    lines = page.read_text(encoding="utf-8").splitlines()
    number = 0
    while number < len(lines):
        line = lines[number]
        number += 1
        if mark := _MARK.match(line):
            marks[mark["name"]] = mark["value"] or ""
        elif fence := _FENCE.match(line):
            begin = number
            closing = re.compile(rf"^ *{re.escape(fence['fence'][0])}{{{len(fence['fence'])},}}\s*$")
            while number < len(lines) and not closing.match(lines[number]):
                number += 1
            indent = len(fence["indent"])
            text = "\n".join(one[indent:] if one[:indent].isspace() else one for one in lines[begin:number])
            blocks.append(Block(fence["language"], begin + 1, text + "\n", dict(marks)))
            marks.clear()
            number += 1
        elif line.strip():
            marks.clear()
    return blocks
