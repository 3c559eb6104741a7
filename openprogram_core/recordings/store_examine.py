"""What stands in the store, file by file, as far as a quick look can tell."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from openprogram_core._paths import recordings_dir
from openprogram_core.errors import OpenProgramError, RecordingFileError, RecordingStoreError
from openprogram_core.recordings.lines import open_regular
from openprogram_core.recordings.locks import is_being_written
from openprogram_core.recordings.store_folder import RecordingsFolder, kind_problem, open_store
from openprogram_core.recordings.store_names import SUFFIX, check_recording_id, recording_id_of
from openprogram_core.recordings.store_scan import QuickLook, quick_look


class StoredRecording(NamedTuple):
    """One file of the store.

    ``recording_id`` is None when the file's name is none a recording may have. ``size`` is in bytes,
    ``modified`` in seconds since 1970, None when there is no file. ``problem`` says what is wrong, None when
    a quick look finds nothing; ``look`` is that look, None when the file could not be opened. ``writing``: a
    process writes it at this moment, in which case a row cut short and a call without end are no problem.
    """

    name: str
    recording_id: str | None
    path: Path
    size: int
    modified: float | None
    look: QuickLook | None
    problem: str | None
    writing: bool


def list_recordings(
    progress: Callable[[int], None] | None = None,
) -> tuple[list[StoredRecording], list[str]]:
    """Look quickly at every managed recording; returns them by name, and in words which modes were narrowed.

    A file that is broken is in the list with its problem. ``progress`` is told how many bytes were read.
    Raises `RecordingsFolderError`.
    """
    found: list[StoredRecording] = []
    with open_store() as folder:
        if folder is None:
            return [], []
        done = 0
        for name in folder.names():
            if not name.endswith(SUFFIX):
                continue
            recording = _examine(folder, name, _further(progress or _ignore, done))
            if recording is not None:
                done += recording.size
                found.append(recording)
        return found, folder.repairs


def _further(progress: Callable[[int], None], base: int) -> Callable[[int], None]:
    return lambda done: progress(base + done)


def stored_bytes() -> int:
    """Return the size of all managed recordings together, 0 when that cannot be known."""
    try:
        with open_store() as folder:
            if folder is None:
                return 0
            return sum(folder.stat(name).st_size for name in folder.names() if name.endswith(SUFFIX))
    except (OpenProgramError, OSError):
        return 0


def examine_recording(path: Path) -> tuple[StoredRecording, list[str]]:
    """Look quickly at one recording, managed or not, there or not; like `list_recordings`.

    Raises `RecordingsFolderError` for a managed one whose folder cannot be used.
    """
    if path.parent == recordings_dir():
        with open_store() as folder:
            found = None if folder is None else _examine(folder, path.name, _ignore)
            repairs = [] if folder is None else folder.repairs
        return found or _missing(path), repairs
    missing = _missing(path)._replace(recording_id=None)
    try:
        descriptor = open_regular(path)
    except RecordingFileError as error:
        return missing._replace(problem=error.reason), []
    try:
        look = quick_look(descriptor)
        modified = os.fstat(descriptor).st_mtime
    except OSError as error:
        return missing._replace(problem=f"cannot be read: {error.strerror}"), []
    finally:
        os.close(descriptor)
    writing = is_being_written(path)
    problem = None if writing and look.growing else look.problem
    return StoredRecording(path.name, None, path, look.size, modified, look, problem, writing), []


def require_recording(path: Path) -> list[str]:
    """Make sure that a recording is there and may be read; returns in words which modes were narrowed.

    Outside the store any file will do, wherever links lead; what is in it is not looked at. Raises
    `RecordingStoreError` for a managed one that is missing, a link or no file, `RecordingFileError` for
    another that is missing, and `RecordingsFolderError`.
    """
    recording_id = recording_id_of(path.name)
    if path.parent != recordings_dir() or recording_id is None:
        if not path.exists():
            raise RecordingFileError(path, f"there is no such file.{_hint(recording_id)}")
        return []
    with open_store() as folder:
        try:
            problem = None if folder is None else kind_problem(folder.stat(path.name))
        except FileNotFoundError:
            folder = None
        if folder is None:
            raise RecordingStoreError(
                recording_id, "there is no such recording. 'openprogram recordings list' lists them"
            )
        if problem is not None:
            raise RecordingStoreError(recording_id, f"{problem}. To read what it leads to, give that path")
        try:
            os.close(folder.open(path.name))
        except OSError as error:
            raise RecordingStoreError(recording_id, f"it cannot be read: {error.strerror}") from error
        return folder.repairs


def guard_configured(path: Path) -> list[str]:
    """Make sure that nobody put a link in the way of the configured recording, which need not be there yet.

    Returns in words which modes were narrowed. Raises like `require_recording`, but for what is missing.
    """
    recording_id = recording_id_of(path.name)
    if path.parent != recordings_dir() or recording_id is None:
        return []
    with open_store() as folder:
        if folder is None:
            return []
        try:
            problem = kind_problem(folder.stat(path.name))
            if problem is None:
                os.close(folder.open(path.name))
        except FileNotFoundError:
            return folder.repairs
        except OSError as error:
            problem = f"it cannot be used: {error.strerror}"
        if problem is not None:
            raise RecordingStoreError(recording_id, problem)
        return folder.repairs


def _hint(recording_id: str | None) -> str:
    if recording_id is None or not (recordings_dir() / (recording_id + SUFFIX)).is_file():
        return " Give a path, or the id of a managed recording: 'openprogram recordings list' lists them"
    return f" There is a managed recording of that name: give its id, {recording_id}"


def _missing(path: Path) -> StoredRecording:
    return StoredRecording(
        path.name, recording_id_of(path.name), path, 0, None, None, "there is no such file", False
    )


def _ignore(done: int) -> None:
    """Nobody wants to know."""


def _examine(folder: RecordingsFolder, name: str, progress: Callable[[int], None]) -> StoredRecording | None:
    recording_id = recording_id_of(name)
    try:
        known = folder.stat(name)
    except FileNotFoundError:
        return None
    look: QuickLook | None = None
    problem = kind_problem(known)
    writing = problem is None and is_being_written(folder.path / name)
    if problem is None:
        try:
            descriptor = folder.open(name)
            try:
                look = quick_look(descriptor, progress)
            finally:
                os.close(descriptor)
        except OSError as error:
            problem = f"it cannot be read: {error.strerror}"
    if problem is None and recording_id is None:
        problem = f"its name is none of a recording: {check_recording_id(name.removesuffix(SUFFIX))}"
    if problem is None and look is not None and not (writing and look.growing):
        problem = look.problem
    size = look.size if look is not None else known.st_size
    return StoredRecording(
        name, recording_id, folder.path / name, size, known.st_mtime, look, problem, writing
    )
