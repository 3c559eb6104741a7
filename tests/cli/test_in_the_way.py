"""What is in the way of recording and replaying is said before it is met, and never contradicted."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from tests.support.command_line import Ran, call
from tests.support.recording_files import conversation, header, write

RECORD = "[record_replay]\nmode = 'record'\nfile = 'one.jsonl'\n"
REPLAY = "[record_replay]\nmode = 'replay'\nfile = 'one.jsonl'\n"


class Shell:
    """The command line with one state folder."""

    def __init__(self, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.home = home
        self.recording = home / "recordings" / "one.jsonl"
        self._monkeypatch = monkeypatch

    def __call__(self, *arguments: str) -> Ran:
        return call("recordings", *arguments, home=self.home, monkeypatch=self._monkeypatch)

    def configure(self, text: str) -> None:
        self.home.mkdir(exist_ok=True)
        (self.home / "config.toml").write_text(text)


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shell:
    return Shell(tmp_path / "home", monkeypatch)


COMMANDS = {
    "status": ["status"],
    "status --json": ["status", "--json"],
    "record": ["record"],
    "replay": ["replay", "one"],
    "off": ["off"],
    "list": ["list"],
    "list --json": ["list", "--json"],
    "show": ["show", "one"],
    "check": ["check", "one"],
    "delete": ["delete", "one", "--yes"],
    "prune": ["prune", "--older-than-days", "0", "--yes"],
}


@pytest.mark.parametrize("below", [False, True], ids=["a file", "below a file"])
@pytest.mark.parametrize("name", COMMANDS)
def test_a_state_folder_that_is_no_folder(name: str, below: bool, shell: Shell) -> None:
    file = shell.home
    file.write_text("not a folder")
    if below:
        shell.home = file / "deeper" / "home"
    ran = shell(*COMMANDS[name])
    assert ran.code == (2 if name == "check" else 1), ran
    words = json.loads(ran.out)["problems"][0]["reason"] if name == "status --json" else ran.err
    assert words.count(f"{file}: it is no folder") == 1
    assert "set OPENPROGRAM_HOME to a folder" in words
    assert "recordings off" not in words
    assert file.read_text() == "not a folder"


def test_a_recordings_folder_that_is_no_folder(shell: Shell) -> None:
    shell.home.mkdir()
    (shell.home / "recordings").write_text("not a folder")
    for arguments in (["list"], ["record"], ["show", "one"]):
        ran = shell(*arguments)
        assert (ran.code, ran.out) == (1, "")
        assert "recordings: it is no folder" in ran.err
    assert not (shell.home / "config.toml").exists()


@pytest.mark.parametrize("content", [None, conversation()[:-9], b"x\n"], ids=["missing", "torn", "none"])
def test_status_says_one_thing_of_a_replay_that_cannot_begin(content: bytes | None, shell: Shell) -> None:
    shell.configure(REPLAY)
    if content is not None:
        write(shell.recording, content)
    ran = shell("status")
    assert ran.code == 0
    assert "every provider call is blocked in mode replay" in ran.err
    assert "is answered from" not in ran.err


@pytest.mark.parametrize("content", [None, b"", conversation()[:-9]], ids=["missing", "empty", "torn"])
def test_what_a_recorder_mends_by_itself_blocks_nothing(content: bytes | None, shell: Shell) -> None:
    shell.configure(RECORD)
    (shell.home / "recordings").mkdir(mode=0o700)
    if content is not None:
        write(shell.recording, content)
    ran = shell("status")
    assert ran.code == 0
    assert "warning: " in ran.err
    assert "blocked" not in ran.err
    assert "Every provider call is recorded" in ran.err
    document = json.loads(shell("status", "--json").out)
    assert document["problems"] == []
    assert len(document["warnings"]) == 1


@pytest.mark.skipif(sys.platform == "win32", reason="needs locks to know of the writer")
def test_what_is_being_written_cannot_be_replayed_yet(shell: Shell) -> None:
    from openprogram_core.recordings import WriterLocks

    shell.configure(REPLAY)
    write(shell.recording, conversation()[:-9])
    with shell.recording.open("r+b") as file:
        locks = WriterLocks(file.fileno())
        locks.lock_append()
        locks.join_writers()
        locks.unlock_append()
        ran = shell("status")
        locks.leave_writers()
    assert "a process is writing it at this moment" in ran.out
    assert "every provider call is blocked in mode replay" in ran.err


def test_a_recorder_without_the_folder_is_blocked(shell: Shell) -> None:
    shell.configure(RECORD)
    ran = shell("status")
    assert "every provider call is blocked in mode record" in ran.err
    assert "is recorded" not in ran.err


@pytest.mark.parametrize(
    ("mode", "plugin"),
    [
        ("record", "openprogram_record"),
        ("record", "openprogram_redaction"),
        ("replay", "openprogram_replay"),
        ("replay", "openprogram_redaction"),
    ],
)
def test_a_mode_whose_plugin_is_disabled_is_refused_before_anything_is_changed(
    mode: str, plugin: str, shell: Shell
) -> None:
    text = f"[plugins]\ndisabled = ['{plugin}']\n"
    shell.configure(text)
    write(shell.recording, header())
    ran = shell(mode, *(["one"] if mode == "replay" else []))
    assert (ran.code, ran.out) == (1, "")
    assert f"the plugin {plugin} is disabled, and mode {mode} needs it" in ran.err
    assert "secrets removed" not in ran.err
    assert (shell.home / "config.toml").read_text() == text
    assert [path.name for path in shell.recording.parent.iterdir()] == ["one.jsonl"]


@pytest.mark.parametrize("plugin", ["openprogram_record", "openprogram_replay", "openprogram_redaction"])
def test_status_says_which_modes_a_disabled_plugin_takes_away(plugin: str, shell: Shell) -> None:
    shell.configure(f"[plugins]\ndisabled = ['{plugin}']\n")
    ran = shell("status")
    assert ran.code == 0
    assert f"the plugin {plugin} is disabled, and mode" in ran.err
    assert ("modes record and replay need it" in ran.err) == (plugin == "openprogram_redaction")
    assert "blocked" not in ran.err


@pytest.mark.parametrize("there", [True, False])
def test_a_recording_outside_the_store_has_no_id(there: bool, shell: Shell, tmp_path: Path) -> None:
    path = write(tmp_path / "outside.jsonl", conversation())
    if not there:
        path.unlink()
    shell.configure(f"[record_replay]\nmode = 'replay'\nfile = '{path}'\n")
    assert "recording:" not in shell("status").out
    assert json.loads(shell("status", "--json").out)["recording_id"] is None
