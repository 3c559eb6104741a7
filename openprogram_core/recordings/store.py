"""The managed recordings: making, finding and deleting them.

Each is ``<id>.jsonl`` in the recordings folder. Nothing is overwritten, no link followed, no name leads out
of the folder, and modes that are too wide are narrowed when they are met.
"""

from __future__ import annotations

import contextlib
import os
import time
from pathlib import Path
from typing import NamedTuple

from openprogram_core.errors import OpenProgramError, RecordingStoreError
from openprogram_core.recordings.locks import is_being_written
from openprogram_core.recordings.store_folder import RecordingsFolder, kind_problem, open_store
from openprogram_core.recordings.store_names import (
    check_recording_id,
    file_name,
    recording_id_of,
)


class Removable(NamedTuple):
    """A managed recording, its size in bytes, and ``reason``: why it stays, None when it may go."""

    recording_id: str
    size: int
    reason: str | None


def managed_ids() -> list[str]:
    """Return the ids of the managed recordings, sorted; none when the store cannot be read."""
    try:
        with open_store() as folder:
            names = folder.names() if folder is not None else []
    except (OpenProgramError, OSError):
        return []
    return [found for name in names if (found := recording_id_of(name)) is not None]


def create_recording(recording_id: str | None = None) -> Path:
    """Make a new managed recording that holds its header and nothing else; returns its path.

    Without an id one is made from the time. Raises `RecordingStoreError` when the id is malformed or taken,
    in whatever case, and `RecordingsFolderError` when the folder cannot be used.
    """
    chosen = recording_id if recording_id is not None else _new_id()
    reason = check_recording_id(chosen)
    if reason is not None:
        raise RecordingStoreError(chosen, reason)
    with open_store(create=True) as folder:
        assert folder is not None
        try:
            taken = {name.lower(): name for name in folder.names()}
            if file_name(chosen).lower() in taken:
                raise FileExistsError
            folder.create(file_name(chosen), _header(chosen))
        except FileExistsError:
            raise RecordingStoreError(
                chosen,
                "there is one of this name, in whatever case, and recordings are never overwritten. "
                "Choose another name",
            ) from None
        except OSError as error:
            raise RecordingStoreError(chosen, f"it cannot be written: {error.strerror}") from error
        return folder.path / file_name(chosen)


def discard_recording(path: Path) -> None:
    """Take back `create_recording`, when what was to follow failed. Never raises."""
    with contextlib.suppress(OpenProgramError, OSError), open_store() as folder:
        if folder is not None:
            folder.unlink(path.name)


def _new_id() -> str:
    return f"{time.strftime('%Y%m%dT%H%M%SZ', time.gmtime())}-{os.urandom(3).hex()}"


def _header(recording_id: str) -> bytes:
    from openprogram_core import __version__
    from openprogram_core.recordings.rows import header_row

    return header_row(
        recording_id=recording_id,
        created_at=time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        generator=f"openprogram-core {__version__}",
        redaction={},
    )


def delete_recording(recording_id: str, active: Path | None) -> None:
    """Delete a managed recording; arguments and errors are those of `require_deletable`.

    Hold the configuration's lock meanwhile, so that nobody makes it the active one.
    """
    with open_store() as folder:
        found = _deletable(folder, recording_id, active)
        try:
            found.unlink(file_name(recording_id))
        except OSError as error:
            raise RecordingStoreError(recording_id, f"it cannot be deleted: {error.strerror}") from error


def require_deletable(recording_id: str, active: Path | None) -> None:
    """Make sure that a managed recording is there and may be deleted.

    ``active`` is the file the configuration names, which is never deleted. Raises `RecordingStoreError` when
    there is none of that id, or it is active, being written, a link or no file; `RecordingsFolderError` when
    the folder cannot be used.
    """
    with open_store() as folder:
        _deletable(folder, recording_id, active)


def _deletable(folder: RecordingsFolder | None, recording_id: str, active: Path | None) -> RecordingsFolder:
    reason = check_recording_id(recording_id)
    if reason is not None:
        raise RecordingStoreError(recording_id, reason)
    known = None if folder is None else _stat_or_none(folder, file_name(recording_id))
    if folder is None or known is None:
        raise RecordingStoreError(
            recording_id, "there is no such recording. 'openprogram recordings list' lists them"
        )
    reason = _why_it_stays(folder, recording_id, known, active)
    if reason is not None:
        raise RecordingStoreError(recording_id, reason)
    return folder


def removable_recordings(older_than_s: float, active: Path | None) -> list[Removable]:
    """Return the managed recordings last written more than ``older_than_s`` seconds ago, by name.

    Those that are active, being written, links or no files are among them, each with the reason why it stays.
    Raises `RecordingsFolderError`.
    """
    latest = time.time() - older_than_s
    found: list[Removable] = []
    with open_store() as folder:
        if folder is None:
            return []
        for name in folder.names():
            recording_id = recording_id_of(name)
            known = None if recording_id is None else _stat_or_none(folder, name)
            if recording_id is None or known is None or not known.st_mtime <= latest:
                continue
            reason = _why_it_stays(folder, recording_id, known, active)
            found.append(Removable(recording_id, known.st_size, reason))
    return found


def _stat_or_none(folder: RecordingsFolder, name: str) -> os.stat_result | None:
    try:
        return folder.stat(name)
    except FileNotFoundError:
        return None


def _why_it_stays(
    folder: RecordingsFolder, recording_id: str, known: os.stat_result, active: Path | None
) -> str | None:
    problem = kind_problem(known)
    if problem is not None:
        return f"{problem}. Remove it yourself: {folder.path / file_name(recording_id)}"
    if active is not None and _is_same(known, active):
        return "it is the active recording. Run 'openprogram recordings off' first"
    if is_being_written(folder.path / file_name(recording_id)):
        return "a process is writing it at this moment. Stop that process first"
    return None


def _is_same(known: os.stat_result, path: Path) -> bool:
    # By identity: on a file system without case another spelling names the same file.
    try:
        other = path.stat()
    except OSError:
        return False
    return (known.st_dev, known.st_ino) == (other.st_dev, other.st_ino)
