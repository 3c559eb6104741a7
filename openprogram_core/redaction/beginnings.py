r"""From a pattern, the pattern of its beginnings: what a text may end with that more text could complete.

A stream is held back while a secret may be under way and not a character longer. Whether one is under way is
a question to the rule's own pattern: does the text end with the beginning of a match? For ``ab*c`` the
beginnings are ``(?:a(?:b*(?:c)?)?)?``. The syntax understood is the one rules are written in; for the rest
(named classes such as ``\pN``, flags in the middle) there is no answer, and the stream waits for the block's
end.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

_REPEAT = re.compile(r"[*+?]\??|\{(\d+)(,?)(\d*)\}\??")
_ESCAPE = re.compile(r"\\(?:x[0-9A-Fa-f]{2}|x\{[0-9A-Fa-f]+\}|[0-7]{1,3}|[abfnrtvdDsSwWBzA]|[^0-9A-Za-z])")
_CLASS = re.compile(r"\[\^?\]?(?:\\.|\[:\^?[a-z]+:\]|[^\]\\])*\]", re.DOTALL)
_GROUP = re.compile(r"\((?:\?(?:P?<[A-Za-z_]\w*>|:|(?P<flags>[imsU]+(?:-[imsU]+)?):))?")
_MOST_HEADS = 256
_FLAGS = re.compile(r"\(\?[imsU]+\)")


class _Leaf(NamedTuple):
    """One character's worth of pattern."""

    text: str


class _Assert(NamedTuple):
    """Something that takes no character."""

    text: str


class _Sequence(NamedTuple):
    flags: str
    items: list[_Node]


class _Choice(NamedTuple):
    options: list[_Sequence]


class _Group(NamedTuple):
    flags: str
    inner: _Choice


class _Repeat(NamedTuple):
    item: _Node
    suffix: str
    most: int | None
    """Most times, None for no limit."""


_Node: TypeAlias = _Leaf | _Assert | _Sequence | _Choice | _Group | _Repeat


class _UnknownSyntaxError(Exception):
    pass


def beginnings(pattern: str) -> str | None:
    """Return a pattern for every beginning of a match of ``pattern``, the empty one too, or None."""
    try:
        choice, position = _choice(pattern, 0)
        if position != len(pattern):
            return None
        return _begin(choice)
    except (_UnknownSyntaxError, RecursionError):
        return None


def begins_with(pattern: str, literals: Sequence[str]) -> bool:
    """Whether every match of ``pattern`` certainly begins with one of ``literals``, whatever the case."""
    try:
        choice, position = _choice(pattern, 0)
        if position != len(pattern):
            return False
        return all(head.startswith(tuple(literals)) for head in _heads(choice, "", tuple(literals)))
    except (_UnknownSyntaxError, RecursionError):
        return False


def _heads(node: _Node, head: str, literals: tuple[str, ...]) -> set[str]:
    """Return how a text may go on after ``head`` by ``node``, in lower case, until a literal stands."""
    if head.startswith(literals):
        return {head}
    match node:
        case _Assert():
            return {head}
        case _Leaf(text):
            return {head + character.lower() for character in _characters(text)}
        case _Choice(options):
            found = {made for option in options for made in _heads(option, head, literals)}
        case _Group(_, inner):
            found = _heads(inner, head, literals)
        case _Repeat():
            raise _UnknownSyntaxError
        case _Sequence(_, items):
            found = {head}
            for item in items:
                found = {made for one in found for made in _heads(item, one, literals)}
    if len(found) > _MOST_HEADS:
        raise _UnknownSyntaxError
    return found


def _characters(leaf: str) -> str:
    if len(leaf) == 1 and leaf != ".":
        return leaf
    if leaf[0] == "\\" and len(leaf) == 2 and not leaf[1].isalnum():
        return leaf[1]
    inner = leaf[1:-1]
    if inner == "0-9":
        return "0123456789"
    if leaf[0] == "[" and inner.isalnum():
        return inner
    raise _UnknownSyntaxError


def _choice(pattern: str, position: int) -> tuple[_Choice, int]:
    options = []
    while True:
        sequence, position = _sequence(pattern, position)
        options.append(sequence)
        if position >= len(pattern) or pattern[position] != "|":
            return _Choice(options), position
        position += 1


def _sequence(pattern: str, position: int) -> tuple[_Sequence, int]:
    flags = ""
    match = _FLAGS.match(pattern, position)
    if match is not None:
        flags, position = match.group(), match.end()
    items: list[_Node] = []
    while position < len(pattern) and pattern[position] not in "|)":
        item, position = _item(pattern, position)
        repeat = _REPEAT.match(pattern, position)
        if repeat is not None:
            item = _Repeat(item, repeat.group(), _most(repeat))
            position = repeat.end()
        items.append(item)
    return _Sequence(flags, items), position


def _most(repeat: re.Match[str]) -> int | None:
    if repeat.group()[0] in "*+":
        return None
    if repeat.group()[0] == "?":
        return 1
    if not repeat[2]:
        return int(repeat[1])
    return int(repeat[3]) if repeat[3] else None


def _item(pattern: str, position: int) -> tuple[_Node, int]:
    character = pattern[position]
    if character == "(":
        match = _GROUP.match(pattern, position)
        if match is None or (pattern.startswith("(?", position) and match.end() == position + 1):
            raise _UnknownSyntaxError
        inner, end = _choice(pattern, match.end())
        if end >= len(pattern):
            raise _UnknownSyntaxError
        return _Group(match["flags"] or "", inner), end + 1
    if character == "[":
        match = _CLASS.match(pattern, position)
    elif character == "\\":
        match = _ESCAPE.match(pattern, position)
    elif character in "^$":
        return _Assert(character), position + 1
    elif pattern.startswith("\\b", position):
        return _Assert("\\b"), position + 2
    elif character in "*+?{":
        raise _UnknownSyntaxError
    else:
        return _Leaf(character), position + 1
    if match is None:
        if pattern.startswith("\\b", position):
            return _Assert("\\b"), position + 2
        raise _UnknownSyntaxError
    text = match.group()
    if text in ("\\b", "\\B", "\\A", "\\z"):
        return _Assert(text), match.end()
    return _Leaf(text), match.end()


def _full(node: _Node) -> str:
    match node:
        case _Leaf(text) | _Assert(text):
            return text
        case _Sequence(flags, items):
            return flags + "".join(map(_full, items))
        case _Choice(options):
            return "|".join(map(_full, options))
        case _Group(flags, inner):
            return f"(?{flags}:{_full(inner)})"
        case _Repeat(item, suffix, _):
            return f"{_full(item)}{suffix}"


def _begin(node: _Node) -> str:
    """Return the pattern of the beginnings of ``node``; it matches the empty text."""
    match node:
        case _Leaf(text):
            return f"{text}?"
        case _Assert():
            return ""
        case _Choice(options):
            return "(?:" + "|".join(map(_begin, options)) + ")"
        case _Group(flags, inner):
            return f"(?{flags}:{_begin(inner)})"
        case _Repeat(_Leaf(text), _, most):
            return f"{text}*" if most is None else f"{text}{{0,{most}}}"
        case _Repeat(item, _, most):
            before = "*" if most is None else f"{{0,{most - 1}}}" if most > 1 else "{0}"
            again = "" if most == 1 else f"(?:{_full(item)}){before}"
            return f"{again}{_begin(item)}"
        case _Sequence(flags, items):
            made = ""
            for item in reversed(items):
                # Either it stops within this item, or the item is whole and what follows has begun.
                made = f"(?:{_full(item)}{made}|{_begin(item)})" if made else _begin(item)
            return flags + (made or "(?:)")
