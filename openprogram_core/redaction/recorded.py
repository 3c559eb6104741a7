"""A recording looked at again: with today's rules, and for the keys this environment holds."""

from __future__ import annotations

import base64
import json
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote

from openprogram_core.errors import RecordingFileError
from openprogram_core.redaction.explain import Finding, findings
from openprogram_core.redaction.finder import Finder
from openprogram_core.redaction.places import EVENT, OPEN, REQUEST, Place

if TYPE_CHECKING:
    from openprogram_core.redaction.redactor import Redactor

_KEY_LIKE = re.compile(
    r"(?:\A|_)(?:API_?KEY|KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|PASS|CREDENTIALS?|AUTH|DSN|COOKIE|JWT)\Z",
    re.IGNORECASE,
)
_SHORTEST = 8
_PLACES: dict[str, tuple[Place, str]] = {"request": (REQUEST, ""), "event": (EVENT, "event")}


class RecordedFinding(NamedTuple):
    """Something secret in a recording: its line (from 1), its call (None: no call's), and what it is."""

    line: int
    call_index: int | None
    finding: Finding


def environment_keys(environment: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the variables whose name says that they hold a key, with values of 8 characters and more."""
    variables = os.environ if environment is None else environment
    return {
        name: value
        for name, value in variables.items()
        if _KEY_LIKE.search(name) and len(value) >= _SHORTEST and not value.startswith(("/", "~", "./"))
    }


def why_no_recording(path: Path) -> str | None:
    """Return why a file is no recording, or None. Raises `RecordingFileError` when it cannot be read."""
    from openprogram_core.recordings.lines import open_regular
    from openprogram_core.recordings.store_scan import quick_look

    descriptor = open_regular(path)
    try:
        look = quick_look(descriptor)
    finally:
        os.close(descriptor)
    return None if look.growing else look.problem


def scan_recording(
    path: Path, redactor: Redactor, environment: Mapping[str, str] | None = None
) -> Iterator[RecordedFinding]:
    """Yield what today's rules, or a comparison with the environment's keys, find in a recording.

    ``environment`` is `os.environ` by default. Rows are read one at a time; the pieces of a streamed block
    are looked at joined, too. Raises `RecordingFileError` when the file cannot be read.
    """
    from openprogram_core.recordings.lines import open_regular, read_lines
    from openprogram_core.recordings.rows import MAX_ROW_BYTES

    scan = _Scan(redactor, environment_keys(environment))
    with os.fdopen(open_regular(path), "rb") as file:
        for number, (_, line) in enumerate(read_lines(file, MAX_ROW_BYTES), 1):
            if line is None:
                raise RecordingFileError(path, "the row is too long to be one", line_number=number)
            yield from scan.row(number, line)
    yield from scan.finish()


class _Scan:
    def __init__(self, redactor: Redactor, keys: Mapping[str, str]) -> None:
        self._redactor = redactor
        self._keys = {name: _forms(value) for name, value in keys.items()}
        self._blocks: dict[tuple[Any, Any], tuple[int, list[str]]] = {}

    def row(self, number: int, line: bytes) -> Iterator[RecordedFinding]:
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            row = None
        if not isinstance(row, dict):
            yield from self._look(number, None, line.decode("utf-8", "replace"), OPEN, "", line)
            return
        call_index = row.get("call_index")
        kind = row.get("type")
        place, path = _PLACES.get(str(kind), (OPEN, str(kind)))
        tree = row.get("event") if kind == "event" else row
        if kind == "request":
            tree = {name: row.get(name) for name in ("model", "context", "options")}
        elif kind == "header":
            tree = _plugins_as_texts(row)
        yield from self._look(number, call_index, tree, place, path, line)
        if kind == "event" and isinstance(tree, dict):
            yield from self._streamed(number, call_index, tree)
        elif kind == "call_end":
            yield from self.finish(call_index)

    def _streamed(self, number: int, call_index: Any, event: dict[str, Any]) -> Iterator[RecordedFinding]:
        key = (call_index, event.get("content_index"))
        delta = event.get("delta")
        if isinstance(delta, str):
            self._blocks.setdefault(key, (number, []))[1].append(delta)
        elif str(event.get("type")).endswith("_end"):
            yield from self._block(key)

    def finish(self, call_index: Any = None) -> Iterator[RecordedFinding]:
        """Look at the blocks that were never ended, of one call or of all."""
        for key in [key for key in self._blocks if call_index is None or key[0] == call_index]:
            yield from self._block(key)

    def _block(self, key: tuple[Any, Any]) -> Iterator[RecordedFinding]:
        number, pieces = self._blocks.pop(key, (0, []))
        if len(pieces) > 1:
            text = "".join(pieces)
            path = f"event.content[{key[1]}] joined"
            yield from self._look(number, key[0], text, OPEN, path, text.encode("utf-8", "surrogatepass"))

    def _look(
        self, number: int, call_index: Any, tree: Any, place: Place, path: str, data: bytes
    ) -> Iterator[RecordedFinding]:
        call = call_index if isinstance(call_index, int) else None
        redactor = self._redactor
        if redactor.hook is not None or not redactor.scanner.is_clean(data):
            change = Finder(redactor.scanner, None, redactor.hook).find(tree, place, path)
            for finding in findings(tree, change, path):
                yield RecordedFinding(number, call, finding)
        for name, forms in self._keys.items():
            if any(form in data for form in forms):
                found = Finding(path, 0, 0, "environment", "", name)
                yield RecordedFinding(number, call, found)


def _plugins_as_texts(header: dict[str, Any]) -> dict[str, Any]:
    # Its keys there are plugins and not fields: one called acme_secrets holds no secret.
    redaction = header.get("redaction")
    if not isinstance(redaction, dict) or not isinstance(redaction.get("plugins"), dict):
        return header
    texts = [f"{name} {version}" for name, version in redaction["plugins"].items()]
    return {**header, "redaction": {**redaction, "plugins": texts}}


def _forms(value: str) -> tuple[bytes, ...]:
    """Return a value as it is, JSON-escaped, URL-encoded, and inside base64 at each of the three alignments.

    Made here on its own, without the engine whose work it checks.
    """
    raw = value.encode("utf-8", "surrogatepass")
    forms = {
        raw,
        json.dumps(value)[1:-1].encode(),
        json.dumps(value, ensure_ascii=False)[1:-1].encode("utf-8", "surrogatepass"),
    }
    forms |= {quote(raw, safe="").encode(), quote(raw).encode()}
    for shift in range(3):
        usable = (shift + len(raw)) // 3 * 3
        encoded = base64.b64encode((b"\0" * shift + raw)[:usable])[4 if shift else 0 :]
        if len(encoded) >= _SHORTEST:
            forms |= {encoded, encoded.replace(b"+", b"-").replace(b"/", b"_")}
    return tuple(forms)
