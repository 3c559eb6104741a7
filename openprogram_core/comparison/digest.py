"""A fingerprint of a value without its skipped fields: equal fingerprints, equal values."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from openprogram_core.comparison.skips import SkipOrigin, SkipState

_encode = json.JSONEncoder(sort_keys=True, separators=(",", ":"), default=repr).encode


def _nothing_more(key: str, value: Any) -> bool:
    return False


def fingerprint(
    value: Any,
    names: Mapping[str, SkipOrigin],
    state: SkipState | None,
    leave_out: Callable[[str, Any], bool] = _nothing_more,
) -> bytes:
    """Return 16 bytes that are the same for values that differ in skipped fields only.

    ``names`` are skipped anywhere; ``state`` is where the value stands in the declared paths. ``leave_out``
    is asked about the fields that are no dict and no list.
    """
    compared = _without_skipped(value, names, state, leave_out)
    try:
        text = _encode(compared)
    except RecursionError:
        text = "".join(_encode_deep(compared))
    return hashlib.blake2b(text.encode(), digest_size=16).digest()


def _encode_deep(value: Any) -> Iterator[str]:
    # What json cannot: no recursion, for the rare value nested a thousand deep.
    todo: list[tuple[bool, Any]] = [(False, value)]
    while todo:
        ready, part = todo.pop()
        if ready:
            yield part
        elif isinstance(part, dict):
            yield "{"
            todo.append((True, "}"))
            for key in sorted(part, reverse=True):
                todo += [(True, ","), (False, part[key]), (True, _encode(key) + ":")]
        elif isinstance(part, list):
            yield "["
            todo.append((True, "]"))
            for item in reversed(part):
                todo += [(True, ","), (False, item)]
        else:
            yield _encode(part)


def _without_skipped(
    value: Any,
    names: Mapping[str, SkipOrigin],
    state: SkipState | None,
    leave_out: Callable[[str, Any], bool],
) -> Any:
    if not isinstance(value, dict | list | tuple):
        return value
    whole: list[Any] = []
    todo: list[tuple[Any, SkipState | None, Any]] = [(value, state, whole.append)]
    while todo:
        part, below, put = todo.pop()
        if isinstance(part, dict):
            fields: dict[str, Any] = {}
            put(fields)
            for key, inner in part.items():
                step = below.step(key) if below is not None else None
                if key in names or (step is not None and step.origin is not None):
                    continue
                if isinstance(inner, dict | list | tuple):
                    fields[key] = None
                    todo.append((inner, step, _Setter(fields, key)))
                elif not leave_out(key, inner):
                    fields[key] = inner
        else:
            items: list[Any] = []
            put(items)
            for index, inner in enumerate(part):
                step = below.step(index) if below is not None else None
                if step is not None and step.origin is not None:
                    items.append(None)
                elif isinstance(inner, dict | list | tuple):
                    items.append(None)
                    todo.append((inner, step, _Setter(items, index)))
                else:
                    items.append(inner)
    return whole[0]


class _Setter:
    """Puts a finished part into its place."""

    __slots__ = ("_key", "_target")

    def __init__(self, target: Any, key: Any) -> None:
        self._target = target
        self._key = key

    def __call__(self, part: Any) -> None:
        self._target[self._key] = part
