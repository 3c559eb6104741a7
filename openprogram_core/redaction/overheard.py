"""What a text gave away: the values that rules removed from it, to be removed wherever else they stand."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from urllib.parse import unquote

from openprogram_core.redaction.edits import PLACEHOLDER, Edit
from openprogram_core.redaction.values import is_code, is_stand_in, is_word

_SHORTEST = 8
_LONGEST = 512
_MOST = 64
# `username="u", response="abc"`, `Credential=x/y, Signature=z`, `a=1; sid=z`
_PAIR = re.compile(r"""[\w.-]+=(?:"([^"]*)"|([^\s",;]+))""")
_MASKED = re.compile(r"\*{3}|\.{3}|…|•{2}")
_NO_SECRETS = ("http://", "https://", "/", "./", "~")


def overheard(text: str, edits: Sequence[Edit]) -> Iterator[str]:
    """Yield what is worth knowing of what ``edits`` remove from ``text``: long enough, and no plain word."""
    found: dict[str, None] = {}
    for edit in edits[:_MOST]:
        if edit.source.kind not in ("field", "shape") or edit.text != PLACEHOLDER:
            continue
        if edit.end - edit.start > _LONGEST:
            continue
        value = text[edit.start : edit.end].strip()
        pairs = [quoted or bare for quoted, bare in _PAIR.findall(value)]
        for candidate in (value, *pairs):
            found[candidate] = None
            if "%" in candidate:
                found[unquote(candidate)] = None
    for candidate in found:
        if _is_telling(candidate):
            yield candidate


def _is_telling(value: str) -> bool:
    # A word, a blank or code in free text is what a rule took by mistake more often than a secret.
    if len(value) < _SHORTEST or PLACEHOLDER in value or any(map(str.isspace, value)):
        return False
    if value.startswith(_NO_SECRETS) or _MASKED.search(value) or is_word(value):
        return False
    return not (is_stand_in(value) or is_code(value)) and len(set(value)) > 3
