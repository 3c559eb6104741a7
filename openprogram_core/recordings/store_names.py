"""What a managed recording may be called, on every platform a recording may be carried to."""

from __future__ import annotations

import os
from pathlib import Path

SUFFIX = ".jsonl"
ID_RULE = "a letter or digit, then up to 63 letters, digits, '.', '_' or '-'"

LONGEST_ID = 64
_LETTERS = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")
_CHARACTERS = _LETTERS | frozenset("._-")
_WINDOWS_DEVICES = frozenset(
    ["con", "prn", "aux", "nul", *(f"{port}{number}" for port in ("com", "lpt") for number in range(10))]
)


def check_recording_id(recording_id: str) -> str | None:
    """Return why ``recording_id`` may not name a managed recording, or None when it may."""
    if (
        recording_id[:1] not in _LETTERS
        or len(recording_id) > LONGEST_ID
        or not _CHARACTERS.issuperset(recording_id)
    ):
        return f"an id is {ID_RULE}"
    if recording_id.lower().endswith(SUFFIX):
        return f"an id is given without {SUFFIX}"
    # With any extension too: con.1.jsonl is the console.
    if recording_id.lower().split(".")[0] in _WINDOWS_DEVICES:
        return "Windows reserves this name for a device"
    return None


def file_name(recording_id: str) -> str:
    """Return the file name of a managed recording."""
    return recording_id + SUFFIX


def recording_id_of(name: str) -> str | None:
    """Return the id of the managed recording in the file ``name``, or None when it is none of ours."""
    recording_id = name.removesuffix(SUFFIX)
    if recording_id == name or check_recording_id(recording_id) is not None:
        return None
    return recording_id


def locate(text: str) -> Path:
    """Return the path an ``ID-or-PATH`` means; nothing needs to be there.

    A text with a path separator, or one that ends in ``.jsonl``, is a path; everything else is the id of a
    managed recording. Raises `RecordingStoreError` for what can be neither.
    """
    if text.endswith(SUFFIX) or os.sep in text or (os.altsep and os.altsep in text):
        return Path(text).absolute()
    reason = check_recording_id(text)
    if reason is not None:
        from openprogram_core.errors import RecordingStoreError

        raise RecordingStoreError(
            text, f"{reason}. For a file of another name, give its path, as in ./{text}"
        )
    from openprogram_core._paths import recordings_dir

    return recordings_dir() / file_name(text)
