"""What a blocked call says: one sentence with the cause, what to do about it, and both ways out, once."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from openprogram_core.errors import RecordReplayBlockedError
from tests.support.interpreter import run_python
from tests.support.recording_files import conversation, header, write

CALL = """
import json
import openprogram_core
from openprogram_core.providers import Context, Model, stream
openprogram_core.initialize_provider_runtime()
try:
    stream(Model(id="m", api="openai-completions", provider="p"), Context())
except openprogram_core.OpenProgramError as error:
    print(json.dumps([str(error), type(error).__name__, error.mode, error.cause_type, error.cause_message]))
"""
REPLAY = "[record_replay]\nmode = 'replay'\nfile = 'one.jsonl'\n"
RECORD = "[record_replay]\nmode = 'record'\nfile = 'one.jsonl'\n"


def blocked(home: Path) -> RecordReplayBlockedError:
    ran = run_python(CALL, home=home)
    words, kind, *facts = json.loads(ran.stdout)
    assert kind == "RecordReplayBlockedError"
    error = RecordReplayBlockedError(*facts)
    assert str(error) == words
    assert words.count("openprogram recordings status") == 1
    assert words.count("openprogram recordings off") == 1
    assert ".." not in words.replace(str(home), "")
    return error


def configure(home: Path, text: str) -> None:
    (home / "config.toml").write_text(text)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "there is no such file"),
        (b"x\n", "line 1: "),
        (conversation()[: len(header()) + 40], "line 2: "),
    ],
    ids=["missing", "no recording", "torn"],
)
def test_a_recording_that_cannot_be_replayed(content: bytes | None, said: str, tmp_path: Path) -> None:
    configure(tmp_path, REPLAY)
    path = tmp_path / "recordings" / "one.jsonl"
    if content is not None:
        write(path, content)
    error = blocked(tmp_path)
    assert error.mode == "replay"
    assert error.cause_type == "RecordingFileError"
    assert str(error).startswith(f"replay is configured and cannot begin: {path}")
    assert said in str(error)
    for layer in ("PluginError", "RecordingFileError", "wrap_provider", "openprogram_replay"):
        assert layer not in str(error)


@pytest.mark.parametrize("plugin", ["openprogram_record", "openprogram_redaction"])
def test_a_plugin_that_is_disabled(plugin: str, tmp_path: Path) -> None:
    configure(tmp_path, f"{RECORD}[plugins]\ndisabled = ['{plugin}']\n")
    error = blocked(tmp_path)
    assert str(error).startswith("record is configured and cannot begin: ")
    assert plugin in str(error)
    assert "[plugins] disabled" in str(error)


def test_a_configuration_that_cannot_be_read(tmp_path: Path) -> None:
    configure(tmp_path, "[record_replay\n")
    error = blocked(tmp_path)
    assert (error.mode, error.cause_type) == ("unknown", "ConfigurationError")
    assert str(error).startswith(f"the configuration cannot be used: {tmp_path / 'config.toml'}, line 1")


def test_a_state_folder_that_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "home").write_text("")
    error = blocked(tmp_path / "home")
    assert str(error).startswith(f"the configuration cannot be used: {tmp_path / 'home'}: it is no folder")


def test_a_plugin_of_somebody_else_stays_named(tmp_path: Path) -> None:
    site = tmp_path / "site"
    info = site / "acme-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[openprogram.plugins]\nacme = acme_plugin\n")
    (site / "acme_plugin.py").write_text(
        "import openprogram_core\n@openprogram_core.hookimpl\ndef wrap_provider(settings):\n"
        "    raise openprogram_core.OpenProgramError('the tap is dry.')\n"
    )
    configure(tmp_path, RECORD)
    write(tmp_path / "recordings" / "one.jsonl", header())
    ran = run_python(f"import sys; sys.path.insert(0, {str(site)!r})\n{CALL}", home=tmp_path)
    words = json.loads(ran.stdout)[0]
    assert "plugin 'acme', hook wrap_provider" in words
    assert "the tap is dry. " in words
