"""Who is writing a managed recording at this moment, so that nobody deletes it meanwhile.

A writer holds a shared lock on ``<id>.writing`` beside the recording as long as it has it open. The recording
itself cannot serve: its lock is taken anew for each row. Windows needs none of this, since a file that is
open there cannot be deleted.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from pathlib import Path

from openprogram_core._paths import recordings_dir
from openprogram_core.errors import OpenProgramError
from openprogram_core.recordings.store_folder import RecordingsFolder
from openprogram_core.recordings.store_names import recording_id_of

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]  # the module is absent there, and every use asks first

SUFFIX = ".writing"
_FLAGS = os.O_RDWR | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)


def announce_writer(path: Path) -> Callable[[], None]:
    """Say that this process writes the recording ``path``, until the returned function is called.

    Only managed recordings are announced; for others, and where it cannot be done, nothing happens. Never
    raises: a recording must not fail because nobody can be told of it.
    """
    if fcntl is None or not _is_managed(path):
        return _nothing
    marker = path.with_name(f"{path.stem}{SUFFIX}")
    try:
        descriptor = _lock_shared(marker)
    except OSError:
        return _nothing
    done = False

    def withdraw() -> None:
        nonlocal done
        if done:
            return
        done = True
        with contextlib.suppress(OSError):
            # Alone, it takes the marker away; otherwise the last writer does.
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            marker.unlink()
        with contextlib.suppress(OSError):
            os.close(descriptor)

    return withdraw


def is_being_written(folder: RecordingsFolder, recording_id: str) -> bool:
    """Whether a process has announced that it writes a recording. A marker left behind is removed."""
    if fcntl is None:
        return False
    marker = recording_id + SUFFIX
    try:
        descriptor = folder.open_marker(marker)
    except FileNotFoundError:
        return False
    except OSError:
        return True
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return True
    else:
        with contextlib.suppress(OSError):
            folder.unlink(marker)
        return False
    finally:
        os.close(descriptor)


def _lock_shared(marker: Path) -> int:
    while True:
        descriptor = os.open(marker, _FLAGS | os.O_CREAT, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_SH)
            # Removed by its last writer between opening and locking: nobody would see the lock.
            if os.fstat(descriptor).st_nlink:
                return descriptor
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)


def _is_managed(path: Path) -> bool:
    try:
        root = recordings_dir()
    except OpenProgramError:
        return False
    return recording_id_of(path.name) is not None and path.parent == root


def _nothing() -> None:
    """There is nothing to withdraw."""
