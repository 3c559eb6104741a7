"""Changes the configuration file: one process at a time, whole or not at all, comments and unknown keys kept.

A running process keeps what it read at its start, so a change is for the next start.
"""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from openprogram_core._config import (
    RESTORE,
    Configuration,
    parse_configuration,
    read_configuration,
    read_configuration_text,
    refuse_link,
    refuse_no_folder,
)
from openprogram_core._paths import config_path
from openprogram_core.errors import ConfigurationError

if TYPE_CHECKING:
    from openprogram_core.providers.wrapping import Mode, Order

LOCK_TIMEOUT_S = 10.0
"""How long a change waits for another process's."""
POLL_S = 0.003
"""Short, because a process that changes one thing after the other leaves the lock for moments only."""


class SwitchedOff(NamedTuple):
    """What `switch_off` found and did.

    ``before`` is what was configured, None when the file could not be used; then ``broken`` says what was
    wrong with it, and it stands as ``set_aside``.
    """

    before: Configuration | None
    broken: ConfigurationError | None = None
    set_aside: Path | None = None


class _UnwritableError(ConfigurationError):
    """The configuration could not be written, whatever stands in it."""


class ConfigurationEditor:
    """The configuration under its lock. ``current`` is what stands in the file now."""

    def __init__(self, path: Path, text: str | None) -> None:
        self._path = path
        self._text = text or ""
        self.current: Configuration = parse_configuration(self._text, path)

    def write(
        self,
        *,
        mode: Mode | None = None,
        file: str | None = None,
        order: Order | None = None,
        disabled_plugins: Iterable[str] | None = None,
    ) -> Configuration:
        """Change what is given, leave the rest, and return what stands in the file then.

        ``file`` is a managed recording's file name or an absolute path; it goes when ``mode`` becomes
        ``off``. Raises `ConfigurationError`; the old file stands then.
        """
        changes: dict[str, dict[str, Any]] = {"record_replay": {}, "plugins": {}}
        if mode is not None:
            changes["record_replay"]["mode"] = mode
        if mode == "off":
            changes["record_replay"]["file"] = None
        elif file is not None:
            changes["record_replay"]["file"] = file
        if order is not None:
            changes["record_replay"]["order"] = order
        if disabled_plugins is not None:
            changes["plugins"]["disabled"] = sorted(set(disabled_plugins))
        text = _edited(self._text, changes, self._path)
        self.current = parse_configuration(text, self._path)
        if text != self._text:
            _replace(self._path, text)
            self._text = text
        return self.current


@contextlib.contextmanager
def edit_configuration() -> Iterator[ConfigurationEditor]:
    """Hold the configuration's lock, and give its editor.

    Raises `ConfigurationError` when the file cannot be used, the lock not be had within `LOCK_TIMEOUT_S`, or
    the state folder not be written.
    """
    path = config_path()
    with _locked(path):
        yield ConfigurationEditor(path, read_configuration_text(path))


def update_configuration(
    *,
    mode: Mode | None = None,
    file: str | None = None,
    order: Order | None = None,
    disabled_plugins: Iterable[str] | None = None,
) -> Configuration:
    """Change what is given for the next start, and return what is configured then.

    Arguments and errors are those of `ConfigurationEditor.write` and `edit_configuration`.
    """
    with edit_configuration() as editor:
        return editor.write(mode=mode, file=file, order=order, disabled_plugins=disabled_plugins)


def switch_off() -> SwitchedOff:
    """Set mode ``off`` for the next start, whatever stands in the file.

    A file that cannot be used is renamed, never lost, and a fresh one written. Raises `ConfigurationError`
    when the state folder cannot be written.
    """
    path = config_path()
    refuse_link(path.parent)
    if not os.path.lexists(path):
        return SwitchedOff(read_configuration())
    with _locked(path):
        try:
            editor = ConfigurationEditor(path, read_configuration_text(path))
            before = editor.current
            if before.mode != "off":
                editor.write(mode="off")
            return SwitchedOff(before)
        except _UnwritableError:
            raise
        except ConfigurationError as error:
            set_aside = _set_aside(path)
            _replace(path, '[record_replay]\nmode = "off"\n')
            return SwitchedOff(None, error, set_aside)


def _edited(text: str, changes: dict[str, dict[str, Any]], path: Path) -> str:
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    try:
        document: Any = tomlkit.parse(text)
        for name, values in changes.items():
            if name not in document and any(value is not None for value in values.values()):
                document[name] = tomlkit.table()
            for key, value in values.items():
                if value is not None:
                    document[name][key] = value
                elif name in document and key in document[name]:
                    del document[name][key]
        return tomlkit.dumps(document)
    except (TOMLKitError, RecursionError) as error:
        raise ConfigurationError(path, f"it cannot be edited: {error}. {RESTORE}") from error


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    from filelock import FileLock, Timeout

    from openprogram_core.recordings.store_folder import make_private_folders

    refuse_link(path.parent)
    refuse_no_folder(path.parent)
    lock_path = path.with_name(path.name + ".lock")
    refuse_link(lock_path)
    lock = FileLock(lock_path, timeout=LOCK_TIMEOUT_S, mode=0o600)
    try:
        make_private_folders(path.parent)
        lock.acquire(poll_interval=POLL_S)
    except Timeout as error:
        raise ConfigurationError(
            path, f"another process has held its lock for {LOCK_TIMEOUT_S:.0f} seconds. Try again"
        ) from error
    except (OSError, NotImplementedError) as error:
        raise _unwritable(path, error) from error
    try:
        yield
    finally:
        lock.release()


def _replace(path: Path, text: str) -> None:
    """Write a new file beside ``path``, sync it, and put it in place in one step."""
    # Whoever left one behind is gone: this process holds the lock.
    for stale in path.parent.glob(path.name + ".*.new"):
        with contextlib.suppress(OSError):
            stale.unlink()
    fresh = path.with_name(f"{path.name}.{os.urandom(8).hex()}.new")
    try:
        descriptor = os.open(
            fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0), 0o600
        )
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8", newline="") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            _put(fresh, path)
        except BaseException:
            with contextlib.suppress(OSError):
                fresh.unlink()
            raise
    except OSError as error:
        raise _unwritable(path, error) from error


def _put(fresh: Path, path: Path) -> None:
    for attempts_left in reversed(range(20)):
        try:
            fresh.replace(path)
            break
        except PermissionError:
            # On Windows a file that somebody reads at this moment cannot be replaced.
            if sys.platform != "win32" or not attempts_left:
                raise
            time.sleep(0.05)
    if os.name == "posix":
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def _set_aside(path: Path) -> Path:
    stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
    aside = path.with_name(f"{path.name}.broken-{stamp}")
    number = 1
    while os.path.lexists(aside):
        number += 1
        aside = path.with_name(f"{path.name}.broken-{stamp}-{number}")
    try:
        path.rename(aside)
    except OSError as error:
        raise _unwritable(path, error) from error
    return aside


def _unwritable(path: Path, error: Exception) -> _UnwritableError:
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return _UnwritableError(
        path,
        f"it cannot be changed: {reason}. Check the folder's owner and mode, or set OPENPROGRAM_HOME to "
        "another folder",
    )
