"""Which field names are secret: whole names and runs of name segments, never substrings."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from urllib.parse import unquote

from openprogram_core.redaction.edits import PLACEHOLDER
from openprogram_core.redaction.rules import FieldRule

_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_SEPARATOR = re.compile(r"[\W_]+")
_TRAILING_DIGITS = re.compile(r"\d+\Z")
_LONGEST_NAME = 128
_MEMO_LIMIT = 8192


def _segments(name: str) -> tuple[str, ...]:
    found = [segment for segment in _SEPARATOR.split(name.lower()) if segment]
    while len(found) > 1 and found[-1].isdigit():
        found.pop()
    if found and not found[-1].isdigit():
        found[-1] = _TRAILING_DIGITS.sub("", found[-1])
    return tuple(found)


def _readings(name: str) -> tuple[tuple[str, ...], ...]:
    # `apiKey` is two segments, but `aPi_KeY` is `api_key` in somebody's odd case.
    camel = _segments(_CAMEL.sub("_", name))
    plain = _segments(name)
    return (camel,) if camel == plain else (camel, plain)


def _compact(name: str) -> str:
    return "".join(_segments(name))


def _runs(spellings: Sequence[str]) -> set[tuple[str, ...]]:
    runs = set()
    for spelling in spellings:
        segments = _segments(_CAMEL.sub("_", spelling))
        runs.add(segments)
        runs.add(("".join(segments),))
    return runs


class CompiledFieldRule:
    """One field rule, ready to be asked about a name."""

    def __init__(self, rule: FieldRule) -> None:
        self._names = {_compact(name) for name in rule.names}
        self._segments = _runs(rule.segments)
        self._endings = _runs(rule.endings)
        self._except_names = {_compact(name) for name in rule.except_names}
        self._except_segments = _runs(rule.except_segments)
        # A run that is the whole name matches however it is cased: APIKEY, ApIkEy.
        self.whole = self._names | {"".join(run) for run in self._segments | self._endings}
        self.runs = self._segments | self._endings

    def matches(self, name: str) -> bool:
        """Whether ``name`` is one of the rule's."""
        compact = _compact(name)
        if compact in self._except_names:
            return False
        readings = _readings(name)
        if any(_has_run(segments, self._except_segments) for segments in readings):
            return False
        return compact in self.whole or any(self._matches_segments(segments) for segments in readings)

    def _matches_segments(self, segments: tuple[str, ...]) -> bool:
        if any(segments[start:] in self._endings for start in range(len(segments))):
            return True
        return _has_run(segments, self._segments)


def _has_run(segments: tuple[str, ...], runs: set[tuple[str, ...]]) -> bool:
    if not runs:
        return False
    return any(
        segments[start:end] in runs
        for start in range(len(segments))
        for end in range(start + 1, len(segments) + 1)
    )


class FieldNames:
    """All field rules together: a look-up costs what the name costs, not what the rules cost.

    Answers are remembered.
    """

    def __init__(self, rules: Sequence[tuple[int, FieldRule]]) -> None:
        self._whole: dict[str, list[tuple[int, CompiledFieldRule]]] = {}
        self._runs: dict[tuple[str, ...], list[tuple[int, CompiledFieldRule]]] = {}
        for number, rule in rules:
            compiled = CompiledFieldRule(rule)
            for name in compiled.whole:
                self._whole.setdefault(name, []).append((number, compiled))
            for run in compiled.runs:
                self._runs.setdefault(run, []).append((number, compiled))
        self._longest_run = max(map(len, self._runs), default=0)
        self._memo: dict[str, int | None] = {}

    def find(self, name: str) -> int | None:
        """Return the number of the rule that says ``name`` is secret, or None. Percent-encoding is undone."""
        try:
            return self._memo[name]
        except KeyError:
            pass
        number = self._look(name)
        if len(name) <= _LONGEST_NAME:
            if len(self._memo) >= _MEMO_LIMIT:
                self._memo.clear()
            self._memo[name] = number
        return number

    def _look(self, name: str) -> int | None:
        # A key that was redacted is no field, however it ends now: `-----END PRIVATE KEY-----`.
        if len(name) > _LONGEST_NAME or PLACEHOLDER in name:
            return None
        plain = unquote(name) if "%" in name else name
        candidates = list(self._whole.get(_compact(plain), ()))
        for segments in _readings(plain):
            for start in range(len(segments)):
                for end in range(start + 1, min(len(segments), start + self._longest_run) + 1):
                    candidates += self._runs.get(segments[start:end], ())
        numbers = [number for number, rule in candidates if rule.matches(plain)]
        return min(numbers, default=None)


def text_spellings(rules: Sequence[FieldRule]) -> list[str]:
    """How the names end in free text, in lower case: enough of them to find every secret name by its end.

    >>> text_spellings([FieldRule(name="x", names=("api_key", "x-api-key"), matches=("api_key",))])
    ['api key', 'api-key', 'api.key', 'api_key', 'apikey']
    """
    spellings = {spelling for rule in rules for spelling in _spellings(rule)}
    return sorted(
        spelling
        for spelling in spellings
        if not any(spelling[start:] in spellings for start in range(1, len(spelling)))
    )


def _spellings(rule: FieldRule) -> Iterator[str]:
    for name in (*rule.names, *rule.segments, *rule.endings):
        segments = _segments(_CAMEL.sub("_", name))
        for joint in ("", "_", "-", ".", " "):
            yield joint.join(segments)
