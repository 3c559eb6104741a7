"""Parts of examples, shaped like the real thing and put together only when the rules load."""

from __future__ import annotations

_LETTERS = "aB3dE6gH9jK2mN5pQ8rS1tU4vW7xY0zA"
_HEX = "0f1e2d3c4b5a69788796a5b4c3d2e1f0"
_UPPER = "A2B3C4D5E6F7G2H3J4K5L6M7N2P3Q4R5"


def body(length: int) -> str:
    """Return letters of both cases and digits."""
    return (_LETTERS * (length // len(_LETTERS) + 1))[:length]


def hexadecimal(length: int) -> str:
    """Return lower-case hexadecimal digits."""
    return (_HEX * (length // len(_HEX) + 1))[:length]


def upper(length: int) -> str:
    """Return upper-case letters and the digits of base 32."""
    return (_UPPER * (length // len(_UPPER) + 1))[:length]
