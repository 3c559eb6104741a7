"""What the configuration file means, and what is said of one that cannot be used."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from openprogram_core._config import read_configuration
from openprogram_core._config_update import update_configuration
from openprogram_core._paths import state_dir
from openprogram_core.errors import ConfigurationError


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("OPENPROGRAM_HOME", str(tmp_path))
    return tmp_path


def configure(home: Path, text: str | bytes) -> None:
    (home / "config.toml").write_bytes(text if isinstance(text, bytes) else text.encode())


def test_no_file_means_off(home: Path) -> None:
    found = read_configuration()
    assert (found.mode, found.file, found.order, found.disabled_plugins) == (
        "off",
        None,
        "ordered",
        frozenset(),
    )
    assert found.path == home / "config.toml"
    assert not list(home.iterdir())


def test_a_managed_recording_by_name_or_id(home: Path) -> None:
    for name in ("checkout.jsonl", "checkout"):
        configure(home, f'[record_replay]\nmode = "record"\nfile = "{name}"\n')
        assert read_configuration().file == home / "recordings" / "checkout.jsonl"


def test_everything_set(home: Path) -> None:
    path = home / "elsewhere.jsonl"
    configure(
        home,
        f"[record_replay]\nmode = 'replay'\nfile = '{path}'\norder = 'any-order'\nmod = 1\n"
        "[plugins]\ndisabled = ['b', 'a']\n[future]\nx = 1\n",
    )
    found = read_configuration()
    assert (found.mode, found.file, found.order) == ("replay", path, "any-order")
    assert found.disabled_plugins == {"a", "b"}
    assert found.unknown_keys == ("future", "record_replay.mod")


def test_a_byte_order_mark_and_windows_line_ends(home: Path) -> None:
    configure(home, b'\xef\xbb\xbf[record_replay]\r\nmode = "off"\r\norder = "any-order"\r\n')
    assert read_configuration().order == "any-order"


@pytest.mark.parametrize(
    ("text", "reason", "line", "column"),
    [
        ("x = \ny = 1", "it is not TOML", 1, 5),
        ('[record_replay]\nmode = "rec', "it is not TOML", 2, 12),
        (b"# fine\n\xff = 1", "it is not UTF-8", 2, 1),
        ("\n[record_replay]\nmode = 'recrod'", "must be one of off, record, replay, not 'recrod'", 3, None),
        ("record_replay.mode = 3", "must be one of off, record, replay", 1, None),
        ("record_replay = 3", "must be a table", 1, None),
        ("[record_replay]\norder = 'random'", "must be one of ordered, any-order", 2, None),
        ("[record_replay]\nmode = 'record'", "is missing, and mode record needs it", 1, None),
        ("[record_replay]\nmode = 'record'\nfile = '/a/b.jsonl'", "not a path", 3, None),
        ("[record_replay]\nmode = 'record'\nfile = '../b.jsonl'", "names no managed recording", 3, None),
        ("[record_replay]\nmode = 'replay'\nfile = 'a/b.jsonl'", "names no managed recording", 3, None),
        ("[record_replay]\nmode = 'replay'\nfile = 'nul.jsonl'", "Windows reserves this name", 3, None),
        ("[record_replay]\nmode = 'replay'\nfile = ''", "must be a recording's file name", 3, None),
        ("[plugins]\ndisabled = 'all'", "must be a list of plugin names", 2, None),
        ("x = " + "[" * 5000, "it is", None, None),
        ("#" * 2_000_000, "it is larger than", None, None),
    ],
)
def test_what_cannot_be_used_is_an_error_with_its_place(
    text: str | bytes, reason: str, line: int | None, column: int | None, home: Path
) -> None:
    configure(home, text)
    with pytest.raises(ConfigurationError) as caught:
        read_configuration()
    error = caught.value
    assert reason in error.reason
    assert "openprogram recordings off" in error.reason
    if line is not None:
        assert (error.line, error.column) == (line, column)
        assert f"config.toml, line {line}" in str(error)


def test_links_pipes_and_folders_are_refused(home: Path) -> None:
    outside = home / "outside.toml"
    outside.write_text("")
    path = home / "config.toml"
    path.symlink_to(outside)
    with pytest.raises(ConfigurationError, match="is a symbolic link"):
        read_configuration()
    path.unlink()
    path.symlink_to(home / "nowhere")
    with pytest.raises(ConfigurationError, match="is a symbolic link"):
        read_configuration()
    path.unlink()
    path.mkdir()
    with pytest.raises(ConfigurationError, match="not a regular file"):
        read_configuration()
    path.rmdir()
    if hasattr(os, "mkfifo"):
        os.mkfifo(path)
        with pytest.raises(ConfigurationError, match="not a regular file"):
            read_configuration()


def test_a_state_folder_that_is_a_link_is_refused_with_the_way_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    monkeypatch.setenv("OPENPROGRAM_HOME", str(tmp_path / "link"))
    with pytest.raises(ConfigurationError, match="set OPENPROGRAM_HOME to a folder that is no link"):
        read_configuration()
    # What lies above it may be a link: /tmp is one on macOS.
    monkeypatch.setenv("OPENPROGRAM_HOME", str(tmp_path / "link" / "home"))
    assert read_configuration().mode == "off"


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="the place is platformdirs' own there")
def test_a_home_that_is_no_folder_means_off_where_no_state_folder_was_asked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("OPENPROGRAM_HOME", raising=False)
    monkeypatch.delenv("XDG_STATE_HOME", raising=False)
    monkeypatch.setenv("HOME", os.devnull)
    assert read_configuration().mode == "off"
    with pytest.raises(ConfigurationError, match=r"it is no folder\. Move it away, or set OPENPROGRAM_HOME"):
        update_configuration(mode="off")


def test_a_state_folder_asked_for_below_a_file_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("OPENPROGRAM_HOME", str(tmp_path / "file" / "home"))
    with pytest.raises(
        ConfigurationError, match=r"file: it is no folder\. Move it away, or set OPENPROGRAM_HOME"
    ):
        read_configuration()


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="the place is platformdirs' own there")
@pytest.mark.parametrize("xdg", [None, "/somewhere", "relative", ""])
def test_the_state_folder_is_the_platforms(xdg: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    import platformdirs

    monkeypatch.delenv("OPENPROGRAM_HOME", raising=False)
    monkeypatch.delenv("XDG_STATE_HOME", raising=False)
    if xdg is not None:
        monkeypatch.setenv("XDG_STATE_HOME", xdg)
    expected = platformdirs.user_state_path("openprogram", appauthor=False)
    # A relative XDG path is invalid, says its specification.
    assert state_dir() == (expected if xdg != "relative" else Path.home() / ".local/state/openprogram")


def test_no_home_directory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENPROGRAM_HOME", "~nobody-of-this-name/state")
    with pytest.raises(ConfigurationError, match=r"has no home directory\. Set the environment variable"):
        state_dir()
    assert read_configuration().mode == "off"


def test_no_environment_variable_switches_anything_on(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENPROGRAM_MODE", "OPENPROGRAM_RECORD_REPLAY_MODE", "RECORD_REPLAY_MODE"):
        monkeypatch.setenv(name, "record")
    assert read_configuration().mode == "off"
