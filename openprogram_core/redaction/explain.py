"""What redaction would remove, for people who write rules. Never the value itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from openprogram_core.redaction.changes import Change
from openprogram_core.redaction.edits import Edit, Source
from openprogram_core.redaction.finder import step


class Finding(NamedTuple):
    """One thing that is removed.

    ``field_path`` is where, ``start`` and ``end`` the characters of the string there (0 and the length for a
    whole value). ``kind`` is ``field``, ``shape``, ``value`` (known from elsewhere), ``hook`` or ``limit``;
    ``plugin`` and ``rule`` say whose rule it was.
    """

    field_path: str
    start: int
    end: int
    kind: str
    plugin: str
    rule: str


class TextFinding(NamedTuple):
    """One thing removed from a text: where it stands (both count from 1), its length, whose rule."""

    line: int
    column: int
    length: int
    kind: str
    plugin: str
    rule: str


def text_findings(text: str, edits: Sequence[Edit]) -> list[TextFinding]:
    """Return what edits remove from a text, by line and column."""
    found = []
    line, line_start, position = 1, 0, 0
    for edit in edits:
        line += text.count("\n", position, edit.start)
        newline = text.rfind("\n", position, edit.start)
        line_start = newline + 1 if newline >= 0 else line_start
        position = edit.start
        found.append(TextFinding(line, edit.start - line_start + 1, edit.end - edit.start, *edit.source))
    return found


def findings(value: Any, change: Change | None, path: str) -> list[Finding]:
    """Return what ``change`` removes from ``value``, in the order of the value."""
    return list(_walk(value, change, path)) if change is not None else []


def _walk(value: Any, change: Change, path: str) -> Iterator[Finding]:
    if change.whole is not None:
        length = len(value) if isinstance(value, str | bytes) else 0
        yield _finding(path, 0, length, change.whole)
        return
    for edit in change.edits:
        yield _finding(path, edit.start, edit.end, edit.source)
    for _, source in change.keys.values():
        yield _finding(f"{path}.<key>" if path else "<key>", 0, 0, source)
    for key, below in change.below.items():
        renamed = key in change.keys
        if isinstance(value, Mapping):
            where = "<key>" if renamed else str(key) if not path else ""
            inner = f"{path}.<key>" if renamed and path else where or f"{path}{step(key)}"
        else:
            inner = f"{path}[{key}]"
        yield from _walk(value[key], below, inner)


def _finding(path: str, start: int, end: int, source: Source) -> Finding:
    return Finding(path, start, end, source.kind, source.plugin, source.rule)
