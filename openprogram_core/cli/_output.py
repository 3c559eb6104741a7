"""How commands speak: data on stdout, words on stderr, and nothing that could fool a terminal."""

from __future__ import annotations

import os
import sys
from typing import IO, Any, Literal

# Control characters, and those that reorder or hide text: what a terminal obeys instead of showing.
_UNPRINTABLE = (
    *((0x00, 0x1F), (0x7F, 0x9F), (0xAD, 0xAD), (0x61C, 0x61C), (0x180E, 0x180E), (0x200B, 0x200B)),
    *((0x200E, 0x200F), (0x2028, 0x202E), (0x2060, 0x206F), (0xFEFF, 0xFEFF), (0xFFF9, 0xFFFB)),
    *((0xD800, 0xDFFF), (0xE0000, 0xE007F)),
)
_escapes: dict[int, str] = {}

_STYLES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "cyan": "36"}
Style = Literal["bold", "dim", "red", "green", "yellow", "cyan"]


def printable(text: str, *, multiline: bool = False) -> str:
    """Return ``text`` with everything a terminal would obey instead of showing written as an escape.

    Line ends and tabs are escaped too, unless ``multiline``.
    """
    if not _escapes:
        for first, last in _UNPRINTABLE:
            _escapes.update((code, _escape(code)) for code in range(first, last + 1))
    if not multiline:
        return text.translate(_escapes)
    kept = {**_escapes, ord("\n"): "\n", ord("\t"): "\t"}
    return text.replace("\r\n", "\n").translate(kept)


def printable_json(text: str) -> str:
    """Return a JSON text of the same value in which nothing is left that a terminal would obey.

    What stdout cannot encode is escaped too.
    """
    if not text.isprintable():
        text = text.translate(_json_escapes())
    encoding = getattr(sys.stdout, "encoding", None) or "ascii"
    if text.isascii() or encoding.lower() in ("utf-8", "utf8"):
        return text
    import re

    return re.sub(r"[^\x00-\x7f]", lambda found: _json_escape(ord(found[0])), text)


_for_json: dict[int, str] = {}


def _json_escapes() -> dict[int, str]:
    if not _for_json:
        for first, last in _UNPRINTABLE:
            _for_json.update((code, _json_escape(code)) for code in range(first, last + 1))
    return _for_json


def _json_escape(code: int) -> str:
    if code < 0x10000:
        return f"\\u{code:04x}"
    code -= 0x10000
    return f"\\u{0xD800 + (code >> 10):04x}\\u{0xDC00 + (code & 0x3FF):04x}"


def _escape(code: int) -> str:
    named = {0x09: "\\t", 0x0A: "\\n", 0x0D: "\\r"}.get(code)
    if named is not None:
        return named
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def is_terminal(stream: IO[str] | None) -> bool:
    """Whether ``stream`` is a terminal; False for a closed one."""
    try:
        return stream is not None and stream.isatty()
    except ValueError:
        return False


def styled(text: str, *styles: Style, stream: IO[str] | None = None) -> str:
    """Return ``text`` in colour when ``stream`` (stdout by default) is a terminal that wants it."""
    target = sys.stdout if stream is None else stream
    if not is_terminal(target) or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return text
    return f"\x1b[{';'.join(_STYLES[style] for style in styles)}m{text}\x1b[0m"


def data(text: str = "") -> None:
    """Write a line of data to stdout. Foreign text in it has gone through `printable`."""
    if sys.stdout is not None:
        sys.stdout.write(text + "\n")


def emit_json(value: dict[str, Any]) -> None:
    """Write a JSON document to stdout, ASCII only, so that no terminal and no locale can spoil it."""
    import json

    data(json.dumps({"schema_version": 1, **value}, indent=2).replace("\x7f", "\\u007f"))


def say(text: str) -> None:
    """Write words to stderr. Foreign text in them has gone through `printable`."""
    if sys.stderr is not None:
        sys.stderr.write(text + "\n")


def warn(text: str) -> None:
    """Write a warning to stderr; whatever stands in ``text`` is made printable."""
    say(styled("warning: ", "yellow", stream=sys.stderr) + printable(text))


def complain(text: str) -> None:
    """Write an error to stderr; whatever stands in ``text`` is made printable."""
    say(styled("error: ", "red", "bold", stream=sys.stderr) + printable(text))


def format_size(size: int) -> str:
    """Return a number of bytes for people: ``812 B``, ``4.1 MB``."""
    if size < 1000:
        return f"{size} B"
    amount = float(size)
    for unit in ("kB", "MB", "GB", "TB"):
        amount /= 1000
        if amount < 999.95 or unit == "TB":
            break
    return f"{amount:.1f} {unit}"


def format_age(seconds: float) -> str:
    """Return a span of time for people, in its largest unit: ``12 s``, ``3 h``, ``45 d``."""
    for unit, length in (("d", 86400), ("h", 3600), ("min", 60)):
        if seconds >= length:
            return f"{int(seconds // length)} {unit}"
    return f"{int(max(seconds, 0))} s"


def count(number: int, noun: str) -> str:
    """Return ``1 call``, ``2 calls``."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
