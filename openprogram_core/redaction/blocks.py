"""Redaction of one streamed block: a text that comes in pieces, each written before the next is known.

It is written as it comes until something begins that may be a secret. From there on it is held back until
that is decided, and what turned out to be secret is left out of what is written then.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from openprogram_core.redaction.edits import (
    PLACEHOLDER,
    Edit,
    Source,
    apply_edits,
    merge_edits,
    to_characters,
)
from openprogram_core.redaction.finder import Finder, Hook
from openprogram_core.redaction.known import (
    KNOWN_VALUE,
    SHORTEST,
    SHORTEST_PIECE,
    KnownValues,
    known_edits,
)
from openprogram_core.redaction.scanner import Look, Scanner, StreamGate

CUT_OFF = Source("shape", "openprogram_core", "cut off by the end of the stream")

# Written text that is looked at again: a match may begin so many characters before its secret.
_CONTEXT = 640
# A name and what may stand between it and its value fit in here.
_ALERT = 192
_SHORT = 512


@dataclass(frozen=True)
class StreamRules:
    """What the blocks of one call share: the rules, their gate, what is known, the hooks."""

    scanner: Scanner
    gate: StreamGate
    known: KnownValues | None
    hook: Hook | None

    @property
    def holds_everything(self) -> bool:
        """Whether no piece may be written before the whole text is known."""
        return self.hook is not None or self.scanner.needs_whole_texts


class BlockRedactor:
    """The text of one block. ``json`` says that it is JSON text, where a name may come after its value."""

    def __init__(self, rules: StreamRules, *, json: bool) -> None:
        self._rules = rules
        self._json = json
        self._sealed = rules.holds_everything
        """Whether what is held stays so until the end."""
        self._pieces: list[str] = []
        self._written: list[str] = []
        self._exact = True
        """Whether everything written is as it came."""
        self._held: list[str] | None = [] if self._sealed else None
        """What came and is not written; None while nothing is held."""
        self._held_length = 0
        self._check_at = 0
        """How long the held text grows before it is looked at again."""
        self._context = ""
        """What came right before the held text."""
        self._near = b""
        """The last bytes, which the next piece may complete to a literal."""
        self._alert = 0
        """Characters still to look at closely after a literal; 0 when there was none lately."""

    @property
    def raw(self) -> str:
        """The text as it came."""
        return "".join(self._pieces)

    @property
    def written(self) -> str:
        """The text as it was written."""
        return "".join(self._written)

    def add(self, piece: str) -> str:
        """Take the next piece and return what to write now."""
        rules = self._rules
        self._pieces.append(piece)
        if self._held is None:
            data = self._near + piece.encode("utf-8", "surrogatepass")
            self._near = data[-rules.gate.reach :]
            if rules.gate.opens(data):
                self._alert = _ALERT
            elif not self._alert:
                self._written.append(piece)
                return piece
            self._alert = max(0, self._alert - len(piece))
            self._context = self._lately()
            self._held, self._held_length, self._check_at = [], 0, 0
            self._json = self._json or self._begins_as_json()
        self._held.append(piece)
        self._held_length += len(piece)
        if self._sealed or self._held_length < self._check_at:
            return self._write("")
        return self._write(self._release())

    def finish(self, path: str, *, cut: bool) -> str:
        """Return, redacted, what is still held. ``cut``: the stream broke off, perhaps within a secret."""
        if self._held is None:
            return ""
        rules = self._rules
        held = "".join(self._held)
        if self._exact:
            text = self.raw
            edits = Finder(rules.scanner, rules.known, rules.hook).text_edits(text, path)
        else:
            text = self._context + held
            edits = self._look(text, growing=False).edits
        before = len(text) - len(held)
        edits = _clip(merge_edits([*edits, *self._cut_off(text, cut)], text), before)
        self._held = None
        return self._write(apply_edits(held, edits))

    def _write(self, text: str) -> str:
        self._written.append(text)
        return text

    def _lately(self) -> str:
        """Return the text right before the newest piece."""
        found: list[str] = []
        length = 0
        for index in range(len(self._pieces) - 2, -1, -1):
            found.append(self._pieces[index])
            length += len(self._pieces[index])
            if length >= _CONTEXT:
                break
        return "".join(reversed(found))[-_CONTEXT:]

    def _begins_as_json(self) -> bool:
        first = next((piece.lstrip() for piece in self._pieces if piece and not piece.isspace()), "")
        return first[:1] in ("{", "[")

    def _release(self) -> str:
        """Return, redacted, what of the held text more text cannot change, and keep the rest."""
        before = len(self._context)
        text = self._context + "".join(self._held or ())
        look = self._look(text, growing=True)
        end = len(text) if look.open_from is None else max(before, look.open_from)
        if self._json and (look.edits or look.first_name is not None):
            # What a name in JSON means may only show later: {"value": ..., "name": "x-api-key"}.
            self._sealed = True
            starts = [edit.start for edit in look.edits[:1]]
            starts += [look.first_name] if look.first_name is not None else []
            end = max(before, min(end, *starts))
        for edit in reversed(look.edits):
            if edit.start < end < edit.end:
                end = max(before, edit.start)
        edits = _clip([edit for edit in look.edits if edit.end <= end], before)
        self._exact = self._exact and not edits
        rest = text[end:]
        self._held = [rest] if rest or self._sealed else None
        self._held_length = len(rest)
        # Looking again only after some growth keeps the sum linear.
        self._check_at = len(rest) + (len(rest) // 4 if len(rest) > _SHORT else 1)
        self._context = text[:end][-_CONTEXT:]
        if self._held is None:
            self._near = text[-self._rules.gate.reach :].encode("utf-8", "surrogatepass")
            self._near = self._near[-self._rules.gate.reach :]
        return apply_edits(text[before:end], edits)

    def _look(self, text: str, *, growing: bool) -> Look:
        scanner, known = self._rules.scanner, self._rules.known
        data = text.encode("utf-8", "surrogatepass")
        edits, open_from, first_name = scanner.look(text, data, scanner.hits(data), growing=growing)
        if known is not None:
            edits = [*edits, *known_edits(known, text, data)]
            cut = known.cut_short_from(data, SHORTEST_PIECE) if growing else None
            if cut is not None:
                place = to_characters(data, len(text), [(cut, cut)])[0][0]
                open_from = place if open_from is None else min(open_from, place)
        begun = _placeholder_begun(text) if growing else None
        if begun is not None:
            open_from = begun if open_from is None else min(open_from, begun)
        return Look(merge_edits(edits, text), open_from, first_name)

    def _cut_off(self, text: str, cut: bool) -> list[Edit]:
        """Remove the beginning of a secret with which the text ends."""
        scanner, known = self._rules.scanner, self._rules.known
        data = text.encode("utf-8", "surrogatepass")
        edits = []
        if known is not None:
            start = known.cut_short_from(data, SHORTEST_PIECE if cut else SHORTEST)
            if start is not None:
                place = to_characters(data, len(text), [(start, start)])[0][0]
                edits.append(Edit(place, len(text), PLACEHOLDER, KNOWN_VALUE))
        if cut:
            open_from = scanner.look(text, data, scanner.hits(data), growing=True).open_from
            if open_from is not None:
                edits.append(Edit(open_from, len(text), PLACEHOLDER, CUT_OFF))
        return edits


def _placeholder_begun(text: str) -> int | None:
    """Return where a placeholder begins that the end of ``text`` cuts off: half of one is no secret."""
    place = text.rfind(PLACEHOLDER[:2], -len(PLACEHOLDER))
    if place < 0 or place + len(PLACEHOLDER) <= len(text) or not PLACEHOLDER.startswith(text[place:]):
        return None
    return place


def _clip(edits: Sequence[Edit], before: int) -> list[Edit]:
    """Return the edits of what comes after ``before`` characters, counted from there."""
    return [
        edit._replace(start=max(0, edit.start - before), end=edit.end - before)
        for edit in edits
        if edit.end > before
    ]
