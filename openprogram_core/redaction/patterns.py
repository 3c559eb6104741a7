"""Value rules compiled with RE2 and checked: no rule is taken on trust."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from openprogram_core.errors import RedactionError
from openprogram_core.redaction.beginnings import beginnings, begins_with
from openprogram_core.redaction.rules import TOKEN_START, ValueRule

_ESCAPE_BEFORE = re.compile(rb"(?:\\[nrtbfv]|\\u[0-9A-Fa-f]{4}|%[0-9A-Fa-f]{2}|\x1b\[[0-9;]{0,4}m)\Z")

LEAD = 512
"""A match begins at most so many bytes before its literal."""

_MEMORY = 16 << 20
_SEARCHES_AT_FULL_LENGTH = 256
_WINDOW = 1 << 12
_HARMLESS_TEXTS = tuple(
    text.encode()
    for text in (
        "The quick brown fox jumps over the lazy dog, and then it sleeps until 7.30 in the morning.",
        "def add(first, second):\n    return first + second  # a comment, 100 % sure\n",
        '{"type": "text", "id": "msg_1", "count": 12, "items": [true, null, 1.5], "name": "weather"}',
        "https://example.org/a/b?page=2&sort=asc#top and mail to someone@example.org",
        "| a | b |\n|---|---|\n| 1 | 2 |\n\n- [ ] one\n- [x] two\n\n```sh\nls -l /tmp\n```\n",
    )
)


class CompiledValueRule:
    """One value rule: its literals in lower case, and its pattern over UTF-8 bytes."""

    def __init__(self, number: int, plugin: str, rule: ValueRule) -> None:
        self.number = number
        self.rule = rule
        self.literals = _literals(plugin, rule)
        self._pattern = _compile(plugin, rule)
        self._group: int = self._pattern.groupindex.get(b"secret", 0)
        # Compiled at the first stream that needs it; False when the pattern does not say.
        self._beginnings: Any = None
        self.begins_with_literal = _begins_at_boundary(rule.pattern, self.literals)
        self._check(plugin)
        self.late = any(self._is_late(text.encode("utf-8", "surrogatepass")) for text in rule.matches)
        """Whether four characters or more of the secret may stand before the literal."""

    def spans(self, data: bytes, starts: Sequence[int] = (0,)) -> Iterator[tuple[int, int]]:
        """Yield the secret parts in ``data``, left to right; ``starts``, in order, are its literals' places.

        Takes time in proportion to the length: few literals are looked at one by one in their surroundings,
        many by searching all of it.
        """
        if self.literals and 4 * _WINDOW * len(starts) < len(data) and self._follow() is not False:
            yield from self._around(data, starts)
        else:
            yield from self._throughout(data, max(0, starts[0] - LEAD))

    def _secret(self, match: Any) -> tuple[int, int]:
        start, end = match.span(self._group)
        if start < 0:
            start, end = match.span()
        return start, end

    def _throughout(self, data: bytes, position: int) -> Iterator[tuple[int, int]]:
        searches = 0
        while True:
            searches += 1
            limit = None if searches <= _SEARCHES_AT_FULL_LENGTH else position + _WINDOW
            match = self._pattern.search(data, position, limit)
            if limit is not None and limit < len(data) and (match is None or match.end() == limit):
                # The window may have cut a match short.
                match = self._pattern.search(data, position if match is None else match.start())
            if match is None:
                return
            start, end = self._secret(match)
            if end > start:
                yield start, end
            position = max(match.end(), position + 1)

    def _around(self, data: bytes, starts: Sequence[int]) -> Iterator[tuple[int, int]]:
        position = 0
        for place in starts:
            if place < position:
                continue
            first = max(position, place - LEAD)
            size = _WINDOW
            while True:
                limit = min(len(data), place + size)
                match = self._pattern.search(data, first, limit)
                sure = place if match is None else min(place, match.start())
                if limit == len(data) or not self._goes_on(data[first:limit], sure - first):
                    break
                size *= 8
            if match is not None:
                start, end = self._secret(match)
                if end > start:
                    yield start, end
                position = max(match.end(), place + 1)

    def _goes_on(self, window: bytes, place: int) -> bool:
        """Whether a match that begins at ``place`` or before may go on behind the window."""
        match = self._follow().search(window)
        return match is not None and match.start() <= place

    def _follow(self) -> Any:
        """The compiled pattern of the beginnings, made at the first need; False when there is none."""
        if self._beginnings is None:
            self._beginnings = _compile_beginnings(self.rule.pattern)
        return self._beginnings

    def open_from(self, data: bytes, starts: Sequence[int]) -> int | None:
        """Return where a secret may be under way at the end of ``data``, or None.

        ``starts`` are where the rule's literals stand; the place is the first of them that may belong to it.
        """
        follow = self._follow()
        if follow is False:
            return min(starts)
        match = follow.search(data, max(0, min(starts) - LEAD))
        if match is None:
            return None
        return min((start for start in starts if start >= match.start()), default=None)

    def may_begin(self, data: bytes, start: int) -> bool:
        """Whether a match may have its literal at ``start``, judged by what stands before it."""
        if (
            not self.begins_with_literal
            or start == 0
            or not (_is_word(data[start - 1]) and _is_word(data[start]))
        ):
            return True
        # In JSON text a line break before the literal is an escape whose letter is glued to it.
        return _ESCAPE_BEFORE.search(data, max(0, start - 8), start) is not None

    def _is_late(self, data: bytes) -> bool:
        lowered = data.lower()
        for start, end in self.spans(data):
            places = [lowered.find(literal, max(0, start - LEAD), end) for literal in self.literals]
            if min((place for place in places if place >= 0), default=start) > start + 3:
                return True
        return False

    def _check(self, plugin: str) -> None:
        rule = self.rule
        for text in rule.matches:
            data = text.encode("utf-8", "surrogatepass")
            if not any(True for _ in self.spans(data)):
                raise RedactionError("does not match one of its own `matches`", plugin=plugin, rule=rule.name)
            lowered = data.lower()
            if self.literals and not any(literal in lowered for literal in self.literals):
                raise RedactionError(
                    "one of its `matches` holds none of its `literals`, so it would never be looked at",
                    plugin=plugin,
                    rule=rule.name,
                )
        for text in rule.rejects:
            data = text.encode("utf-8", "surrogatepass")
            lowered = data.lower()
            looked_at = not self.literals or any(literal in lowered for literal in self.literals)
            if looked_at and any(True for _ in self.spans(data)):
                raise RedactionError("matches one of its own `rejects`", plugin=plugin, rule=rule.name)
        if self._pattern.search(b"") is not None:
            raise RedactionError("is too broad: it matches the empty text", plugin=plugin, rule=rule.name)
        for data in _HARMLESS_TEXTS:
            if self._pattern.search(data) is not None:
                raise RedactionError(
                    "is too broad: it matches plain prose, code or JSON. Name what stands around the secret",
                    plugin=plugin,
                    rule=rule.name,
                )


def _literals(plugin: str, rule: ValueRule) -> tuple[bytes, ...]:
    if not rule.matches:
        raise RedactionError(
            "needs at least one example in `matches`, or nobody knows that it works",
            plugin=plugin,
            rule=rule.name,
        )
    literals: dict[bytes, None] = {}
    for literal in rule.literals:
        if len(literal.strip()) < 2:
            raise RedactionError(
                "is too broad: a literal needs two characters that are no blanks",
                plugin=plugin,
                rule=rule.name,
            )
        # Bytes know only the case of ASCII; for the rest both cases are listed.
        for spelling in (literal, literal.lower(), literal.upper()):
            literals[spelling.encode("utf-8", "surrogatepass").lower()] = None
    return tuple(literals)


def _compile(plugin: str, rule: ValueRule) -> Any:
    import re2  # type: ignore[import-untyped]  # google-re2 ships no types

    options = re2.Options()
    options.log_errors = False
    options.max_mem = _MEMORY
    try:
        return re2.compile(rule.pattern.encode("utf-8", "surrogatepass"), options)
    except re2.error as error:
        reason = error.args[0] if error.args else "unknown"
        if isinstance(reason, bytes):
            reason = reason.decode("utf-8", "replace")
        raise RedactionError(
            f"its pattern is not RE2 syntax: {reason}", plugin=plugin, rule=rule.name
        ) from None


def _begins_at_boundary(pattern: str, literals: Sequence[bytes]) -> bool:
    """Whether every match certainly begins at a word boundary with one of the literals."""
    rest = pattern.removeprefix("(?i)")
    for boundary in (TOKEN_START, r"\b"):
        if rest.startswith(boundary) and literals:
            texts = [literal.decode("utf-8", "surrogatepass") for literal in literals]
            return begins_with(rest.removeprefix(boundary), texts)
    return False


def _compile_beginnings(pattern: str) -> Any:
    import re2

    text = beginnings(pattern)
    if text is None:
        return False
    options = re2.Options()
    options.log_errors = False
    options.max_mem = _MEMORY
    try:
        return re2.compile(rf"(?:{text})\z".encode("utf-8", "surrogatepass"), options)
    except re2.error:
        return False


def _is_word(byte: int) -> bool:
    return byte == 0x5F or 0x30 <= byte <= 0x39 or 0x41 <= byte <= 0x5A or 0x61 <= byte <= 0x7A


def compile_value_rules(rules: Sequence[tuple[int, str, ValueRule]]) -> list[CompiledValueRule]:
    """Compile and check rules given as (number, plugin, rule). Raises RedactionError."""
    return [CompiledValueRule(number, plugin, rule) for number, plugin, rule in rules]
