"""A fingerprint of a value without its skipped fields: equal fingerprints, equal values."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Collection, Iterator
from typing import Any

from openprogram_core.comparison.skips import Skips, SkipState

_encode = json.JSONEncoder(sort_keys=True, separators=(",", ":"), default=repr).encode


def _nothing_more(key: str, value: Any) -> bool:
    return False


def fingerprint(
    value: Any,
    skips: Skips,
    state: SkipState | None,
    leave_out: Callable[[str, Any], bool] = _nothing_more,
    below: Collection[str] = (),
) -> bytes:
    """Return 16 bytes that are the same for values that differ in skipped fields only.

    ``state`` is where the value stands. ``leave_out`` is asked about the fields that are no dict and no list,
    in what stands under the keys ``below`` of ``value``.
    """
    compared = _without_skipped(value, skips, state)
    if isinstance(compared, dict):
        for key in below:
            if key in compared:
                _leave_out(compared[key], leave_out)
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


def _without_skipped(value: Any, skips: Skips, state: SkipState | None) -> Any:
    """Return a copy without what is skipped; its dicts and lists are new."""
    if not isinstance(value, dict | list | tuple):
        return value
    whole: list[Any] = []
    todo: list[tuple[Any, SkipState | None, Any]] = [(value, state, whole.append)]
    while todo:
        part, below, put = todo.pop()
        if isinstance(part, dict):
            fields: dict[str, Any] = {}
            put(fields)
            names = skips.names if below is None else below.names
            for key, inner in part.items():
                step = below.step(key) if below is not None else None
                if key in names or (step is not None and step.origin is not None):
                    continue
                if isinstance(inner, dict | list | tuple):
                    fields[key] = None
                    todo.append((inner, step, _Setter(fields, key)))
                else:
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


def _leave_out(copied: Any, leave_out: Callable[[str, Any], bool]) -> None:
    todo = [copied]
    while todo:
        part = todo.pop()
        if isinstance(part, dict):
            for key in [key for key, inner in part.items() if leave_out(key, inner)]:
                del part[key]
        if isinstance(part, dict | list):
            todo += part.values() if isinstance(part, dict) else part


class _Setter:
    """Puts a finished part into its place."""

    __slots__ = ("_key", "_target")

    def __init__(self, target: Any, key: Any) -> None:
        self._target = target
        self._key = key

    def __call__(self, part: Any) -> None:
        self._target[self._key] = part
