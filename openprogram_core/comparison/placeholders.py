"""A placeholder in a recorded text stands for the secret that was there.

The side that replays may no longer know the secret, so its text is whole where the recorded one has a hole.
Only a credential of the request's own options can be unknown to it: what stands in the texts themselves is
removed on both sides alike. So a hole is as narrow as such a credential, and what stands beside it counts.

In a reply that came in pieces, the first characters of a secret may be on file before it was known for one:
the replaying side reads ``sk[secret removed]`` and says so in its next request, where the recorded one, made
from the live reply, has all of it removed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence

SHORTEST = 8
"""Characters of the shortest text a hole stands for: redaction looks for no shorter value elsewhere."""

LONGEST_BEGINNING = 32
"""Most characters of a secret that may stand before its placeholder."""

MOST_WAYS = 16
"""Most ways to deal the holes out over the placeholders of the incoming text; beyond it, nothing fits."""

_SPACE = re.compile(r"\s")


def nothing_begins(text: str) -> bool:
    """Say that no text is the beginning of a secret."""
    return False


def matches_with_holes(
    recorded: str, incoming: str, placeholder: str, begins_secret: Callable[[str], bool] = nothing_begins
) -> bool:
    """Say whether ``incoming`` is ``recorded`` with some placeholders replaced by what may have been there.

    Each placeholder of ``recorded`` stands for one placeholder, before which may stand what ``begins_secret``
    says of that it is the beginning of one, or for `SHORTEST` characters and more without whitespace and
    without a placeholder. In time proportional to the texts: False where too many ways to deal the holes out
    would have to be tried.
    """
    pieces = recorded.split(placeholder)
    texts = incoming.split(placeholder)
    spare = len(pieces) - len(texts)
    if spare < 0 or len(pieces) == 1:
        return recorded == incoming
    starts = {0}
    for place, text in enumerate(texts):
        # Each further text takes at least one piece, and all pieces are taken.
        most = place + spare
        last = place == len(texts) - 1
        tails = [0] if last else [0, *_beginnings(text, begins_secret)]
        ends = {end for start in starts for end in _ends(text, pieces, start, most, tails)}
        starts = {end + 1 for end in ends}
        if last:
            return len(pieces) in starts
        if not starts or len(starts) > MOST_WAYS:
            break
    return False


def _beginnings(text: str, begins_secret: Callable[[str], bool]) -> Iterator[int]:
    """Yield the lengths of the ends of ``text`` that may be the beginning of the secret removed after it."""
    for length in range(1, min(len(text), LONGEST_BEGINNING) + 1):
        if _SPACE.match(text, len(text) - length):
            return
        if begins_secret(text[len(text) - length :]):
            yield length


def _ends(text: str, pieces: Sequence[str], start: int, most: int, tails: Sequence[int]) -> Iterator[int]:
    """Yield each index, at most ``most``, up to which the pieces from ``start`` on make ``text``.

    It may have one of the ``tails`` more, so many characters long.
    Where the pieces may stand in several places, they are in one word, and the first place leaves the most
    room for the others: it alone is followed.
    """
    if not text.startswith(pieces[start]):
        return
    if len(text) - len(pieces[start]) in tails:
        yield start
    position, stop = len(pieces[start]), -1
    for index in range(start + 1, most + 1):
        piece = pieces[index]
        if stop < position:
            space = _SPACE.search(text, position)
            stop = space.start() if space is not None else len(text)
        least = position + SHORTEST
        if least > stop:
            return
        for tail in tails:
            end = len(text) - tail
            if least <= end - len(piece) <= stop and text.endswith(piece, 0, end):
                yield index
        space = _SPACE.search(piece)
        if space is not None:
            # The hole ends with the word it stands in, so there is one place.
            found = stop - space.start()
            if found < least or not text.startswith(piece, found):
                return
        else:
            found = text.find(piece, least, stop)
            if found < 0:
                return
        position = found + len(piece)


def pair_keys(
    recorded_only: Iterable[str],
    incoming_only: Iterable[str],
    placeholder: str,
    begins_secret: Callable[[str], bool] = nothing_begins,
) -> dict[str, str]:
    """Pair keys with a hole with the keys they may stand for, each used once, both in sorted order."""
    numbered = re.compile(re.escape(placeholder) + r" #\d+")
    free = sorted(incoming_only)
    pairs: dict[str, str] = {}
    for key in sorted(recorded_only):
        if placeholder not in key:
            continue
        pattern = numbered.sub(placeholder, key)
        partner = next(
            (other for other in free if matches_with_holes(pattern, other, placeholder, begins_secret)), None
        )
        if partner is not None:
            free.remove(partner)
            pairs[key] = partner
    return pairs
