"""Holds a request against a recorded one, at the cost of what is new in it.

Each request of an agent's loop repeats the whole history. What stood in the lane's request before, at the
same place and in the same bytes, is neither parsed nor compared again.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

from openprogram_core.comparison import ComparisonPolicy, Difference, find_first_difference
from openprogram_core.recordings import RecordedCall

_decode = json.JSONDecoder().raw_decode


class _Piece(NamedTuple):
    """A part of a recorded request: its JSON text, and its value."""

    text: str
    value: Any


class _UnusualLineError(Exception):
    """The line is not laid out as the recorder writes it."""


class _Line:
    """Cuts a line into pieces, taking those that have not changed from the line before."""

    def __init__(self, text: str, position: int) -> None:
        self.text = text
        self.position = position

    def expect(self, literal: str) -> None:
        if not self.text.startswith(literal, self.position):
            raise _UnusualLineError
        self.position += len(literal)

    def piece(self, before: _Piece | None) -> _Piece:
        start = self.position
        if before is not None and self.text.startswith(before.text, start):
            end = start + len(before.text)
            if self.text[end : end + 1] in (",", "]", "}"):
                self.position = end
                return before
        value, self.position = _decode(self.text, start)
        return _Piece(self.text[start : self.position], value)


class RecordedRequests:
    """Parses the recorded requests of one lane; what two of them share is one object."""

    def __init__(self) -> None:
        self._fields: dict[str, _Piece] = {}
        self._messages: list[_Piece] = []

    def parse(self, call: RecordedCall) -> dict[str, Any]:
        """Return the call's request. Raises `RecordingFileError`."""
        try:
            return self._parse(call.request_line().decode())
        except (_UnusualLineError, ValueError, RecursionError):
            return call.request()

    def _parse(self, text: str) -> dict[str, Any]:
        # In a JSON string the quotes would be escaped: this is the key, and only `at` and `lane` precede it.
        line = _Line(text, text.find('"model":'))
        line.expect('"model":')
        fields = {"model": line.piece(self._fields.get("model"))}
        line.expect(',"context":{"system_prompt":')
        fields["system_prompt"] = line.piece(self._fields.get("system_prompt"))
        line.expect(',"messages":[')
        messages: list[_Piece] = []
        while not text.startswith("]", line.position):
            if messages:
                line.expect(",")
            place = len(messages)
            messages.append(line.piece(self._messages[place] if place < len(self._messages) else None))
        line.expect('],"tools":')
        fields["tools"] = line.piece(self._fields.get("tools"))
        line.expect('},"options":')
        fields["options"] = line.piece(self._fields.get("options"))
        if text[line.position :] != "}":
            raise _UnusualLineError
        self._fields, self._messages = fields, messages
        return {
            "model": fields["model"].value,
            "context": {
                "system_prompt": fields["system_prompt"].value,
                "messages": [message.value for message in messages],
                "tools": fields["tools"].value,
            },
            "options": fields["options"].value,
        }


class RequestChecker:
    """Compares the requests of one lane, one after the other. Not thread-safe."""

    def __init__(self, policy: ComparisonPolicy) -> None:
        self._policy = policy
        # Their order of asking is the whole request's; only a full comparison keeps it.
        self._without_hooks = replace(policy, hooks=())
        self._requests = RecordedRequests()
        self._equal: dict[str, tuple[Any, Any]] = {}

    def difference(self, call: RecordedCall, incoming: dict[str, Any]) -> Difference | None:
        """Return the first difference, None when the call answers ``incoming``."""
        recorded = self._requests.parse(call)
        if not _same_layout(recorded, incoming):
            return find_first_difference(recorded, incoming, policy=self._policy)
        first: Difference | None = None
        known: set[tuple[int, int]] = set()
        for path, one, other in _parts(recorded, incoming):
            difference = self._compared(path, one, other)
            if difference is None:
                known.add((id(one), id(other)))
            elif not self._policy.hooks:
                return difference
            else:
                first = difference
        if first is None:
            return None
        return find_first_difference(recorded, incoming, policy=self._policy, known_equal=known)

    def _compared(self, path: str, one: Any, other: Any) -> Difference | None:
        before = self._equal.get(path)
        if before is not None and before[0] is one and before[1] is other:
            return None
        difference = find_first_difference(one, other, path, policy=self._without_hooks)
        if difference is None:
            self._equal[path] = (one, other)
        return difference


def _same_layout(recorded: dict[str, Any], incoming: dict[str, Any]) -> bool:
    left, right = recorded["context"], incoming["context"]
    return (
        recorded.keys() == incoming.keys()
        and left.keys() == right.keys()
        and len(left["messages"]) == len(right["messages"])
    )


def _parts(recorded: dict[str, Any], incoming: dict[str, Any]) -> Iterator[tuple[str, Any, Any]]:
    """The pieces of two requests in the order in which a whole comparison comes by them."""
    left, right = recorded["context"], incoming["context"]
    for key in sorted(left):
        if key == "messages":
            for index, (one, other) in enumerate(zip(left[key], right[key], strict=True)):
                yield f"context.messages[{index}]", one, other
        else:
            yield f"context.{key}", left[key], right[key]
    for key in sorted(recorded):
        if key != "context":
            yield key, recorded[key], incoming[key]
