"""Changes of the configuration: whole or not at all, nothing lost, one writer at a time."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import pytest
from filelock import FileLock

from openprogram_core import _config_update
from openprogram_core._config import read_configuration
from openprogram_core._config_update import edit_configuration, switch_off, update_configuration
from openprogram_core.errors import ConfigurationError
from tests.support.command_line import environment

COMMENTED = """\
# Ours, do not touch.
[record_replay] # what to do
mode = "record" # while I look at it
file = "one.jsonl"
future_key = [1, 2] # of a later version

[somebody.elses]
x = 1979-05-27
"""


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("OPENPROGRAM_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def test_comments_and_unknown_keys_are_kept(home: Path) -> None:
    home.mkdir()
    (home / "config.toml").write_text(COMMENTED)
    update_configuration(mode="replay", file="two.jsonl", order="any-order", disabled_plugins=["b", "a"])
    text = (home / "config.toml").read_text()
    for kept in (
        "# Ours, do not touch.",
        "# what to do",
        "# while I look at it",
        "future_key = [1, 2] # of a later version",
        "[somebody.elses]\nx = 1979-05-27",
    ):
        assert kept in text
    found = read_configuration()
    assert (found.mode, found.file, found.order) == (
        "replay",
        home / "recordings" / "two.jsonl",
        "any-order",
    )
    assert found.disabled_plugins == {"a", "b"}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "# only a comment",
        "record_replay.mode = 'off'\n",
        "record_replay = {mode = 'off'}\n",
        "[a]\r\nx=1\r\n",
        "[plugins]\ndisabled = []\n[record_replay]\n",
    ],
)
def test_every_spelling_of_the_tables_can_be_changed(text: str, home: Path) -> None:
    home.mkdir()
    (home / "config.toml").write_text(text)
    update_configuration(mode="record", file="one.jsonl")
    assert read_configuration().file == home / "recordings" / "one.jsonl"
    update_configuration(mode="off")
    assert read_configuration().mode == "off"
    assert "file" not in tomllib.loads((home / "config.toml").read_text())["record_replay"]


@pytest.mark.skipif(os.name != "posix", reason="modes are POSIX")
def test_folder_and_file_are_private(home: Path) -> None:
    update_configuration(mode="off")
    assert stat.S_IMODE(home.stat().st_mode) == 0o700
    (home / "config.toml").chmod(0o644)
    update_configuration(mode="record", file="one.jsonl")
    assert stat.S_IMODE((home / "config.toml").stat().st_mode) == 0o600


def test_a_change_that_makes_no_sense_changes_nothing(home: Path) -> None:
    update_configuration(mode="record", file="one.jsonl")
    before = (home / "config.toml").read_bytes()
    with pytest.raises(ConfigurationError, match="must be one of"):
        update_configuration(mode="sideways")  # type: ignore[arg-type]  # what is tested
    with pytest.raises(ConfigurationError, match="names no managed recording"):
        update_configuration(file="../escape.jsonl")
    assert (home / "config.toml").read_bytes() == before


def test_a_write_that_fails_leaves_the_old_file_and_no_other(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    update_configuration(mode="record", file="one.jsonl")
    before = (home / "config.toml").read_bytes()

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(ConfigurationError, match="it cannot be changed: No space left on device"):
        update_configuration(mode="off")
    assert (home / "config.toml").read_bytes() == before
    assert sorted(path.name for path in home.iterdir()) == ["config.toml", "config.toml.lock"]


def test_what_a_killed_writer_left_behind_goes_with_the_next_change(home: Path) -> None:
    update_configuration(mode="off")
    (home / "config.toml.0123.new").write_text("half a fi")
    update_configuration(order="any-order")
    assert not list(home.glob("*.new"))


def test_the_lock_is_waited_for_and_then_given_up(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    update_configuration(mode="off")
    monkeypatch.setattr(_config_update, "LOCK_TIMEOUT_S", 0.05)
    with (
        FileLock(home / "config.toml.lock"),
        pytest.raises(ConfigurationError, match="another process has held its lock"),
    ):
        update_configuration(mode="off")


def test_a_lock_that_is_a_link_is_refused(home: Path, tmp_path: Path) -> None:
    home.mkdir()
    target = tmp_path / "target"
    (home / "config.toml.lock").symlink_to(target)
    with pytest.raises(ConfigurationError, match="is a symbolic link"):
        update_configuration(mode="off")
    assert not target.exists()


BROKEN: dict[str, bytes] = {
    "no TOML": b"[record_replay]\nmode = \n",
    "no UTF-8": b"\xff\xfe",
    "a wrong mode": b"[record_replay]\nmode = 'recrod'\n",
    "a wrong order": b"[record_replay]\norder = 7\n",
    "no table": b"record_replay = 1\n",
    "a wrong list": b"[plugins]\ndisabled = 1\n",
}


@pytest.mark.parametrize("content", BROKEN.values(), ids=BROKEN)
def test_off_sets_a_broken_file_aside(content: bytes, home: Path) -> None:
    home.mkdir()
    (home / "config.toml").write_bytes(content)
    first = switch_off()
    assert first.before is None
    assert first.broken is not None
    assert first.set_aside is not None
    assert first.set_aside.read_bytes() == content
    assert read_configuration().mode == "off"
    (home / "config.toml").write_bytes(content)
    second = switch_off()
    assert second.set_aside is not None
    assert second.set_aside != first.set_aside
    assert first.set_aside.read_bytes() == second.set_aside.read_bytes() == content


def test_off_sets_aside_what_is_no_file(home: Path, tmp_path: Path) -> None:
    home.mkdir()
    outside = tmp_path / "outside.toml"
    outside.write_text(COMMENTED)
    (home / "config.toml").symlink_to(outside)
    assert switch_off().set_aside is not None
    assert outside.read_text() == COMMENTED
    assert read_configuration().mode == "off"
    (home / "config.toml").unlink()
    (home / "config.toml").mkdir()
    assert switch_off().set_aside is not None
    assert (home / "config.toml").is_file()


def test_off_without_a_file_makes_none(home: Path) -> None:
    found = switch_off()
    assert found.before is not None
    assert found.before.mode == "off"
    assert not home.exists()


def test_the_editor_sees_what_stands_in_the_file_under_the_lock(home: Path) -> None:
    update_configuration(mode="record", file="one.jsonl")
    with edit_configuration() as editor:
        assert editor.current.file == home / "recordings" / "one.jsonl"
        assert editor.write(order="any-order").mode == "record"
        assert editor.write(mode="off").order == "any-order"


CHANGES = """
import sys
from openprogram_core._config_update import edit_configuration
name = sys.argv[1]
for number in range(500):
    with edit_configuration() as editor:
        before = {f"{name}-{number - 1}"} if number else set()
        assert before <= editor.current.disabled_plugins
        editor.write(disabled_plugins=editor.current.disabled_plugins - before | {f"{name}-{number}"})
"""


def test_two_processes_change_it_500_times_each_and_lose_nothing(home: Path) -> None:
    home.mkdir()
    (home / "config.toml").write_text(COMMENTED)
    writers = [
        subprocess.Popen([sys.executable, "-c", CHANGES, name], env=environment(home)) for name in ("a", "b")
    ]
    reads = 0
    while any(writer.poll() is None for writer in writers):
        # Whenever somebody reads it, it is whole.
        read_configuration()
        reads += 1
        time.sleep(0.002)
    assert [writer.returncode for writer in writers] == [0, 0]
    assert reads
    found = read_configuration()
    assert found.disabled_plugins == {"a-499", "b-499"}
    assert (home / "config.toml").read_text().startswith("# Ours, do not touch.")
    assert sorted(path.name for path in home.iterdir()) == ["config.toml", "config.toml.lock"]
