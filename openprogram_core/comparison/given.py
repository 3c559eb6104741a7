"""A person's own skips: do they lead into a request, and do they meet anything there?"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import Any

from openprogram_core.comparison.paths import ANY_INDEX, FieldPathError, PatternSegment, parse_path
from openprogram_core.comparison.skips import is_name
from openprogram_core.comparison.verdicts import FieldSkip

REQUEST_ROOTS = ("model", "context", "options")
_OF_CONTEXT = ("messages", "tools", "system_prompt")


def check_request_skips(skip: Iterable[str | FieldSkip]) -> list[FieldSkip]:
    """Return the skips given for a replay, those written as text too.

    Raises `FieldPathError` for a path that cannot be read, or begins with none of ``model``, ``context`` and
    ``options``: it would skip nothing, and nobody would know. TypeError for what is no list of skips.
    """
    checked = as_field_skips(skip)
    for one in checked:
        if one.field and not is_name(one.field):
            root = parse_path(one.field)[0]
            if root not in REQUEST_ROOTS:
                raise FieldPathError(one.field, _no_root(root, one.field))
    return checked


def as_field_skips(skip: Iterable[str | FieldSkip]) -> list[FieldSkip]:
    """Return ``skip`` as `FieldSkip`s, unread. Raises TypeError for a single one that is in no list."""
    if isinstance(skip, str | FieldSkip):
        raise TypeError(f"skip is a list of field names and paths: skip=[{skip!r}]")
    return [one if isinstance(one, FieldSkip) else FieldSkip(one) for one in skip]


def _no_root(root: PatternSegment, path: str) -> str:
    meant = f"context.{path}" if root in _OF_CONTEXT else ""
    if isinstance(root, str) and not meant:
        close = get_close_matches(root, REQUEST_ROOTS, 1)
        meant = path.replace(root, close[0], 1) if close else ""
    guess = f"; is {meant!r} meant?" if meant else ""
    return f"a request has model, context and options at its root, and nothing else{guess}"


def unmet_skips(fields: Sequence[str], requests: Iterable[dict[str, Any]]) -> list[str]:
    """Return those of ``fields``, names and paths, that none of ``requests`` has. Stops when all are met."""
    names = {field for field in fields if is_name(field)}
    paths = {field: parse_path(field) for field in fields if not is_name(field)}
    for request in requests:
        if not names and not paths:
            break
        names -= _keys(request) if names else set()
        for field in [field for field, path in paths.items() if _leads_anywhere(path, request)]:
            del paths[field]
    return [field for field in dict.fromkeys(fields) if field in names or field in paths]


def _keys(value: Any) -> set[object]:
    keys: set[object] = set()
    todo = [value]
    while todo:
        part = todo.pop()
        if isinstance(part, dict):
            keys.update(part)
            todo += part.values()
        elif isinstance(part, list):
            todo += part
    return keys


def _leads_anywhere(path: Sequence[PatternSegment], value: Any) -> bool:
    here = [value]
    for segment in path:
        below: list[Any] = []
        for part in here:
            if isinstance(part, dict):
                below += [part[segment]] if segment in part else []
            elif isinstance(part, list):
                if segment is ANY_INDEX:
                    below += part
                elif isinstance(segment, int):
                    below += part[segment : segment + 1]
        here = below
    return bool(here)
