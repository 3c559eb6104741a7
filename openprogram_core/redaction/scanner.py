"""The scanner: one pass of a literal automaton over a text, and rules run only where it stopped.

A clean text costs that one pass, whatever the number of rules. The automaton works on lower-cased UTF-8 bytes
(only ASCII letters change, so offsets hold) and knows three kinds of literal: those of value rules, the ends
of secret field names, and the starts of the few encodings that are undone.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote_from_bytes, unquote_to_bytes

from openprogram_core.redaction.assignments import AssignmentScanner
from openprogram_core.redaction.edits import (
    PLACEHOLDER,
    Edit,
    Source,
    apply_edits,
    merge_edits,
    to_characters,
)
from openprogram_core.redaction.names import FieldNames, text_spellings
from openprogram_core.redaction.patterns import compile_value_rules
from openprogram_core.redaction.rules import FieldRule, ValueRule

if TYPE_CHECKING:
    from openprogram_core._plugins import Contribution
    from openprogram_core.redaction.rules import SecretRule

# What follows a secret name that is assigned something or stands as a key; the rest is prose.
_FOLLOWS = re.compile(
    rb"""(?:\\*["'`]|&quot;|&\#0?3[49];|&apos;|%2[27]|>|&gt;|</
    |\(\\*["'`]|\{\\*"|\[[0-9]*\][ \t]*=|[ ]\{[ ]get;
    |[ \t]+(?:is|was|or)[ \t:]|[ \t]*(?:->|\|\||\?\?)|[ \t]*[`*_]{0,3}[ \t]*\|
    |[ \t]*(?:\r?\n|(?:\\+r)?\\+n)(?:[ \t]|\\+t)*["']?value["']?[ \t]*:
    |\\?\]?[*_]{0,3}(?:[ \t]|%20|\\+[nrt]){0,16}(?:=|:|%3[ADad]))""",
    re.VERBOSE,
)
_OPTION_VALUE = re.compile(rb"(?:[ \t]|\\+t)+[^\s\\]")
_OPTION_NAME = re.compile(
    rb"(?:--?|(?:\b(?:(?:set)?env|setx|set[ \t]+-[gUxu]*x[gUxu]*)|#[ \t]*define)[ \t]+)[\w.-]*\Z",
    re.IGNORECASE,
)
_MARKED_BEFORE = re.compile(rb"""(?:<(?:[\w.-]{1,40}:)?|\bname["']?[ \t]*:[ \t]*["']?)\Z""")
_NAME_BYTES = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.%-")
_NAME_TAIL = re.compile(rb"(?:[A-Za-z0-9_-]|%(?:2[dD]|5[fF]|[46][1-9a-fA-F]|[57][0-9aA]))*")
_LONGEST_NAME = 64
_WORD_BYTES = frozenset(b"abcdefghijklmnopqrstuvwxyz0123456789")
# Nothing before, or what is neither part of a word nor the head of an escape.
_AT_START = re.compile(rb"(?:\A|[^A-Za-z0-9_\\%\x1b\[-]|(?:\A|[^\x1b])\[)\Z")
_BEGUN = Source("shape", "openprogram_core", "beginning of what was removed")
_NAME = -1
_DATA_URL = -2
_ENCODED = -3
_ESCAPE = -4
_PLACEHOLDER = -5
# Letters, digits, `-` and `_` need no percent-encoding: where they have one, a name may be hidden.
_ENCODED_LITERALS = tuple(
    b"%%%02x" % byte for byte in b"-_abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
)
_ESCAPE_LITERALS = tuple(b"\\u00%d" % digit for digit in range(2, 8))
_DATA_URL_PATTERN = re.compile(
    r"data:(?P<mime>[a-z0-9.+/-]*)(?:;[a-z0-9=._+-]+?)*?(?P<base64>;base64)?,", re.IGNORECASE
)
_DATA_URL_BEGINNING = re.compile(r"data:[A-Za-z0-9.+/;=_-]{0,100}")
_BASE64_BODY = re.compile(r"[A-Za-z0-9+/]*={0,2}")
_URL_BODY = re.compile(r"[A-Za-z0-9%._~!$&'()*+,;=:@/?-]*")
_TEXT_MIME = re.compile(
    r"text/|application/(?:[a-z.+-]*(?:json|xml|yaml|javascript|x-www-form-urlencoded|x-sh))|\Z",
    re.IGNORECASE,
)
_DATA_URL_DEPTH = 2


class Look(NamedTuple):
    """What a look at a text found.

    The edits, where something is that more text could still make a secret (None: all is decided), and where
    the first secret name stands.
    """

    edits: list[Edit]
    open_from: int | None
    first_name: int | None


class Scanner:
    """All rules, compiled. Immutable after it is made; any number of threads may scan at once."""

    def __init__(self, contributions: Sequence[Contribution[SecretRule]]) -> None:
        import ahocorasick_rs

        fields: list[tuple[int, FieldRule]] = []
        values: list[tuple[int, str, ValueRule]] = []
        self.sources: list[Source] = []
        for number, (plugin, rule) in enumerate(contributions):
            if isinstance(rule, FieldRule):
                fields.append((number, rule))
                self.sources.append(Source("field", plugin, rule.name))
            else:
                values.append((number, plugin, rule))
                self.sources.append(Source("shape", plugin, rule.name))
        self.names = FieldNames(fields)
        self._values = compile_value_rules(values)
        self._without_literal = [rule for rule in self._values if not rule.literals]
        meanings: dict[bytes, list[int]] = {}
        for index, compiled in enumerate(self._values):
            for literal in {*compiled.literals, *map(_in_json, compiled.literals)}:
                meanings.setdefault(literal, []).append(index)
        for spelling in text_spellings([rule for _, rule in fields]):
            meanings.setdefault(spelling.encode(), []).append(_NAME)
        meanings.setdefault(b"data:", []).append(_DATA_URL)
        for literal in _ENCODED_LITERALS:
            meanings.setdefault(literal, []).append(_ENCODED)
        for literal in _ESCAPE_LITERALS:
            meanings.setdefault(literal, []).append(_ESCAPE)
        meanings.setdefault(PLACEHOLDER.encode(), []).append(_PLACEHOLDER)
        self._begun = {
            literal[:length]
            for compiled in self._values
            if compiled.begins_with_literal
            for literal in compiled.literals
            for length in range(1, len(literal))
        }
        self._longest_begun = max(map(len, self._begun), default=0)
        literals = list(meanings)
        self._meanings = list(meanings.values())
        self._stream_literals = [
            literal for literal, found in meanings.items() if any(meaning != _ESCAPE for meaning in found)
        ]
        self._automaton = ahocorasick_rs.BytesAhoCorasick(
            literals, implementation=ahocorasick_rs.Implementation.DFA
        )

    def field_source(self, name: str) -> Source | None:
        """Return whose rule says that the field ``name`` is secret, or None."""
        number = self.names.find(name)
        return None if number is None else self.sources[number]

    def hits(self, data: bytes) -> list[tuple[int, int, int]]:
        """Return the (number, start, end) of every literal in ``data`` that may matter; one pass."""
        lowered = data.lower()
        found: list[tuple[int, int, int]] = self._automaton.find_matches_as_indexes(lowered, overlapping=True)
        if not found:
            return found
        return [hit for hit in found if self._matters(hit, data)]

    def is_clean(self, data: bytes) -> bool:
        """Whether ``data``, a text or JSON text, certainly holds nothing that a rule removes."""
        return not self._without_literal and not self.hits(data)

    def _matters(self, hit: tuple[int, int, int], data: bytes) -> bool:
        number, start, end = hit
        for meaning in self._meanings[number]:
            if meaning >= 0:
                if self._values[meaning].may_begin(data, start):
                    return True
            elif meaning not in (_NAME, _ENCODED) or self._is_assigned(data, start, end):
                return True
        return False

    def _is_assigned(self, data: bytes, start: int, end: int) -> bool:
        tail = _NAME_TAIL.match(data, end, end + _LONGEST_NAME)
        last = tail.end() if tail is not None else end
        first = start
        while first > 0 and start - first < _LONGEST_NAME and data[first - 1] in _NAME_BYTES:
            first -= 1
        if _FOLLOWS.match(data, last) is None:
            option = _OPTION_VALUE.match(data, last) is not None
            option = option and _OPTION_NAME.search(data, max(0, first - 24), last) is not None
            if not option and _MARKED_BEFORE.search(data, max(0, first - 48), first) is None:
                return False
        name = data[first:last].decode("ascii", "replace")
        if first > 0 and data[first - 1] == 0x5C and name[:1] in ("n", "r", "t"):
            return self.names.find(name[1:].lstrip("-.")) is not None or self.names.find(name) is not None
        return self.names.find(name.lstrip("-.")) is not None

    def stream_gate(self, heads: Sequence[bytes] = ()) -> StreamGate:
        """Return the automaton for a stream's pieces: the rules' literals and ``heads`` of known values."""
        return StreamGate([*self._stream_literals, *(head.lower() for head in heads)])

    @property
    def needs_whole_texts(self) -> bool:
        """Whether a rule's secret may begin before its literal, so that a stream must wait for the end."""
        return any(not rule.literals or rule.late for rule in self._values)

    @property
    def has_literal_less_rules(self) -> bool:
        """Whether a rule has no literal, so that every text must be searched with it."""
        return bool(self._without_literal)

    def edits(
        self, text: str, data: bytes, hits: Sequence[tuple[int, int, int]], depth: int = 0
    ) -> list[Edit]:
        """Return what the rules remove from ``text``, whose UTF-8 form is ``data`` with these ``hits``."""
        return self.look(text, data, hits, depth).edits

    def look(
        self,
        text: str,
        data: bytes,
        hits: Sequence[tuple[int, int, int]],
        depth: int = 0,
        *,
        growing: bool = False,
    ) -> Look:
        """Like `edits`; with ``growing`` also where something is that more text could still make a secret."""
        edits: list[Edit] = []
        starts: dict[int, list[int]] = {}
        names: list[tuple[int, int]] = []
        urls: list[int] = []
        placeholders: list[int] = []
        for number, start, end in hits:
            for meaning in self._meanings[number]:
                if meaning >= 0:
                    starts.setdefault(meaning, []).append(start)
                elif meaning in (_NAME, _ENCODED):
                    names.append((start, end))
                elif meaning == _DATA_URL:
                    urls.append(start)
                elif meaning == _PLACEHOLDER and data.startswith(PLACEHOLDER.encode(), start):
                    placeholders.append(start)
        opened: list[int] = []
        running = [(self._values[index], places) for index, places in starts.items()]
        running += [(rule, [0]) for rule in self._without_literal]
        for rule, places in running:
            spans = to_characters(data, len(text), rule.spans(data, sorted(places)))
            source = self.sources[rule.number]
            edits += [Edit(start, end, PLACEHOLDER, source) for start, end in spans]
            if growing and (place := rule.open_from(data, places)) is not None:
                opened += [start for start, _ in to_characters(data, len(text), [(place, place)])]
        first_name: int | None = None
        if names:
            assignments = AssignmentScanner(text, self.field_source, growing=growing)
            ordered = sorted(to_characters(data, len(text), names))
            first_name = ordered[0][0]
            for start, end in ordered:
                assignments.look(start, end)
            edits += assignments.edits
            if assignments.open_from is not None:
                opened.append(assignments.open_from)
        if urls:
            at = [start for start, _ in to_characters(data, len(text), [(at, at) for at in urls])]
            edits = self._data_urls(text, at, edits, depth, opened)
        pairs = [(self._begun_before(data, place), place) for place in placeholders]
        for start, place in to_characters(data, len(text), [pair for pair in pairs if pair[0] < pair[1]]):
            edits.append(Edit(start, place + len(PLACEHOLDER), PLACEHOLDER, _BEGUN))
        return Look(edits, min(opened, default=None), first_name)

    def _begun_before(self, data: bytes, place: int) -> int:
        """Return where the written beginning of a secret starts that a placeholder at ``place`` cut off.

        A stream may have written ``gith`` before a literal was complete, or three characters of a value.
        Requests that repeat the reply must read alike whether it was redacted whole or in pieces.
        """
        for length in range(min(self._longest_begun, place), 0, -1):
            start = place - length
            piece = data[start:place].lower()
            short = length < 4 and all(byte in _WORD_BYTES for byte in piece)
            if (short or piece in self._begun) and _AT_START.search(data, max(0, start - 3), start):
                return start
        return place

    def _data_urls(
        self, text: str, places: Sequence[int], edits: list[Edit], depth: int, opened: list[int]
    ) -> list[Edit]:
        for place in sorted(places):
            match = _DATA_URL_PATTERN.match(text, place, place + 256)
            if match is None:
                if _DATA_URL_BEGINNING.fullmatch(text, place):
                    opened.append(place)
                continue
            encoded = match["base64"] is not None
            body = (_BASE64_BODY if encoded else _URL_BODY).match(text, match.end())
            if body is None or body.end() == len(text):
                opened.append(place)
            if body is None or not body.group():
                continue
            start, end = body.span()
            if _TEXT_MIME.match(match["mime"]) is None:
                if encoded:
                    edits = [edit for edit in edits if not (start <= edit.start and edit.end <= end)]
                continue
            if depth < _DATA_URL_DEPTH:
                edits = edits + self._inside(body.group(), start, end, encoded, depth)
        return edits

    def _inside(self, body: str, start: int, end: int, encoded: bool, depth: int) -> list[Edit]:
        try:
            data = base64.b64decode(body + "=" * (-len(body) % 4)) if encoded else unquote_to_bytes(body)
            text = data.decode("utf-8")
        except (binascii.Error, ValueError):
            return []
        found = merge_edits(self.edits(text, data, self.hits(data), depth + 1), text)
        if not found:
            return []
        redacted = apply_edits(text, found).encode()
        replacement = base64.b64encode(redacted).decode() if encoded else quote_from_bytes(redacted, safe="")
        return [Edit(start, end, replacement, found[0].source)]


class StreamGate:
    """Finds in one pass whether anything begins that may be a secret. Immutable and thread-safe."""

    def __init__(self, literals: Sequence[bytes]) -> None:
        import ahocorasick_rs

        self.reach = max(map(len, literals)) - 1
        """Bytes before a new piece that must be scanned with it."""
        # Built in a quarter of the time of a DFA, which counts once a call, and as fast on small pieces.
        self._find = ahocorasick_rs.BytesAhoCorasick(
            literals, implementation=ahocorasick_rs.Implementation.ContiguousNFA
        ).find_matches_as_indexes

    def opens(self, data: bytes) -> bool:
        """Whether one of the literals stands in ``data``."""
        return bool(self._find(data.lower()))


def _in_json(literal: bytes) -> bytes:
    return json.dumps(literal.decode("utf-8", "surrogatepass"))[1:-1].encode()


def rule_fingerprint(contributions: Sequence[Contribution[SecretRule]]) -> str:
    """Return 16 hex digits that change when any rule does."""
    import hashlib

    digest = hashlib.sha256()
    for plugin, rule in contributions:
        digest.update(repr((plugin, rule)).encode("utf-8", "surrogatepass"))
    return digest.hexdigest()[:16]


def check_field_rules(contributions: Sequence[Contribution[SecretRule]]) -> None:
    """Check every field rule against its own examples. Raises RedactionError naming rule and plugin."""
    from openprogram_core.errors import RedactionError
    from openprogram_core.redaction.names import CompiledFieldRule

    for plugin, rule in contributions:
        if not isinstance(rule, FieldRule):
            continue
        compiled = CompiledFieldRule(rule)
        if not rule.matches:
            raise RedactionError(
                "needs at least one example in `matches`, or nobody knows that it works",
                plugin=plugin,
                rule=rule.name,
            )
        for name in rule.matches:
            if not compiled.matches(name):
                raise RedactionError(
                    f"does not match its own example {name!r}", plugin=plugin, rule=rule.name
                )
        for name in rule.rejects:
            if compiled.matches(name):
                raise RedactionError(
                    f"matches {name!r}, which its `rejects` names", plugin=plugin, rule=rule.name
                )
        for name in _OUR_NAMES:
            if compiled.matches(name):
                raise RedactionError(
                    f"is too broad: it would take away {name!r}", plugin=plugin, rule=rule.name
                )


_OUR_NAMES = (
    "type",
    "role",
    "content",
    "text",
    "id",
    "name",
    "model",
    "messages",
    "tools",
    "usage",
    "max_tokens",
    "arguments",
)
