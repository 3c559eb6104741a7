"""Requests part by part: each message is redacted once, however often the history repeats it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from openprogram_core._json import dump_json, dump_model
from openprogram_core.redaction.changes import apply_change
from openprogram_core.redaction.finder import Finder, Hook
from openprogram_core.redaction.known import KnownValues
from openprogram_core.redaction.memo import Memo
from openprogram_core.redaction.places import MESSAGE, MODEL, OPTIONS, TEXT, TOOLS, Place
from openprogram_core.redaction.scanner import Scanner

if TYPE_CHECKING:
    from pydantic import BaseModel

    from openprogram_core.providers.messages import Context, Model
    from openprogram_core.providers.options import StreamOptions

MEMO_BYTES = 48 << 20
# A tree of small strings and dicts takes several times the bytes of its JSON.
_TREE_FACTOR = 6


class _Outcome(NamedTuple):
    """What redaction made of a part: its JSON (None: as it was) and the values it taught."""

    data: bytes | None
    learned: tuple[str, ...]


class Part(NamedTuple):
    """One part of a request: its JSON, where it stands, and how to get its tree."""

    data: bytes
    digest: bytes
    place: Place
    path: str
    tree: Callable[[], Any]


class RedactedRequest:
    """The three payloads of a request, redacted: as JSON bytes, and as a tree for comparison."""

    def __init__(self, model: bytes, context: Sequence[bytes], options: bytes, engine: PartRedactor) -> None:
        self._model = model
        self._context = context
        self._options = options
        self._engine = engine

    def dump(self) -> bytes:
        """Return ``{"model":...,"context":...,"options":...}`` as compact JSON."""
        system_prompt, tools, *messages = self._context
        return b"".join(
            (
                b'{"model":',
                self._model,
                b',"context":{"system_prompt":',
                system_prompt,
                b',"messages":[',
                b",".join(messages),
                b'],"tools":',
                tools,
                b'},"options":',
                self._options,
                b"}",
            )
        )

    def tree(self) -> dict[str, Any]:
        """Return the same as Python values. Parts are shared with other requests: do not change them."""
        load = self._engine.load
        system_prompt, tools, *messages = self._context
        return {
            "model": load(self._model),
            "context": {
                "system_prompt": load(system_prompt),
                "messages": [load(message) for message in messages],
                "tools": load(tools),
            },
            "options": load(self._options),
        }


class PartRedactor:
    """Redacts parts and remembers the outcome by their JSON and the values known. Thread-safe."""

    def __init__(self, scanner: Scanner, hook: Hook | None) -> None:
        self._scanner = scanner
        self._hook = hook
        self._outcomes: Memo[_Outcome] = Memo(MEMO_BYTES)
        self._trees: Memo[Any] = Memo(MEMO_BYTES)

    def first_pass(self, parts: Iterable[Part]) -> tuple[list[bytes], list[str]]:
        """Redact by rules alone; returns the parts' JSON and the secret values they hold."""
        redacted = []
        learned: list[str] = []
        for part in parts:
            outcome = self._redact(part, None)
            redacted.append(part.data if outcome.data is None else outcome.data)
            learned += outcome.learned
        return redacted, learned

    def second_pass(self, parts: Sequence[Part], first: Sequence[bytes], known: KnownValues) -> list[bytes]:
        """Remove also the ``known`` values; ``first`` is what the first pass made of the parts."""
        redacted = []
        for part, before in zip(parts, first, strict=True):
            outcome = self._redact(part, known)
            redacted.append(before if outcome.data is None else outcome.data)
        return redacted

    def load(self, data: bytes) -> Any:
        """Parse JSON, the same data once."""
        if len(data) < 64:
            return json.loads(data)
        key = _digest(data)
        tree = self._trees.get(key)
        if tree is None:
            tree = json.loads(data)
            self._trees.put(key, tree, _TREE_FACTOR * len(data))
        return tree

    def _redact(self, part: Part, known: KnownValues | None) -> _Outcome:
        key = (part.digest, part.place.kind, part.path if self._hook else "", known.number if known else 0)
        outcome = self._outcomes.get(key)
        if outcome is None:
            outcome = self._work(part, known)
            self._outcomes.put(key, outcome, 256 + len(outcome.data or b""))
        return outcome

    def _work(self, part: Part, known: KnownValues | None) -> _Outcome:
        if known is not None:
            if not known.stands_in(part.data):
                return _Outcome(None, ())
        elif self._hook is None and self._scanner.is_clean(part.data):
            return _Outcome(None, ())
        finder = Finder(self._scanner, known, self._hook)
        tree = part.tree()
        change = finder.find(tree, part.place, part.path)
        data = None if change is None else dump_json(apply_change(tree, change))
        return _Outcome(data, tuple(finder.learned))


def request_parts(model: Model, context: Context, options: StreamOptions | None) -> list[Part]:
    """Cut a request into parts: model, options, system prompt, tools, and each message."""
    parts = [
        _model_part(model, MODEL, "model"),
        _model_part(options, OPTIONS, "options")
        if options is not None
        else _value_part({}, OPTIONS, "options"),
        _value_part(context.system_prompt, TEXT, "context.system_prompt"),
        _tools_part(context),
    ]
    parts += [
        _model_part(message, MESSAGE, f"context.messages[{index}]")
        for index, message in enumerate(context.messages)
    ]
    return parts


def _digest(data: bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=16).digest()


def _model_part(model: BaseModel, place: Place, path: str) -> Part:
    data = dump_model(model)
    return Part(data, _digest(data), place, path, lambda: model.model_dump(mode="json"))


def _value_part(value: Any, place: Place, path: str) -> Part:
    data = dump_json(value)
    return Part(data, _digest(data), place, path, lambda: value)


def _tools_part(context: Context) -> Part:
    data = b"[" + b",".join(dump_model(tool) for tool in context.tools) + b"]"
    return Part(
        data,
        _digest(data),
        TOOLS,
        "context.tools",
        lambda: [tool.model_dump(mode="json") for tool in context.tools],
    )
