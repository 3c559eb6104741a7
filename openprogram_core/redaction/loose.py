r"""Known values however they are written down: character by character, each in any of its spellings.

`known` lists whole spellings, which one automaton finds. What no list can hold is a mixture: ``%2d`` beside
``%2D``, one letter as ``\u0071``, a zero-width space or a line break in between, another case. Here a value
becomes a pattern of its characters' spellings, and RE2 finds it in time proportional to the text.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from openprogram_core.redaction.values import is_word

_SHORTEST = 8
# What comes after so many characters is taken by its kind, so that a pattern keeps a size.
_LONGEST = 64
_HELD_FROM = 4
_MEMORY = 32 << 20
_TAIL = r"[A-Za-z0-9_+/=.~%\\&#;-]*"
_INVISIBLE = "\u00ad\u200b\u200c\u200d\u200e\u200f\u2060\ufeff"
_LINE_BREAK = r"(?:\\+r)?\\+n[ \t]*|\r?\n[ \t]*"
_BETWEEN = (
    r"[\x{AD}\x{200B}-\x{200F}\x{2060}\x{FEFF}]|\\+u(?i:00ad|200[b-f]|2060|feff)"
    rf"|{_LINE_BREAK}|[\"'][ ]?\+[ ]?[\"']"
)
# An escape of which the end is still to come.
_UNFINISHED = r"(?:\\+(?:[uUxX]\{?[0-9a-fA-F]*)?|%[0-9a-fA-F]*|&#?x?[0-9a-fA-F]*)?"
_ENTITIES = {"&": "amp", "<": "lt", ">": "gt", '"': "quot", "'": "apos"}
_BASE64_ODD = {"+": r"(?:[+-]|%(?:25)*2[bB])", "/": r"(?:\\*/|_|%(?:25)*2[fF])"}


class _Chain(NamedTuple):
    """One way to write a value: its characters' patterns, and what stands between two of them.

    ``escaped`` are the patterns of a character that is written as anything but itself. ``broken`` is what may
    stand between two characters but need not.
    """

    units: Sequence[str]
    joint: str = ""
    escaped: Sequence[str] = ()
    broken: str = ""
    tail: str = ""

    def whole(self) -> str:
        return self.joint.join(self.units) + self.tail

    def beginnings(self, least: int) -> Iterator[str]:
        """Yield what a text may end with: ``least`` characters, and with four also fewer that are escaped."""
        rest = [""] * (len(self.units) + 1)
        for index in range(len(self.units) - 1, 0, -1):
            rest[index] = f"(?:{self.joint}{self.units[index]}{rest[index + 1]})?"
        end = f"(?:{self.joint})?{_UNFINISHED}"
        yield self.joint.join(self.units[:least]) + rest[min(least, len(self.units))] + self.tail + end
        if least > _HELD_FROM:
            return
        for count in range(min(_HELD_FROM, len(self.escaped))):
            before = "".join(self.units[:count])
            yield before + self.escaped[count] + rest[count + 1] + end
            if count and self.broken:
                yield f"{before}(?:{self.broken})+{self.units[count]}?{rest[count + 1]}{end}"


def _literal(character: str) -> str:
    return character if character.isalnum() else rf"\x{{{ord(character):x}}}"


def _escapes(character: str) -> str:
    """Return the pattern of all ways to write a character but the plain one."""
    code = ord(character)
    octets = "".join(f"%(?:25)*{octet:02x}" for octet in character.encode())
    found = [octets, rf"\\+[ux]\{{?0*{code:x}\}}?", rf"&(?:amp;)*#(?:0*{code}|x0*{code:x});"]
    if code > 0xFFFF:
        high, low = divmod(code - 0x10000, 0x400)
        found.append(rf"\\+u{0xD800 + high:x}\\+u{0xDC00 + low:x}")
    if character in _ENTITIES:
        found.append(rf"&(?:amp;)*{_ENTITIES[character]};")
    if 0x21 <= code <= 0x7E:
        found.append(chr(code + 0xFEE0))
    if not character.isalnum() and code < 0x80:
        found.append(f"={code:02x}")
    return f"(?i:{'|'.join(found)})"


def _plain(character: str, *, any_case: bool) -> str:
    if character == " ":
        return r"(?:\x20|\+)"
    if character == "\n":
        return r"(?:\\+n|\r?\n)"
    if character.isalnum():
        return f"(?i:{character})" if any_case and character.isalpha() else character
    return rf"\\*{_literal(character)}"


def _chains(value: str) -> Iterator[_Chain]:
    kept = value[:_LONGEST]
    tail = _TAIL if len(value) > _LONGEST else ""
    escaped = [_escapes(character) for character in kept]
    plain = [_plain(character, any_case=not is_word(value)) for character in kept]
    units = [f"(?:{one}|{other})" for one, other in zip(plain, escaped, strict=True)]
    yield _Chain(units, f"(?:{_BETWEEN})*", escaped, _BETWEEN, tail)
    octets = kept.encode()
    yield _Chain(
        [f"(?i:{octet:02x})" for octet in octets],
        r"(?:[: -]|, ?|\\+x|0x)*",
        tail="[0-9a-fA-F]*" if tail else "",
    )
    if not any(map(str.isspace, value)) and not value.isdigit():
        yield _Chain([_literal(character) for character in kept], r"[ \x{A0}\x{2009}]")
    for shift in range(3):
        core = base64.b64encode(b"\0" * shift + octets).decode()[
            (0, 2, 3)[shift] : (shift + len(octets)) * 8 // 6
        ]
        if len(core) >= _SHORTEST:
            wrapped = f"(?:{_LINE_BREAK})?"
            yield _Chain([_BASE64_ODD.get(one, one) for one in core], wrapped, tail=_TAIL if tail else "")


def _heads(value: str) -> Iterator[str]:
    """Yield what begins a spelling that `known` does not list; a stream is held back there."""
    for count, character in enumerate(value[:_HELD_FROM]):
        before, code = value[:count], ord(character)
        octet = f"{character.encode()[0]:02x}"
        yield from (
            f"{before}%{octet}",
            f"{before}%25{octet}",
            f"{before}\\u{code:04x}",
            f"{before}\\x{octet}",
        )
        yield from (f"{before}\\u{{{code:x}", f"{before}&#{code}", f"{before}&#x{code:x}", f"{before}&amp;")
        yield f"{before}\\u{{0"
        if character in _ENTITIES:
            yield f"{before}&{_ENTITIES[character]};"
        if 0x21 <= code <= 0x7E:
            yield f"{before}{chr(code + 0xFEE0)}"
        if not character.isalnum() and code < 0x80:
            yield f"{before}={code:02x}"
        if count >= 1:
            yield from (before + mark for mark in (*_INVISIBLE, "\\\\"))
            if not character.isalnum():
                yield f"{before}\\{character}"
        if count >= 2:
            yield from (
                before + mark for mark in ("\n", "\r\n", "\\n", "\\r", '" + "', "' + '", '"+"', "'+'")
            )
            yield from (before + mark for mark in ("\\u200", "\\u2060", "\\ufeff", "\\u00ad", "\\u00AD"))
    yield from (mark.join(value[:3]) + mark for mark in (" ", "\xa0", "\u2009"))
    octets = [f"{octet:02x}" for octet in value.encode()[:3]]
    yield from (
        mark.join(octets) for mark in ("", ":", " ", "-", ",", ", ", "\\x", "\\\\x", " 0x", ", 0x", ",0x")
    )


class LooseValue:
    """The patterns of one known value. Immutable and thread-safe."""

    def __init__(self, value: str) -> None:
        self._chains = list(_chains(value)) if _is_usable(value) else []
        self._whole: Any = None
        self._begun: dict[int, Any] = {}
        self.heads = [head.encode().lower() for head in _heads(value)] if self._chains else []
        """What one of which begins every spelling, in lower case. Without any of them nothing is compiled."""

    def stands_in(self, data: bytes) -> bool:
        """Whether the value stands in ``data`` in some spelling."""
        return bool(self._chains) and self._compiled().search(data) is not None

    def spans(self, data: bytes) -> Iterator[tuple[int, int]]:
        """Yield where the value stands, as byte offsets."""
        if self._chains:
            for match in self._compiled().finditer(data):
                yield match.span()

    def _compiled(self) -> Any:
        if self._whole is None:
            self._whole = _compile(chain.whole() for chain in self._chains)
        return self._whole

    def cut_short_from(self, data: bytes, least: int) -> int | None:
        """Where the value begins that the end of ``data`` cuts off after ``least`` characters, or None."""
        if not self._chains:
            return None
        if least not in self._begun:
            begun = (pattern for chain in self._chains for pattern in chain.beginnings(least))
            self._begun[least] = _compile(begun, r"\z")
        match = self._begun[least].search(data)
        return None if match is None else int(match.start())


@lru_cache(maxsize=256)
def loose_value(value: str) -> LooseValue:
    """Return the patterns of a value, compiled once: a set of values grows, and the old ones stay in it."""
    return LooseValue(value)


def _is_usable(value: str) -> bool:
    if len(value) > _LONGEST and any(map(str.isspace, value)):
        return False
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return "\0" not in value


def _compile(patterns: Iterable[str], end: str = "") -> Any:
    import re2  # type: ignore[import-untyped]  # google-re2 ships no types

    options = re2.Options()
    options.log_errors = False
    options.max_mem = _MEMORY
    return re2.compile(f"(?:{'|'.join(patterns)}){end}".encode(), options)
