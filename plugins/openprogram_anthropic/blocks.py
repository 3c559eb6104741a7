"""Content blocks that are kept whole, without knowing what they are."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from openprogram_core.providers import parse_arguments
from openprogram_core.providers.adapter import list_in, text_in


class OpaqueBlock:
    """A content block as it grows by its deltas, whatever its type.

    Arguments come as pieces of JSON, citations one by one; in any other delta a string lengthens the field of
    its name, a list too, and everything else replaces it.
    """

    def __init__(self, start: Mapping[str, Any]) -> None:
        self._block = dict(start)
        self._input: list[str] = []

    def add(self, delta: Mapping[str, Any]) -> None:
        """Add one delta."""
        block = self._block
        match delta.get("type"):
            case "input_json_delta":
                self._input.append(text_in(delta, "partial_json"))
            case "citations_delta":
                block["citations"] = [*list_in(block, "citations"), delta.get("citation")]
            case _:
                block.update(
                    {name: _grown(block.get(name), value) for name, value in delta.items() if name != "type"}
                )

    def whole(self) -> dict[str, Any]:
        """Return the block so far. Arguments that are no JSON object stay the text they are."""
        text = "".join(self._input)
        if text:
            arguments = parse_arguments(text)
            self._block["input"] = text if arguments is None else arguments
        return self._block


def fields_beside(value: Mapping[str, Any], known: Collection[str]) -> dict[str, Any]:
    """Return the fields of ``value`` that are not ``known`` and say something."""
    return {name: item for name, item in value.items() if name not in known and item is not None}


def _grown(before: Any, value: Any) -> Any:
    if isinstance(before, str) and isinstance(value, str):
        return before + value
    if isinstance(before, list) and isinstance(value, list):
        return before + value
    return before if value is None else value
