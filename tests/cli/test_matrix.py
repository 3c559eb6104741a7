"""Every command in every state of the store: its exit code, and what stands on each stream."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from filelock import FileLock

from openprogram_core import _config_update
from tests.support.command_line import Ran, call
from tests.support.recording_files import conversation, write

COMMANDS = {
    "status": ["recordings", "status"],
    "record": ["recordings", "record", "--name", "fresh"],
    "replay": ["recordings", "replay", "one"],
    "off": ["recordings", "off"],
    "list": ["recordings", "list"],
    "show": ["recordings", "show", "one"],
    "delete": ["recordings", "delete", "one", "--yes"],
    "prune": ["recordings", "prune", "--older-than-days", "0", "--yes"],
}

NEXT_START = "takes effect at a program's next start"


def none(home: Path) -> None:
    """There is no state folder."""


def empty(home: Path) -> None:
    (home / "recordings").mkdir(parents=True, mode=0o700)


def good(home: Path) -> None:
    write(home / "recordings" / "one.jsonl", conversation())


def broken(home: Path) -> None:
    write(home / "recordings" / "one.jsonl", conversation().replace(b'{"type":"call_end"', b"oops", 1))


def active(home: Path) -> None:
    good(home)
    (home / "config.toml").write_text('[record_replay]\nmode = "record"\nfile = "one.jsonl"\n')


def link(home: Path) -> None:
    outside = write(home / "outside.jsonl", conversation())
    empty(home)
    (home / "recordings" / "one.jsonl").symlink_to(outside)


def wide(home: Path) -> None:
    good(home)
    (home / "recordings").chmod(0o755)
    (home / "recordings" / "one.jsonl").chmod(0o644)


def corrupt_configuration(home: Path) -> None:
    good(home)
    (home / "config.toml").write_text('[record_replay]\nmode = "record\n')


# For each state and command: the exit code, a part of stdout, a part of stderr; "" means the stream is empty.
EXPECTED: dict[Callable[[Path], None], dict[str, tuple[int, str, str]]] = {
    none: {
        "status": (0, "mode:          off", "Nothing is recorded"),
        "record": (0, "fresh\n", NEXT_START),
        "replay": (1, "", "there is no such recording"),
        "off": (0, "", "It was off already"),
        "list": (0, "", "There are no recordings"),
        "show": (1, "", "there is no such recording"),
        "delete": (1, "", "there is no such recording"),
        "prune": (0, "", "Deleted 0 recordings"),
    },
    empty: {
        "status": (0, "mode:          off", "Nothing is recorded"),
        "record": (0, "fresh\n", NEXT_START),
        "replay": (1, "", "there is no such recording"),
        "off": (0, "", "It was off already"),
        "list": (0, "", "There are no recordings"),
        "show": (1, "", "there is no such recording"),
        "delete": (1, "", "there is no such recording"),
        "prune": (0, "", "Deleted 0 recordings"),
    },
    good: {
        "status": (0, "mode:          off", "Nothing is recorded"),
        "record": (0, "fresh\n", NEXT_START),
        "replay": (0, "", NEXT_START),
        "off": (0, "", "It was off already"),
        "list": (0, "one ", ""),
        "show": (0, "made-up-1", ""),
        "delete": (0, "", "Deleted one"),
        "prune": (0, "one\n", "Deleted 1 recording"),
    },
    broken: {
        "status": (0, "mode:          off", "Nothing is recorded"),
        "record": (0, "fresh\n", NEXT_START),
        "replay": (1, "", "one.jsonl, line 7"),
        "off": (0, "", "It was off already"),
        "list": (0, "broken", "one.jsonl: line 7: it is no JSON"),
        "show": (1, "made-up-1", "one.jsonl: line 7: it is no JSON"),
        "delete": (0, "", "Deleted one"),
        "prune": (0, "one\n", "Deleted 1 recording"),
    },
    active: {
        "status": (0, "recording:     one", "Every provider call is recorded"),
        "record": (0, "fresh\n", "stays as it is"),
        "replay": (0, "", NEXT_START),
        "off": (0, "", NEXT_START),
        "list": (0, "ok, active", ""),
        "show": (0, "made-up-1", ""),
        "delete": (1, "", "it is the active recording. Run 'openprogram recordings off' first"),
        "prune": (0, "", "kept one: it is the active recording"),
    },
    link: {
        "status": (0, "mode:          off", "Nothing is recorded"),
        "record": (0, "fresh\n", NEXT_START),
        "replay": (1, "", "it is a symbolic link"),
        "off": (0, "", "It was off already"),
        "list": (0, "broken", "it is a symbolic link"),
        "show": (1, "", "it is a symbolic link"),
        "delete": (1, "", "it is a symbolic link"),
        "prune": (0, "", "kept one: it is a symbolic link"),
    },
    wide: {
        "status": (0, "mode:          off", "Nothing is recorded"),
        "record": (0, "fresh\n", NEXT_START),
        "replay": (0, "", "from 0644 to 0600"),
        "off": (0, "", "It was off already"),
        "list": (0, "one ", "from 0644 to 0600"),
        "show": (0, "made-up-1", "from 0644 to 0600"),
        "delete": (0, "", "Deleted one"),
        "prune": (0, "one\n", "Deleted 1 recording"),
    },
    corrupt_configuration: {
        "status": (1, "", "line 2, column 15"),
        "record": (1, "", "line 2, column 15"),
        "replay": (1, "", "line 2, column 15"),
        "off": (0, "", "it was set aside as"),
        "list": (1, "one ", "line 2, column 15"),
        "show": (0, "made-up-1", ""),
        "delete": (1, "", "line 2, column 15"),
        "prune": (1, "", "line 2, column 15"),
    },
}


def check(ran: Ran, code: int, out: str, err: str) -> None:
    assert ran.code == code, ran
    for found, expected in ((ran.out, out), (ran.err, err)):
        assert (expected in found) if expected else (found == ""), ran
    assert "Traceback" not in ran.err


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("state", EXPECTED, ids=lambda state: str(state.__name__))
def test_command_in_state(
    state: Callable[[Path], None], command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    state(home)
    before = _files(home)
    check(call(*COMMANDS[command], home=home, monkeypatch=monkeypatch), *EXPECTED[state][command])
    if command in ("status", "list", "show") or EXPECTED[state][command][0] == 1:
        assert {name: data for name, data in _files(home).items() if not name.endswith(".lock")} == before


@pytest.mark.parametrize("command", COMMANDS)
def test_command_while_another_process_changes_the_configuration(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    active(tmp_path)
    monkeypatch.setattr(_config_update, "LOCK_TIMEOUT_S", 0.1)
    lock = FileLock(tmp_path / "config.toml.lock")
    with lock:
        ran = call(*COMMANDS[command], home=tmp_path, monkeypatch=monkeypatch)
    if command in ("record", "replay", "off", "delete"):
        check(ran, 1, "", "another process has held its lock")
    else:
        # Prune has nothing to delete but the active recording, which it does not need the lock to keep.
        assert ran.code == 0, ran
    assert not (tmp_path / "recordings" / "fresh.jsonl").exists()


@pytest.mark.parametrize("command", ["delete", "prune"])
def test_destroying_without_yes_and_without_a_terminal(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    good(tmp_path)
    ran = call(*COMMANDS[command][:-1], home=tmp_path, monkeypatch=monkeypatch)
    check(ran, 2, "", "there is no terminal to ask at: add --yes")
    assert (tmp_path / "recordings" / "one.jsonl").exists()


def _files(home: Path) -> dict[str, bytes]:
    found = {}
    for folder, _, names in os.walk(home):
        for name in names:
            path = Path(folder) / name
            found[str(path)] = path.read_bytes()
    return found
