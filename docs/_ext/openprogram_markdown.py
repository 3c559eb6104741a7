"""Turns docstrings into Markdown for the directives beside it."""

from __future__ import annotations

import inspect
import re

_LITERAL = re.compile(r"``([^`]+)``")


def to_markdown(docstring: str) -> str:
    """Return the prose of a docstring as Markdown, its examples as Python blocks."""
    lines: list[str] = []
    example: list[str] = []
    for line in inspect.cleandoc(docstring).splitlines():
        if line.startswith((">>>", "...")):
            example.append(line[4:])
            continue
        if example:
            lines += _block(example)
            example = []
        lines.append(_LITERAL.sub(r"`\1`", line))
    if example:
        lines += _block(example)
    return "\n".join(lines)


def _block(example: list[str]) -> list[str]:
    return ["", "```python", *example, "```", ""]
