"""Managed recordings: names, modes, links, and what is never lost."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from openprogram_core.errors import RecordingsFolderError, RecordingStoreError
from openprogram_core.recordings import read_recording_file
from openprogram_core.recordings.locks import WriterLocks
from openprogram_core.recordings.store import (
    create_recording,
    delete_recording,
    managed_ids,
    removable_recordings,
)
from openprogram_core.recordings.store_examine import examine_recording, list_recordings, require_recording
from openprogram_core.recordings.store_names import check_recording_id, file_name, locate, recording_id_of
from tests.support.recording_files import conversation, write

posix = pytest.mark.skipif(os.name != "posix", reason="modes and links are POSIX")


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("OPENPROGRAM_HOME", str(tmp_path / "home"))
    return tmp_path / "home" / "recordings"


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize(
    "name",
    [
        *("", ".", "..", ".hidden", "-x", "_x", "a/b", "../a", "a\\b", "a b", "a\n", "é", "a:b", "a" * 65),
        *("con", "NUL", "Com1", "lpt9.x", "aux.", "x.jsonl", "X.JSONL", "a\x00", "a\u202eb", "a*"),
    ],
)
def test_names_that_are_refused(name: str, store: Path) -> None:
    assert check_recording_id(name) is not None
    for refuse in (create_recording, lambda name: delete_recording(name, None)):
        with pytest.raises(RecordingStoreError):
            refuse(name)
    assert not store.exists()


@pytest.mark.parametrize("name", ["a", "A", "0", "a.b_c-d", "a" * 64, "x..y", "console", "com10", "a.", "a-"])
def test_names_that_are_taken(name: str, store: Path) -> None:
    path = create_recording(name)
    assert path == store / file_name(name)
    assert managed_ids() == [name]


@given(st.text(max_size=70))
@settings(deadline=None)
def test_no_name_leads_out_of_the_folder(name: str) -> None:
    if check_recording_id(name) is None:
        assert (Path("/root") / file_name(name)).resolve() == Path("/root").resolve() / file_name(name)
        assert recording_id_of(file_name(name)) == name


@posix
def test_a_new_recording_is_private_and_a_recording_already(store: Path) -> None:
    old = os.umask(0)
    try:
        path = create_recording("one")
    finally:
        os.umask(old)
    assert (mode_of(store.parent), mode_of(store), mode_of(path)) == (0o700, 0o700, 0o600)
    with read_recording_file(path) as read:
        assert len(read.calls) == 0
        assert read.header["recording_id"] == "one"


def test_names_made_from_the_time_differ(store: Path) -> None:
    assert len({create_recording().name for _ in range(20)}) == 20


def test_nothing_is_overwritten_in_whatever_case(store: Path) -> None:
    path = write(store / "One.jsonl", b"not even a recording")
    for name in ("One", "one", "ONE"):
        with pytest.raises(RecordingStoreError, match="never overwritten"):
            create_recording(name)
    assert path.read_bytes() == b"not even a recording"
    assert [found.name for found in store.iterdir()] == ["One.jsonl"]


@posix
def test_a_dangling_link_is_not_written_through(store: Path, tmp_path: Path) -> None:
    store.mkdir(parents=True)
    (store / "one.jsonl").symlink_to(tmp_path / "target")
    with pytest.raises(RecordingStoreError, match="never overwritten"):
        create_recording("one")
    assert not (tmp_path / "target").exists()


@posix
@pytest.mark.parametrize("level", ["state folder", "recordings folder"])
def test_folders_that_are_links_are_refused(
    level: str, store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = write(tmp_path / "elsewhere" / "recordings" / "one.jsonl", conversation()).parent
    if level == "state folder":
        store.parent.symlink_to(elsewhere.parent)
    else:
        store.parent.mkdir()
        store.symlink_to(elsewhere)
    for refuse in (
        lambda: create_recording("two"),
        lambda: delete_recording("one", None),
        list_recordings,
        lambda: removable_recordings(0, None),
        lambda: examine_recording(store / "one.jsonl"),
        lambda: require_recording(store / "one.jsonl"),
    ):
        with pytest.raises(RecordingsFolderError, match="is a symbolic link"):
            refuse()
    assert [path.name for path in elsewhere.iterdir()] == ["one.jsonl"]


@posix
def test_wide_modes_are_narrowed_and_said(store: Path) -> None:
    path = write(store / "one.jsonl", conversation())
    store.chmod(0o777)
    path.chmod(0o664)
    _, repairs = list_recordings()
    assert (mode_of(store), mode_of(path)) == (0o700, 0o600)
    assert [repair.split(" from ")[1] for repair in repairs] == ["0777 to 0700", "0664 to 0600"]
    assert list_recordings()[1] == []
    path.chmod(0o400)
    assert list_recordings()[1] == []


@posix
def test_the_state_folder_keeps_its_mode_when_somebody_chose_it(store: Path) -> None:
    store.parent.mkdir(mode=0o755)
    store.parent.chmod(0o755)
    create_recording("one")
    assert mode_of(store.parent) == 0o755


@posix
def test_deleting_a_link_or_a_folder_is_refused(store: Path, tmp_path: Path) -> None:
    outside = write(tmp_path / "outside.jsonl", conversation())
    store.mkdir(parents=True)
    (store / "link.jsonl").symlink_to(outside)
    (store / "folder.jsonl").mkdir()
    with pytest.raises(RecordingStoreError, match="is a symbolic link"):
        delete_recording("link", None)
    with pytest.raises(RecordingStoreError, match="not a regular file"):
        delete_recording("folder", None)
    assert [found.reason is None for found in removable_recordings(-1, None)] == [False, False]
    assert outside.exists()


def test_the_active_recording_stays_whatever_name_it_is_called_by(store: Path) -> None:
    path = write(store / "one.jsonl", conversation())
    os.link(path, store / "alias.jsonl")
    for name in ("one", "alias"):
        with pytest.raises(RecordingStoreError, match="it is the active recording"):
            delete_recording(name, path)
    delete_recording("alias", store / "missing.jsonl")
    assert path.exists()


@posix
def test_one_that_is_being_written_stays(store: Path) -> None:
    path = write(store / "one.jsonl", conversation()[:-30])
    descriptor = os.open(path, os.O_RDWR)
    locks = WriterLocks(descriptor)
    locks.join_writers()
    try:
        with pytest.raises(RecordingStoreError, match="a process is writing it"):
            delete_recording("one", None)
        [old] = removable_recordings(-1, None)
        assert old.reason is not None
        [listed], _ = list_recordings()
        # A row cut short is what a recording that is being written looks like.
        assert (listed.writing, listed.problem) == (True, None)
    finally:
        locks.leave_writers()
        os.close(descriptor)
    [listed], _ = list_recordings()
    assert listed.writing is False
    assert listed.problem is not None
    delete_recording("one", None)


def test_age_is_since_the_last_write(store: Path) -> None:
    for name, age in (("old", 3 * 86400), ("young", 60), ("future", -86400)):
        path = write(store / f"{name}.jsonl", conversation())
        then = path.stat().st_mtime - age
        os.utime(path, (then, then))
    assert [found.recording_id for found in removable_recordings(86400, None)] == ["old"]
    assert [found.recording_id for found in removable_recordings(0, None)] == ["old", "young"]


def test_every_broken_file_is_listed_with_its_fault(store: Path) -> None:
    good = conversation()
    spaced = b"".join(json.dumps(json.loads(row)).encode() + b"\n" for row in good.splitlines())
    for name, content, problem in (
        ("bad-json", good.replace(b'{"type":"event"', b"oops", 1), "line 3: it is no JSON"),
        ("empty", b"", "the file is empty"),
        ("fine", good, None),
        ("fine-spaced", spaced, None),
        ("newer", good.replace(b'"format_version":1', b'"format_version":2', 1), "format version 2"),
        ("no-end", good[: good.rindex(b'{"type":"call_end"')], "1 of 2 calls have no end"),
        ("no-header", good.partition(b"\n")[2], "line 1: it is no recording header"),
        ("no-version", b'{"type":"header"}\n', "the header has no format_version"),
        ("other-json", good + b"[1]\n", "it is no row of a recording"),
        ("picture", b"\x89PNG\r\n" + bytes(100_000), "line 1: it is no recording header"),
        ("torn", good[:-1], "the last row is cut short"),
    ):
        write(store / f"{name}.jsonl", content)
        found, _ = examine_recording(store / f"{name}.jsonl")
        if problem is None:
            assert found.problem is None, found
            assert found.look is not None
            assert (found.look.calls, found.look.ended, found.look.events) == (2, 2, 9)
        else:
            assert found.problem is not None
            assert problem in found.problem
    write(store / "bad name.jsonl", good)
    write(store / "notes.txt", b"")
    listed, _ = list_recordings()
    assert len(listed) == 12
    assert listed[0].recording_id is None
    assert "its name is none of a recording" in str(listed[0].problem)


def test_what_an_argument_means(store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert locate("one") == store / "one.jsonl"
    assert locate("one.jsonl") == tmp_path / "one.jsonl"
    assert locate("./one") == tmp_path / "one"
    assert locate("a/../b") == tmp_path / "a/../b"
    for neither in ("", "..", "a b", "con"):
        with pytest.raises(RecordingStoreError):
            locate(neither)


@posix
def test_a_recording_elsewhere_may_be_a_link_and_keeps_its_mode(store: Path, tmp_path: Path) -> None:
    path = write(tmp_path / "one.jsonl", conversation())
    path.chmod(0o644)
    link = tmp_path / "link.jsonl"
    link.symlink_to(path)
    assert require_recording(link) == []
    assert examine_recording(link)[0].problem is None
    assert mode_of(path) == 0o644
