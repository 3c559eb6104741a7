"""A placeholder in a recorded text stands for the secret that was there.

The side that replays may no longer know the secret, so its text is whole where the recorded one has a hole.
"""

from __future__ import annotations

import re
from collections.abc import Iterable


def matches_with_holes(recorded: str, incoming: str, placeholder: str) -> bool:
    """Say whether ``incoming`` is ``recorded`` with each placeholder replaced by some non-empty text.

    The pieces between the holes are looked for from left to right, each at its first place: if any fit
    exists, that one does, so no place is looked at twice.
    """
    first, *middle = recorded.split(placeholder)
    if not middle:
        return recorded == incoming
    last = middle.pop()
    if not incoming.startswith(first):
        return False
    position = len(first)
    end = len(incoming) - len(last)
    for piece in middle:
        found = incoming.find(piece, position + 1, end)
        if found < 0:
            return False
        position = found + len(piece)
    return position < end and incoming.endswith(last)


def pair_keys(recorded_only: Iterable[str], incoming_only: Iterable[str], placeholder: str) -> dict[str, str]:
    """Pair keys with a hole with the keys they may stand for, each used once, both in sorted order."""
    numbered = re.compile(re.escape(placeholder) + r" #\d+")
    free = sorted(incoming_only)
    pairs: dict[str, str] = {}
    for key in sorted(recorded_only):
        if placeholder not in key:
            continue
        pattern = numbered.sub(placeholder, key)
        partner = next((other for other in free if matches_with_holes(pattern, other, placeholder)), None)
        if partner is not None:
            free.remove(partner)
            pairs[key] = partner
    return pairs
