"""The folder of the managed recordings, held open, so that what was checked is what is used.

On POSIX every file is reached through the folder's descriptor, without following links. Windows has no such
calls; there paths are checked before they are used.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any

from openprogram_core._paths import NO_FOLDER, recordings_dir, what_is_no_folder
from openprogram_core.errors import RecordingsFolderError

POSIX = os.name == "posix"
_NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
_BINARY = getattr(os, "O_BINARY", 0)
FOLDER_MODE = 0o700
FILE_MODE = 0o600


class RecordingsFolder:
    """The open folder. Its methods take plain file names and raise `OSError`.

    ``repairs`` says, in words, which modes were narrowed.
    """

    def __init__(self, path: Path, descriptor: int | None) -> None:
        self.path = path
        self.repairs: list[str] = []
        self._descriptor = descriptor

    def __enter__(self) -> RecordingsFolder:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def names(self) -> list[str]:
        """The names in the folder, sorted."""
        place = self.path if self._descriptor is None else self._descriptor
        return sorted(os.listdir(place))  # noqa: PTH208 (a Path cannot list a descriptor)

    def stat(self, name: str) -> os.stat_result:
        """Describe a file; a link is described, not followed."""
        path, place = self._at(name)
        return os.stat(path, follow_symlinks=False, **place)  # noqa: PTH116 (a Path takes no dir_fd)

    def open(self, name: str) -> int:
        """Open a regular file for reading and return its descriptor; a mode that is too wide is narrowed.

        Raises `OSError`: ELOOP for a link, EINVAL for what is no file.
        """
        path, place = self._at(name)
        if not POSIX and stat.S_ISLNK(self.stat(name).st_mode):
            raise OSError(errno.ELOOP, "it is a symbolic link")
        flags = os.O_RDONLY | _NO_FOLLOW | _BINARY | getattr(os, "O_NONBLOCK", 0)
        descriptor = os.open(path, flags, **place)
        try:
            found = os.fstat(descriptor)
            if not stat.S_ISREG(found.st_mode):
                raise OSError(errno.EINVAL, "it is not a regular file")
            self._narrow(name, descriptor, found.st_mode, FILE_MODE)
        except BaseException:
            os.close(descriptor)
            raise
        return descriptor

    def create(self, name: str, content: bytes) -> None:
        """Create a file with mode 0600 and its content, synced to disk; nothing is left when that fails.

        Raises `FileExistsError` when anything has the name, be it a dangling link.
        """
        path, place = self._at(name)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NO_FOLLOW | _BINARY
        descriptor = os.open(path, flags, FILE_MODE, **place)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
        except BaseException:
            self.unlink(name)
            raise
        if self._descriptor is not None:
            os.fsync(self._descriptor)

    def unlink(self, name: str) -> None:
        """Remove a name."""
        path, place = self._at(name)
        os.unlink(path, **place)

    def _at(self, name: str) -> tuple[str | Path, dict[str, Any]]:
        if self._descriptor is None:
            return self.path / name, {}
        return name, {"dir_fd": self._descriptor}

    def _narrow(self, name: str, descriptor: int, mode: int, wanted: int) -> None:
        mode = stat.S_IMODE(mode)
        if not POSIX or mode & ~wanted == 0:
            return
        shown = str(self.path / name) if name else str(self.path)
        try:
            os.fchmod(descriptor, mode & wanted)
        except OSError as error:
            self.repairs.append(
                f"{shown} has the mode {mode:04o}, wider than {wanted:04o}, and that cannot be changed: "
                f"{error.strerror}"
            )
        else:
            self.repairs.append(f"narrowed the mode of {shown} from {mode:04o} to {mode & wanted:04o}")

    def check_folder(self) -> None:
        """Refuse another user's folder, and narrow the folder's own mode where it is too wide."""
        if self._descriptor is None:
            return
        found = os.fstat(self._descriptor)
        me = os.geteuid()
        if found.st_uid not in (me, 0) and me != 0:
            raise RecordingsFolderError(
                self.path, "it belongs to another user. Set OPENPROGRAM_HOME to a folder of your own"
            )
        self._narrow("", self._descriptor, found.st_mode, FOLDER_MODE)


def open_folder(path: Path, *, create: bool = False) -> RecordingsFolder | None:
    """Open the recordings folder ``path``; None when there is none and ``create`` is not set.

    Raises `RecordingsFolderError` when it, or the state folder around it, is a link, is no folder, belongs to
    somebody else, or cannot be opened or made.
    """
    for checked in (path.parent, path):
        if checked.is_symlink():
            raise RecordingsFolderError(
                checked,
                f"it is a symbolic link to {str(checked.readlink())!r}, and links are not followed here. "
                "Replace it by what it leads to, or set OPENPROGRAM_HOME to a folder that is no link",
            )
    try:
        if create:
            make_private_folders(path)
        descriptor = None
        if POSIX:
            descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | _NO_FOLLOW)
        elif not path.is_dir():
            path.stat()
            raise NotADirectoryError(errno.ENOTDIR, "Not a directory")
    except OSError as error:
        wrong = what_is_no_folder(path)
        if wrong is not None:
            raise RecordingsFolderError(wrong, NO_FOLDER) from error
        if isinstance(error, FileNotFoundError) and not create:
            return None
        raise RecordingsFolderError(path, _reason(error)) from error
    folder = RecordingsFolder(path, descriptor)
    try:
        folder.check_folder()
    except BaseException:
        folder.__exit__(None, None, None)
        raise
    return folder


def make_private_folders(path: Path) -> None:
    """Make ``path`` and what is missing above it, with mode 0700. Raises `OSError`."""
    missing = []
    at = path
    while not at.exists() and not at.is_symlink():
        missing.append(at)
        at = at.parent
    for folder in reversed(missing):
        folder.mkdir(FOLDER_MODE, exist_ok=True)


def _reason(error: OSError) -> str:
    return f"the folder cannot be used: {error.strerror or type(error).__name__}. Check its owner and mode"


def kind_problem(known: os.stat_result) -> str | None:
    """Return why what ``os.stat`` says of a file is none of a recording, or None."""
    if stat.S_ISLNK(known.st_mode):
        return "it is a symbolic link, and links are not followed"
    return None if stat.S_ISREG(known.st_mode) else "it is not a regular file"


@contextmanager
def open_store(*, create: bool = False) -> Iterator[RecordingsFolder | None]:
    """Open the store's own folder for a block; None and errors as with `open_folder`."""
    folder = open_folder(recordings_dir(), create=create)
    if folder is None:
        yield None
        return
    with folder:
        yield folder
