"""Values known to be secret in one call, and every spelling in which they may turn up."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterable, Iterator
from typing import Any
from urllib.parse import quote, quote_plus, unquote

from openprogram_core.redaction.edits import (
    PLACEHOLDER,
    Edit,
    Source,
    apply_edits,
    merge_edits,
    to_characters,
)
from openprogram_core.redaction.loose import loose_value
from openprogram_core.redaction.values import is_stand_in, is_strong, is_word

SHORTEST = 8
"""Characters a value needs before it is removed wherever it stands."""
SHORTEST_PIECE = 4
"""Characters of a value that are held back in a stream."""

KNOWN_VALUE = Source("value", "openprogram_core", "known value")
_MASKS = ("***", "...", "…", "•••", "xxxx", "XXXX")
_MASK_RUN = re.compile(r"\*{3,}|\.{3,}|…+|•{3,}|x{4,}|X{4,}")
_ESCAPE_DEPTH = 3
_LONGEST_MASKED_HEAD = 12
_LONGEST_MASKED_TAIL = 6
_SCHEME = re.compile(r"\s*[A-Za-z][A-Za-z0-9-]{1,24}\s+(?P<rest>\S.*)", re.DOTALL)
# Of a scheme with parameters: `Digest username="u", response="..."`.
_PARAMETER = re.compile(r"""[\w-]+=(?:"(?P<quoted>[^"]*)"|(?P<bare>[^\s",;]+))""")
_COOKIE = re.compile(r"\s*[\w!#$%&*+.^|~-]+=(?P<value>[^;]*)")


def leaves(value: Any) -> Iterator[str]:
    """Yield the texts that stand under a secret field, numbers as text."""
    stack = [value]
    while stack:
        item = stack.pop()
        if isinstance(item, str):
            yield item
        elif isinstance(item, bytes):
            yield item.decode("utf-8", "surrogateescape")
        elif isinstance(item, int | float) and not isinstance(item, bool):
            yield repr(item)
        elif isinstance(item, dict):
            stack.extend(item.values())
        elif isinstance(item, list | tuple | set | frozenset):
            stack.extend(item)


def learn(value: Any) -> Iterator[str]:
    """Yield what is worth knowing of a secret field's value: itself, a token without its scheme, cookies."""
    nested = not isinstance(value, str)
    for text in leaves(value):
        for candidate in _parts(text):
            # A plain word deep inside an object is a name more often than a secret.
            if _usable(candidate) and not (nested and is_word(candidate)):
                yield candidate


def _parts(text: str) -> Iterator[str]:
    stripped = text.strip()
    yield stripped
    match = _SCHEME.fullmatch(stripped)
    if match is not None and " " not in match["rest"]:
        rest = match["rest"]
        yield rest
        if stripped[:5].lower() == "basic":
            yield from _basic(rest)
    if "=" in stripped and (";" in stripped or _COOKIE.fullmatch(stripped)):
        for piece in stripped.split(";"):
            cookie = _COOKIE.fullmatch(piece)
            if cookie is not None:
                yield cookie["value"].strip()
    for parameter in _PARAMETER.finditer(stripped if match is not None else ""):
        found = parameter["quoted"] or parameter["bare"] or ""
        if is_strong(found):
            yield found


def _basic(token: str) -> Iterator[str]:
    try:
        user, colon, password = base64.b64decode(token, validate=True).decode().partition(":")
    except ValueError:
        return
    if colon:
        yield f"{user}:{password}"
        yield password


def _usable(text: str) -> bool:
    return len(text) >= SHORTEST and PLACEHOLDER not in text and not is_stand_in(text)


def _json_spellings(value: str) -> Iterator[str]:
    for ascii_only in (False, True):
        spelling = value
        for _ in range(_ESCAPE_DEPTH):
            spelling = json.dumps(spelling, ensure_ascii=ascii_only)[1:-1]
            yield spelling
    yield value.replace("/", "\\/")


def _url_spellings(value: str) -> Iterator[str]:
    data = value.encode("utf-8", "surrogatepass")
    for spelling in (quote(data, safe=""), quote(data), quote_plus(data), quote(data, safe="/+=:@")):
        yield spelling
        yield re.sub("%[0-9A-F]{2}", lambda match: match.group().lower(), spelling)
        yield quote(spelling, safe="")
    if "%" in value:
        yield unquote(value)


def _base64_spellings(value: str) -> Iterator[str]:
    data = value.encode("utf-8", "surrogatepass")
    for shift in range(3):
        encoded = base64.b64encode(b"\0" * shift + data).decode()
        # The characters at the edges also hold bits of the neighbours: only the ones between are certain.
        first = (0, 2, 3)[shift]
        last = (shift + len(data)) * 8 // 6
        core = encoded[first:last]
        yield core
        yield core.replace("+", "-").replace("/", "_")


def spellings(value: str) -> list[str]:
    """Return ``value`` plain, JSON-escaped to three levels, URL-encoded, and within base64; no duplicates."""
    found = {value: None}
    for spelling in (*_json_spellings(value), *_url_spellings(value), *_base64_spellings(value)):
        if len(spelling) >= SHORTEST:
            found[spelling] = None
    return list(found)


class KnownValues:
    """The values of one call, compiled. Immutable and thread-safe; ``number`` tells sets apart."""

    def __init__(self, values: Iterable[str], number: int) -> None:
        import ahocorasick_rs

        self.values = tuple(sorted(set(values)))
        self.number = number
        forms: dict[bytes, tuple[str, str]] = {}
        heads: dict[bytes, list[bytes]] = {}
        for value in self.values:
            for spelling in spellings(value):
                form = spelling.encode("utf-8", "surrogatepass")
                forms.setdefault(form, ("whole", value))
                heads.setdefault(_head(spelling), []).append(form)
            for form, kind in _masked_forms(value):
                forms.setdefault(form, (kind, value))
        self._loose = [loose_value(value) for value in self.values]
        loose = {head.lower() for head in heads} | {head for one in self._loose for head in one.heads}
        self.stream_heads = sorted({head.lower() for head in _masked_heads(self.values)} | loose)
        """Literals at which a stream is held back, because a spelling may begin there."""
        self._forms = list(forms)
        self._kinds = list(forms.values())
        self._heads = list(heads)
        self._of_head = [heads[head] for head in self._heads]
        small = ahocorasick_rs.Implementation.ContiguousNFA
        self._automaton = ahocorasick_rs.BytesAhoCorasick(self._forms, implementation=small)
        # Every form begins with one of these, so that one quick pass is all that most texts cost.
        self._gate = ahocorasick_rs.BytesAhoCorasick(
            self.stream_heads, implementation=ahocorasick_rs.Implementation.DFA
        )
        self._head_automaton = ahocorasick_rs.BytesAhoCorasick(self._heads, implementation=small)

    def stands_in(self, data: bytes) -> bool:
        """Whether one of the values may stand in ``data``, which may be JSON text."""
        if not self._may_stand_in(data):
            return False
        if self._automaton.find_matches_as_indexes(data):
            return True
        return any(value.stands_in(data) for value in self._loose)

    def _may_stand_in(self, data: bytes) -> bool:
        return bool(self._gate.find_matches_as_indexes(data.lower()))

    def spans(self, data: bytes) -> Iterator[tuple[int, int]]:
        """Yield where the values stand in ``data``, as byte offsets, masked ones too."""
        if not self._may_stand_in(data):
            return
        for number, start, end in self._automaton.find_matches_as_indexes(data, overlapping=True):
            kind, value = self._kinds[number]
            if kind == "whole":
                yield start, end
            else:
                yield from _masked_span(data, start, end, kind, value)
        for loose in self._loose:
            yield from loose.spans(data)

    def cut_short_from(self, data: bytes, least: int = SHORTEST) -> int | None:
        """Where a value begins that the end of ``data`` cuts off after ``least`` bytes or more, or None."""
        if not self._may_stand_in(data):
            return None
        places = [value.cut_short_from(data, least) for value in self._loose]
        for number, start, _ in self._head_automaton.find_matches_as_indexes(data, overlapping=True):
            rest = data[start:]
            if len(rest) >= least and any(form.startswith(rest) for form in self._of_head[number]):
                places.append(int(start))
                break
        return min((place for place in places if place is not None), default=None)


def _head(spelling: str) -> bytes:
    return spelling[:SHORTEST_PIECE].encode("utf-8", "surrogatepass")


def _masked_forms(value: str) -> Iterator[tuple[bytes, str]]:
    for mask in _MASKS:
        # `sk-...` is how people write about keys; stars are how services mask them.
        shortest = 3 if mask == "***" else 5
        for length in range(shortest, min(_LONGEST_MASKED_HEAD, len(value) - 1) + 1):
            yield (value[:length] + mask).encode("utf-8", "surrogatepass"), "head"
        for length in range(4, min(_LONGEST_MASKED_TAIL, len(value) - 1) + 1):
            yield (mask + value[-length:]).encode("utf-8", "surrogatepass"), "tail"


def _masked_heads(values: Iterable[str]) -> Iterator[bytes]:
    for value in values:
        for mask in _MASKS:
            for length in range(4, min(_LONGEST_MASKED_TAIL, len(value) - 1) + 1):
                yield (mask + value[-length]).encode("utf-8", "surrogatepass")
        yield (value[:3] + "***").encode("utf-8", "surrogatepass")


def _masked_span(data: bytes, start: int, end: int, kind: str, value: str) -> Iterator[tuple[int, int]]:
    """Widen a masked form to the whole of it: the head, the run of mask characters, the tail."""
    window = data[start : end + 512].decode("utf-8", "replace")
    run = _MASK_RUN.search(window)
    if run is None:
        return
    if kind == "tail":
        yield start, end
        return
    tail = 0
    for length in range(min(_LONGEST_MASKED_TAIL, len(window) - run.end()), 0, -1):
        if value.endswith(window[run.end() : run.end() + length]):
            tail = length
            break
    yield start, start + len(window[: run.end() + tail].encode("utf-8", "surrogatepass"))


def without_values(text: str, values: Iterable[str]) -> str:
    """Return ``text`` without ``values`` of 8 characters and more, in any spelling."""
    usable = [value for value in values if len(value) >= SHORTEST]
    if not usable:
        return text
    edits = known_edits(KnownValues(usable, 0), text, text.encode("utf-8", "surrogatepass"))
    return apply_edits(text, merge_edits(edits, text))


def known_edits(known: KnownValues, text: str, data: bytes) -> list[Edit]:
    """Return the edits that remove known values from ``text``, whose UTF-8 form is ``data``."""
    spans = to_characters(data, len(text), known.spans(data))
    return [Edit(start, end, PLACEHOLDER, KNOWN_VALUE) for start, end in spans]
