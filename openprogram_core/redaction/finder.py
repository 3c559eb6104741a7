"""The walk that finds what is secret in a value: by field, by shape, by value, by hook."""

from __future__ import annotations

import json
import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from openprogram_core.redaction.changes import Change, json_text_edits
from openprogram_core.redaction.edits import PLACEHOLDER, Edit, Source, apply_edits, merge_edits
from openprogram_core.redaction.known import KnownValues, known_edits, learn
from openprogram_core.redaction.overheard import overheard
from openprogram_core.redaction.places import (
    EMBEDDING_FIELDS,
    MEDIA_TYPE_FIELDS,
    OPAQUE_FIELDS,
    OPEN,
    RESPONSE_FIELDS,
    SCHEMA,
    SCHEMA_FIELDS,
    TEXT,
    TOOL_FIELDS,
    Place,
)
from openprogram_core.redaction.scanner import Scanner
from openprogram_core.redaction.values import is_strong, is_word

MAX_DEPTH = 128
MAX_TEXT = 64 << 20
TOO_DEEP = Source("limit", "openprogram_core", "nesting limit")
TOO_LONG = Source("limit", "openprogram_core", "length limit")
_ROUNDS = 4
_BASE64 = re.compile(r"[A-Za-z0-9+/\s]*={0,2}")
_IDENTIFIER = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*")
_OPTION = re.compile(r"--?[A-Za-z][\w-]*")
_HEADER = re.compile(r"[A-Za-z][A-Za-z0-9]*(?:-[A-Za-z0-9]+)*")
_NAMING = ("name", "key", "header", "field", "id", "k")
# Of a container registry's or a package registry's settings: user and password in base64.
_LOGIN_FIELDS = ("auth", "_auth")
_VALUING = ("value", "values", "val", "v")

Hook = Callable[[str, str], "list[Edit]"]


class Finder:
    """One walk's settings: the rules, the values known in this call, the hooks. Collects what it learns.

    ``learned`` is what stands under secret fields, ``heard`` what rules removed from texts.
    """

    def __init__(self, scanner: Scanner, known: KnownValues | None, hook: Hook | None) -> None:
        self._scanner = scanner
        self._known = known
        self._hook = hook
        self.learned: list[str] = []
        self.heard: list[str] = []

    def find(self, value: Any, place: Place = OPEN, path: str = "", depth: int = 0) -> Change | None:
        """Return the change that redacts ``value``, or None when nothing is secret."""
        if place.kind == "keep":
            return None
        if place.kind == "exempt":
            return self._exempt(value)
        if place.kind == "secret":
            return self._whole(value, OPTION_SECRET)
        if isinstance(value, str):
            edits = self.text_edits(value, path, depth)
            return Change(edits=edits) if edits else None
        if value is None or isinstance(value, bool):
            return None
        if isinstance(value, int | float):
            return self._number(value)
        if isinstance(value, bytes):
            edits = self._bytes_edits(value, path, depth)
            return Change(edits=edits) if edits else None
        if depth >= MAX_DEPTH:
            return Change(whole=TOO_DEEP)
        if isinstance(value, Mapping):
            if place.choose is not None:
                place = place.variants.get(str(value.get(place.choose)), OPEN)
            if place.kind == "schema":
                return self._schema(value, path, depth)
            return self._mapping(value, place, path, depth)
        if isinstance(value, Sequence):
            return self._sequence(value, place, path, depth)
        raise TypeError(f"{path or 'value'}: {type(value).__name__} is no JSON value; dump it first")

    def text_edits(self, text: str, path: str = "", depth: int = 0) -> list[Edit]:
        """Return the merged edits that redact one string. Doing it again finds nothing."""
        if len(text) > MAX_TEXT:
            return [Edit(0, len(text), PLACEHOLDER, TOO_LONG)]
        edits = self._one_round(text, path, depth)
        if not edits:
            return []
        # What is left may match anew where a secret was cut out; rounds make redacting twice change nothing.
        for _ in range(_ROUNDS):
            result = apply_edits(text, edits)
            more = self._one_round(result, path, depth)
            if not more:
                break
            edits = merge_edits([*edits, *_carry_back(edits, more)], text)
        return edits

    def _one_round(self, text: str, path: str, depth: int) -> list[Edit]:
        data = text.encode("utf-8", "surrogatepass")
        scanner, known, hook = self._scanner, self._known, self._hook
        hits = scanner.hits(data)
        has_known = known is not None and known.stands_in(data)
        if not hits and not has_known and hook is None and not scanner.has_literal_less_rules:
            return []
        inner = self._json_edits(text, path, depth)
        if inner is not None:
            return inner
        edits: list[Edit] = []
        if hits or scanner.has_literal_less_rules:
            edits += scanner.edits(text, data, hits)
            self.heard += overheard(text, edits)
        if has_known and known is not None:
            edits += known_edits(known, text, data)
        edits = merge_edits(edits, text)
        if hook is not None:
            left = hook(path, apply_edits(text, edits) if edits else text)
            edits = merge_edits([*edits, *_carry_back(edits, left)], text)
        return edits

    def _json_edits(self, text: str, path: str, depth: int) -> list[Edit] | None:
        stripped = text.lstrip(" \t\r\n")
        if stripped[:1] not in ("{", "[", '"') or len(stripped) < 2:
            return None
        if stripped.rstrip(" \t\r\n")[-1] != {"{": "}", "[": "]", '"': '"'}[stripped[0]]:
            return None
        try:
            value = json.loads(text, object_pairs_hook=_no_duplicates, strict=False)
            change = self.find(value, OPEN, path, depth + 1)
            return merge_edits(json_text_edits(text, change), text) if change is not None else []
        except (ValueError, RecursionError):
            return None

    def _bytes_edits(self, value: bytes, path: str, depth: int) -> list[Edit]:
        # Latin-1 gives every byte a character, so that what is no text stays as it is.
        return self.text_edits(value.decode("latin-1"), path, depth)

    def _exempt(self, value: Any) -> Change | None:
        """Where no shape counts, the values of this very call are removed all the same."""
        if self._known is None or not isinstance(value, str):
            return None
        edits = merge_edits(known_edits(self._known, value, value.encode("utf-8", "surrogatepass")), value)
        return Change(edits=edits) if edits else None

    def _number(self, value: int | float) -> Change | None:
        if self._known is not None and repr(value) in self._known.values:
            from openprogram_core.redaction.known import KNOWN_VALUE

            return Change(whole=KNOWN_VALUE)
        return None

    def _whole(self, value: Any, source: Source) -> Change | None:
        if value == PLACEHOLDER:
            return None
        self.learned += learn(value)
        return Change(whole=source)

    def _mapping(self, value: Mapping[Any, Any], place: Place, path: str, depth: int) -> Change | None:
        change = Change()
        taken: set[str] = set()
        named = self._named_value(value)
        for key, item in value.items():
            below = f"{path}{step(key)}" if path else str(key)
            if key in place.fields:
                found = self.find(item, place.fields[key], below, depth + 1)
            elif key == named:
                found = self._whole(item, self._named_source(value))
            else:
                found = self._field(key, item, value, place, below, depth)
                self._key(key, value, change, taken, below, depth)
            if found is not None:
                change.below[key] = found
        return change if change.below or change.keys else None

    def _field(
        self, key: Any, item: Any, siblings: Mapping[Any, Any], place: Place, path: str, depth: int
    ) -> Change | None:
        rest = place.rest if place.rest is not None else place
        if isinstance(key, bytes):
            key = _as_text(key)
        if isinstance(key, str):
            source = self._scanner.field_source(key)
            if source is not None and not ("logprob" in siblings and key == "token"):
                return self._whole(item, source)
            if isinstance(item, str) and key.lower() in _LOGIN_FIELDS:
                login = self.text_edits(f"Basic {item}", path, depth)
                if login:
                    return self._whole(item, login[0].source)
            if _is_opaque(key, item, siblings, place):
                return self._exempt(item)
            if place.tools:
                if key in TOOL_FIELDS and isinstance(item, list):
                    return self.find(item, DECLARED_TOOLS, path, depth + 1)
                if key in RESPONSE_FIELDS and isinstance(item, Mapping):
                    return self.find(item, SCHEMA, path, depth + 1)
        if place.kind == "open" and key in SCHEMA_FIELDS and place is DECLARED_TOOL:
            return self.find(item, SCHEMA, path, depth + 1)
        return self.find(item, rest, path, depth + 1)

    def _key(
        self, key: Any, siblings: Mapping[Any, Any], change: Change, taken: set[str], path: str, depth: int
    ) -> None:
        if not isinstance(key, str) or len(key) < 4:
            return
        edits = self.text_edits(key, path, depth)
        if not edits:
            return
        name = fresh = apply_edits(key, edits)
        number = 1
        while fresh in taken or fresh in siblings:
            number += 1
            fresh = f"{name} #{number}"
        taken.add(fresh)
        change.keys[key] = (fresh, edits[0].source)

    def _named_value(self, value: Mapping[Any, Any]) -> str | None:
        """In ``{"name": "x-api-key", "value": ...}``, the key of the value."""
        for naming in _NAMING:
            name = value.get(naming)
            if isinstance(name, str) and self._scanner.field_source(name) is not None:
                return next((valuing for valuing in _VALUING if valuing in value and valuing != naming), None)
        return None

    def _named_source(self, value: Mapping[Any, Any]) -> Source:
        for naming in _NAMING:
            name = value.get(naming)
            source = self._scanner.field_source(name) if isinstance(name, str) else None
            if source is not None:
                return source
        return TOO_DEEP

    def _sequence(self, value: Sequence[Any], place: Place, path: str, depth: int) -> Change | None:
        change = Change()
        items = place.items if place.items is not None else place
        secret = self._secret_items(value) if place.kind == "open" and place.items is None else {}
        pairs = bool(value) and place.items is None and all(_is_pair(item) for item in value)
        for index, item in enumerate(value):
            below = f"{path}[{index}]"
            if index in secret:
                found = self._whole(item, secret[index])
            elif pairs and (source := self._scanner.field_source(_as_text(item[0]))) is not None:
                whole = self._whole(item[1], source)
                found = Change(below={1: whole}) if whole is not None else None
            else:
                found = self.find(item, items, below, depth + 1)
            if found is not None:
                change.below[index] = found
        return change if change.below else None

    def _secret_items(self, value: Sequence[Any]) -> dict[int, Source]:
        """In a flat list of names and values, or of command-line arguments, the places of secret values."""
        secret: dict[int, Source] = {}
        if len(value) < 2 or not isinstance(value[0], str | bytes):
            return secret
        texts = [_as_text(item) if isinstance(item, str | bytes) else None for item in value]
        flat = len(texts) % 2 == 0 and all(
            text is not None and _HEADER.fullmatch(text) for text in texts[::2]
        )
        for index in range(len(texts) - 1):
            name, item = texts[index], texts[index + 1]
            if name is None or not name or item is None:
                continue
            source = self._scanner.field_source(name)
            if source is None:
                continue
            if _OPTION.fullmatch(name):
                if not item.startswith("-"):
                    secret[index + 1] = source
            elif flat and index % 2 == 0 and not _is_name_list_item(name, item):
                secret[index + 1] = source
        return secret

    def _schema(self, value: Mapping[Any, Any], path: str, depth: int) -> Change | None:
        """Walk a JSON schema: names of properties are no fields, texts are scanned by shape."""
        change = Change()
        for key, item in value.items():
            below = f"{path}{step(key)}" if path else str(key)
            if key in _PROPERTY_MAPS and isinstance(item, Mapping):
                found = self._properties(item, below, depth + 1)
            elif isinstance(item, Mapping):
                found = self._schema(item, below, depth + 1) if depth < MAX_DEPTH else Change(whole=TOO_DEEP)
            elif isinstance(item, list):
                found = self.find(item, _SCHEMA_LIST, below, depth + 1)
            elif isinstance(key, str) and (source := self._scanner.field_source(key)) is not None:
                found = self._whole(item, source)
            else:
                found = self.find(item, TEXT, below, depth + 1)
            if found is not None:
                change.below[key] = found
        return change if change.below else None

    def _properties(self, value: Mapping[Any, Any], path: str, depth: int) -> Change | None:
        change = Change()
        taken: set[str] = set()
        for key, item in value.items():
            below = f"{path}{step(key)}"
            source = self._scanner.field_source(key) if isinstance(key, str) else None
            if source is not None and not isinstance(item, Mapping | bool | list):
                found = self._whole(item, source)
            else:
                found = self.find(
                    item, SCHEMA if isinstance(item, Mapping) else _SCHEMA_LIST, below, depth + 1
                )
            if isinstance(key, str):
                self._key(key, value, change, taken, below, depth)
            if found is not None:
                change.below[key] = found
        return change if change.below or change.keys else None


OPTION_SECRET = Source("field", "openprogram_core", "options.api_key")
DECLARED_TOOL = Place("open", tools=True)
DECLARED_TOOLS = Place("open", items=DECLARED_TOOL)
_SCHEMA_LIST = Place("text", items=SCHEMA)
_PROPERTY_MAPS = frozenset(
    {"properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependentRequired"}
)


def _no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        raise ValueError("a key stands twice")
    return made


def step(key: Any) -> str:
    """Return how a key continues a field path: ``.name``, or ``["any text"]``."""
    text = str(key)
    return f".{text}" if _IDENTIFIER.fullmatch(text) else f"[{json.dumps(text, ensure_ascii=False)}]"


def _as_text(item: Any) -> str:
    if isinstance(item, bytes):
        return item.decode("latin-1")
    return item if isinstance(item, str) else ""


def _is_pair(item: Any) -> bool:
    return isinstance(item, list | tuple) and len(item) == 2 and isinstance(item[0], str | bytes)


def _is_name_list_item(name: str, item: str) -> bool:
    # ["password", "email"] lists names; ["x-api-key", "..."] and ["password", "hunter2"] are pairs.
    if "-" in name or name.lower() in ("authorization", "cookie"):
        return False
    return is_word(item) and not is_strong(item)


def _is_opaque(key: str, item: Any, siblings: Mapping[Any, Any], place: Place) -> bool:
    if place.opaque and key in OPAQUE_FIELDS and isinstance(item, str):
        return True
    if key in EMBEDDING_FIELDS or key in OPAQUE_FIELDS:
        return isinstance(item, str) and len(item) >= 64 and _BASE64.fullmatch(item.rstrip()) is not None
    if key in ("data", "bytes", "file_data", "image_data"):
        has_type = any(isinstance(siblings.get(name), str) for name in MEDIA_TYPE_FIELDS)
        opaque = place.opaque and siblings.get("type") in ("redacted_thinking", "reasoning.encrypted")
        audio = isinstance(siblings.get("format"), str)
        return isinstance(item, str) and (
            opaque or ((has_type or audio) and _BASE64.fullmatch(item.rstrip()) is not None)
        )
    return False


def _carry_back(edits: Sequence[Edit], later: Sequence[Edit]) -> list[Edit]:
    """Turn edits of the text that ``edits`` made into edits of the text before; both are in order."""
    starts, ends, shifts = [], [], []
    shift = 0
    for edit in edits:
        starts.append(edit.start + shift)
        ends.append(edit.start + shift + len(edit.text))
        shift += len(edit.text) - (edit.end - edit.start)
        shifts.append(shift)
    carried = []
    for edit in later:
        # The last edit that began at or before the place; within it, the whole of what it replaced goes.
        first = bisect_right(starts, edit.start) - 1
        if first < 0:
            start = edit.start
        elif edit.start < ends[first]:
            start = edits[first].start
        else:
            start = edit.start - shifts[first]
        last = bisect_left(starts, edit.end) - 1
        if last < 0:
            end = edit.end
        elif edit.end <= ends[last]:
            end = edits[last].end
        else:
            end = edit.end - shifts[last]
        carried.append(Edit(start, end, edit.text, edit.source))
    return carried
