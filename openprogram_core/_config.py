"""The configuration as a process reads it: once, at its start, and never changed by it.

`openprogram_core._config_update` writes it. A file that cannot be used is an error and never means ``off``.
"""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from openprogram_core._paths import HOME_VARIABLE, NO_FOLDER, config_path, what_is_no_folder
from openprogram_core.errors import ConfigurationError

if TYPE_CHECKING:
    from openprogram_core.providers.wrapping import Mode, Order

MODES: tuple[Mode, ...] = ("off", "record", "replay")
ORDERS: tuple[Order, ...] = ("ordered", "any-order")
KNOWN_KEYS = {"record_replay": ("mode", "file", "order"), "plugins": ("disabled",)}
MAX_BYTES = 1 << 20

RESTORE = (
    "Mend it, or run 'openprogram recordings off', which sets it aside under another name and starts afresh"
)


class Configuration(NamedTuple):
    """What ``config.toml`` says; without the file, the defaults.

    ``file`` is the recording of mode ``record`` or ``replay``, absolute, and None in mode ``off``. ``path``
    is the configuration file itself. ``unknown_keys`` are the keys nobody here knows, dotted.
    """

    mode: Mode
    file: Path | None
    order: Order
    disabled_plugins: frozenset[str]
    path: Path
    unknown_keys: tuple[str, ...] = ()


def read_configuration() -> Configuration:
    """Read the configuration from the state folder.

    Raises `ConfigurationError` for a file that cannot be read or used, with line and column where known.
    """
    try:
        path = config_path()
    except ConfigurationError as error:
        # Without a home there is no place where anything could have been switched on.
        return _defaults(error.path / "config.toml")
    text = read_configuration_text(path)
    return _defaults(path) if text is None else parse_configuration(text, path)


def _defaults(path: Path) -> Configuration:
    return Configuration("off", None, "ordered", frozenset(), path)


def read_configuration_text(path: Path) -> str | None:
    """Return the text of a configuration file, None when there is no such file.

    Symbolic links are not followed. Raises `ConfigurationError` for anything else than a readable text.
    """
    refuse_link(path.parent)
    refuse_link(path)
    try:
        # Non-blocking, because opening a pipe would wait for its other end.
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
    except (FileNotFoundError, NotADirectoryError):
        if os.environ.get(HOME_VARIABLE):
            # A folder that was asked for. A user whose home is /dev/null asked for none, and has nothing on.
            refuse_no_folder(path.parent)
        return None
    except OSError as error:
        raise ConfigurationError(
            path, f"it cannot be read: {error.strerror or type(error).__name__}. {RESTORE}"
        ) from error
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise ConfigurationError(path, f"it is not a regular file. {RESTORE}")
    with os.fdopen(descriptor, "rb") as file:
        try:
            data = file.read(MAX_BYTES + 1)
        except OSError as error:
            raise ConfigurationError(path, f"it cannot be read: {error.strerror}. {RESTORE}") from error
    if len(data) > MAX_BYTES:
        raise ConfigurationError(path, f"it is larger than {MAX_BYTES} bytes. {RESTORE}")
    try:
        return data.removeprefix(b"\xef\xbb\xbf").decode()
    except UnicodeDecodeError as error:
        before = error.object[: error.start]
        line, column = before.count(b"\n") + 1, error.start - before.rfind(b"\n")
        raise ConfigurationError(path, f"it is not UTF-8. {RESTORE}", line=line, column=column) from error


def refuse_no_folder(folder: Path) -> None:
    """Raise `ConfigurationError` when something that is no folder stands where ``folder`` has to be."""
    wrong = what_is_no_folder(folder)
    if wrong is not None:
        raise ConfigurationError(wrong, NO_FOLDER)


def refuse_link(path: Path) -> None:
    """Raise `ConfigurationError` when ``path`` itself is a symbolic link, wherever that leads."""
    if not path.is_symlink():
        return
    raise ConfigurationError(
        path,
        f"it is a symbolic link to {str(path.readlink())!r}, and links are not followed here. "
        "Replace it by what it leads to, or set OPENPROGRAM_HOME to a folder that is no link",
    )


def parse_configuration(text: str, path: Path) -> Configuration:
    """Return what ``text`` configures; ``path`` is where it came from.

    Raises `ConfigurationError` with line and column for bad TOML, with the line for a bad value.
    """
    import tomllib

    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        reason, line, column = _position(str(error), text)
        raise ConfigurationError(
            path, f"it is not TOML: {reason}. {RESTORE}", line=line, column=column
        ) from error
    except RecursionError as error:
        raise ConfigurationError(path, f"it is nested too deep. {RESTORE}") from error
    return _Reader(document, text, path).read()


def _position(message: str, text: str) -> tuple[str, int, int]:
    found = re.search(r" \(at line (\d+), column (\d+)\)$", message)
    if found:
        return message[: found.start()], int(found[1]), int(found[2])
    reason = message.removesuffix(" (at end of document)")
    return f"{reason} at the end", text.count("\n") + 1, len(text) - text.rfind("\n")


class _Reader:
    def __init__(self, document: dict[str, Any], text: str, path: Path) -> None:
        self._document = document
        self._text = text
        self._path = path

    def read(self) -> Configuration:
        mode: Mode = self._word("mode", MODES)
        order: Order = self._word("order", ORDERS)
        file = self._file(mode)
        return Configuration(mode, file, order, self._disabled(), self._path, self._unknown())

    def _table(self, name: str) -> dict[str, Any]:
        table = self._document.get(name, {})
        if not isinstance(table, dict):
            raise self._error(name, None, "must be a table")
        return table

    def _word(self, key: str, words: tuple[Any, ...]) -> Any:
        value = self._table("record_replay").get(key, words[0])
        if not isinstance(value, str) or value not in words:
            shown = f", not {value!r}" if isinstance(value, str) and len(value) <= 20 else ""
            raise self._error("record_replay", key, f"must be one of {', '.join(words)}{shown}")
        return value

    def _file(self, mode: Mode) -> Path | None:
        if mode == "off":
            return None
        value = self._table("record_replay").get("file")
        if value is None:
            raise self._error("record_replay", "file", f"is missing, and mode {mode} needs it")
        if not isinstance(value, str) or not value or "\0" in value:
            raise self._error("record_replay", "file", "must be a recording's file name or absolute path")
        from openprogram_core.recordings.store_names import check_recording_id

        if Path(value).is_absolute():
            if mode == "replay":
                return Path(value)
            raise self._error(
                "record_replay", "file", "must be the name of a managed recording in mode record, not a path"
            )
        reason = check_recording_id(value.removesuffix(".jsonl"))
        if reason is not None:
            raise self._error("record_replay", "file", f"names no managed recording: {reason}")
        return self._path.parent / "recordings" / f"{value.removesuffix('.jsonl')}.jsonl"

    def _disabled(self) -> frozenset[str]:
        names = self._table("plugins").get("disabled", [])
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            raise self._error("plugins", "disabled", "must be a list of plugin names")
        return frozenset(names)

    def _unknown(self) -> tuple[str, ...]:
        found = [name for name in self._document if name not in KNOWN_KEYS]
        for table, keys in KNOWN_KEYS.items():
            found += [f"{table}.{key}" for key in self._table(table) if key not in keys]
        return tuple(sorted(found))

    def _error(self, table: str, key: str | None, reason: str) -> ConfigurationError:
        name = table if key is None else f"{table}.{key}"
        return ConfigurationError(
            self._path, f"{name} {reason}. {RESTORE}", line=_line_of(self._text, table, key)
        )


def _line_of(text: str, table: str, key: str | None) -> int | None:
    # tomllib does not say where a value stood; this finds the usual spellings and gives up on others.
    current = ""
    heading: int | None = None
    for number, line in enumerate(text.split("\n"), start=1):
        stripped = line.strip()
        if stripped.startswith("["):
            current = stripped.strip("[]").split("#")[0].strip().rstrip("]").strip()
            if current == table:
                heading = number
        name = stripped.split("=")[0].strip().strip("\"'")
        if (current == table and name == key) or (current == "" and name in (table, f"{table}.{key}")):
            return number
    return heading
