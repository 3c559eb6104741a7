"""Bytes of scripted responses: server-sent events, and ways of cutting them into writes."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

Cut = Callable[[bytes], Iterable[bytes]]
"""Cuts a body into the pieces it is written in. The pieces join to the body."""


def sse(
    *payloads: Any,
    end: str | None = None,
    newline: str = "\n",
    named: bool = False,
    indent: int | None = None,
) -> bytes:
    """Return payloads as server-sent events.

    ``end`` is the data of a last event (``"[DONE]"``), ``newline`` the line end, ``named`` adds ``event:``
    lines with the payload's ``type``. A payload that is ``bytes`` goes in as it is. With ``indent`` its
    JSON stands on several ``data:`` lines.
    """
    parts: list[bytes] = []
    for payload in payloads:
        if isinstance(payload, bytes):
            parts.append(payload)
            continue
        text = payload if isinstance(payload, str) else json.dumps(payload, ensure_ascii=False, indent=indent)
        name = f"event: {payload['type']}{newline}" if named and "type" in payload else ""
        data = "".join(f"data: {line}{newline}" for line in text.split("\n"))
        parts.append(f"{name}{data}{newline}".encode())
    if end:
        parts.append(f"data: {end}{newline}{newline}".encode())
    return b"".join(parts)


def whole(body: bytes) -> Iterator[bytes]:
    """Write everything at once."""
    yield body


def bytewise(body: bytes) -> Iterator[bytes]:
    """Write one byte at a time, so every character and every line is cut."""
    for index in range(len(body)):
        yield body[index : index + 1]


def by_lines(body: bytes) -> Iterator[bytes]:
    """Write one line at a time, with its end."""
    yield from body.splitlines(keepends=True)


def inside_lines(body: bytes) -> Iterator[bytes]:
    """Cut each line in its middle, so that a write ends one line and begins the next."""
    yield from _at(body, _middles(body))


def inside_characters(body: bytes) -> Iterator[bytes]:
    """Cut behind the first byte of every character beyond ASCII, and between ``\\r`` and ``\\n``."""
    places = [index + 1 for index, byte in enumerate(body) if byte >= 0xC0 or byte == 0x0D]
    yield from _at(body, places)


def pieces_of(size: int) -> Cut:
    """Return a cut into pieces of ``size`` bytes."""
    return lambda body: (body[start : start + size] for start in range(0, len(body), size))


def at_random(seed: int) -> Cut:
    """Return a cut at random places, the same for the same seed."""

    def cut(body: bytes) -> Iterator[bytes]:
        chance = random.Random(seed)
        count = min(len(body), 1 + len(body) // 40)
        yield from _at(body, sorted(chance.sample(range(len(body)), count)))

    return cut


CUTS: dict[str, Cut] = {
    "whole": whole,
    "bytewise": bytewise,
    "by-lines": by_lines,
    "inside-lines": inside_lines,
    "inside-characters": inside_characters,
    "sevens": pieces_of(7),
    "random": at_random(20),
}
"""Ways to cut for tests that run them all."""


def _middles(body: bytes) -> Iterator[int]:
    start = 0
    for line in body.splitlines(keepends=True):
        yield start + len(line) // 2
        start += len(line)


def _at(body: bytes, places: Iterable[int] | Sequence[int]) -> Iterator[bytes]:
    start = 0
    for place in places:
        if place > start:
            yield body[start:place]
            start = place
    if start < len(body):
        yield body[start:]
