"""OpenRouter's ``reasoning_details``: thinking in pieces, with what must go back unchanged."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

_TEXTS = ("text", "summary")
_JOINED = ("text", "summary", "data")


class ReasoningDetails:
    """Joins the pieces of each detail by its index and type."""

    def __init__(self) -> None:
        self._details: dict[tuple[Any, Any], dict[str, Any]] = {}

    def add(self, pieces: Iterable[Any]) -> str:
        """Take pieces and return the text in them."""
        text = []
        for piece in pieces:
            if not isinstance(piece, dict):
                continue
            text += [piece[name] for name in _TEXTS if isinstance(piece.get(name), str)]
            key = (piece.get("index"), piece.get("type"))
            detail = self._details.setdefault(key, {})
            for name, value in piece.items():
                if name in _JOINED and isinstance(value, str) and isinstance(detail.get(name), str):
                    detail[name] += value
                elif value is not None or name not in detail:
                    detail[name] = value
        return "".join(text)

    def to_keep(self) -> bool:
        """Whether there is something no text can stand for: a signature or encrypted data."""
        return any(detail.get("signature") or detail.get("data") for detail in self._details.values())

    def take(self) -> list[dict[str, Any]]:
        """Return the joined details when they are to be kept, and begin anew."""
        details = list(self._details.values()) if self.to_keep() else []
        self._details = {}
        return details
