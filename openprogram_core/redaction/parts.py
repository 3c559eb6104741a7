"""Requests part by part: each message is redacted once, however often the history repeats it."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
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

MEMO_BYTES = 64 << 20
# A tree of small strings and dicts takes several times the bytes of its JSON.
_TREE_FACTOR = 6
_ENTRY_BYTES = 400


class Part(NamedTuple):
    """One part of a request: its JSON, where it stands, and how to get its tree."""

    data: bytes
    place: Place
    path: str
    tree: Callable[[], Any]


class RedactedPart:
    """What redaction made of a part: its JSON, the values it taught, and its tree when somebody asked."""

    __slots__ = ("data", "learned", "tree")

    def __init__(self, data: bytes, learned: tuple[str, ...]) -> None:
        self.data = data
        self.learned = learned
        self.tree: Any = None


class RedactedRequest:
    """The three payloads of a request, redacted: as JSON bytes, and as a tree for comparison."""

    def __init__(self, parts: Sequence[RedactedPart], load: Callable[[RedactedPart], Any]) -> None:
        self._parts = parts
        self._load = load

    def dump(self) -> bytes:
        """Return ``{"model":...,"context":...,"options":...}`` as compact JSON."""
        model, options, system_prompt, tools, *messages = [part.data for part in self._parts]
        return b"".join(
            (
                b'{"model":',
                model,
                b',"context":{"system_prompt":',
                system_prompt,
                b',"messages":[',
                b",".join(messages),
                b'],"tools":',
                tools,
                b'},"options":',
                options,
                b"}",
            )
        )

    def tree(self) -> dict[str, Any]:
        """Return the same as Python values. Parts are shared with other requests: do not change them."""
        model, options, system_prompt, tools, *messages = map(self._load, self._parts)
        return {
            "model": model,
            "context": {"system_prompt": system_prompt, "messages": messages, "tools": tools},
            "options": options,
        }


class PartRedactor:
    """Redacts parts and remembers the outcome by their JSON and the values known. Thread-safe.

    The JSON itself is the key: two parts that differ can never be taken for each other.
    """

    def __init__(self, scanner: Scanner, hook: Hook | None) -> None:
        self._scanner = scanner
        self._hook = hook
        self._memo: Memo[RedactedPart] = Memo(MEMO_BYTES)

    def redact(self, parts: Sequence[Part]) -> list[RedactedPart]:
        """Redact by rules alone; the outcomes say which secret values they hold."""
        return [self._redact(part, None, None) for part in parts]

    def redact_known(
        self, parts: Sequence[Part], before: Sequence[RedactedPart], known: KnownValues
    ) -> list[RedactedPart]:
        """Remove also the ``known`` values; ``before`` is what the rules alone made of the parts."""
        return [self._redact(part, known, first) for part, first in zip(parts, before, strict=True)]

    def load(self, part: RedactedPart) -> Any:
        """Return the tree of a part, parsed once."""
        if part.tree is None:
            part.tree = json.loads(part.data)
            # A memory of its own accounts for it, so that trees do not go beyond the limit either.
            self._memo.put((part.data, "tree"), part, _TREE_FACTOR * len(part.data))
        return part.tree

    def _redact(self, part: Part, known: KnownValues | None, before: RedactedPart | None) -> RedactedPart:
        path = part.path if self._hook is not None else ""
        key = (part.data, part.place.name, path, 0 if known is None else known.number)
        outcome = self._memo.get(key)
        if outcome is None:
            outcome = self._work(part, known, before)
            self._memo.put(key, outcome, _ENTRY_BYTES + len(part.data) + len(outcome.data))
        return outcome

    def _work(self, part: Part, known: KnownValues | None, before: RedactedPart | None) -> RedactedPart:
        if known is not None and before is not None and not known.stands_in(part.data):
            return before
        if known is None and self._hook is None and self._scanner.is_clean(part.data):
            return RedactedPart(part.data, ())
        finder = Finder(self._scanner, known, self._hook)
        tree = part.tree()
        change = finder.find(tree, part.place, part.path)
        data = part.data if change is None else dump_json(apply_change(tree, change))
        return RedactedPart(data, (*finder.learned, *finder.heard))


def request_parts(model: Model, context: Context, options: StreamOptions | None) -> list[Part]:
    """Cut a request into parts: model, options, system prompt, tools, and each message."""
    parts = [
        _model_part(model, MODEL, "model"),
        _value_part({}, OPTIONS, "options") if options is None else _model_part(options, OPTIONS, "options"),
        _value_part(context.system_prompt, TEXT, "context.system_prompt"),
        _tools_part(context),
    ]
    parts += [
        _model_part(message, MESSAGE, f"context.messages[{index}]")
        for index, message in enumerate(context.messages)
    ]
    return parts


def _model_part(model: BaseModel, place: Place, path: str) -> Part:
    return Part(dump_model(model), place, path, lambda: model.model_dump(mode="json"))


def _value_part(value: Any, place: Place, path: str) -> Part:
    return Part(dump_json(value), place, path, lambda: value)


def _tools_part(context: Context) -> Part:
    data = b"[" + b",".join(dump_model(tool) for tool in context.tools) + b"]"
    tools = context.tools
    return Part(data, TOOLS, "context.tools", lambda: [tool.model_dump(mode="json") for tool in tools])
