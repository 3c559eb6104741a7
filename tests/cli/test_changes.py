"""Commands that change something: both or neither, and the JSON that commands promise."""

from __future__ import annotations

import json
import os
import threading
import time
from pathlib import Path
from typing import Any

import pytest

import openprogram_core.cli
from openprogram_core import _config_update
from openprogram_core._config import read_configuration
from openprogram_core.cli import COMMANDS
from tests.support.command_line import Ran, call
from tests.support.json_schema import faults
from tests.support.recording_files import conversation, header, text_events, write
from tests.support.recording_files import events as event_rows
from tests.support.recording_files import request as request_row
from tests.support.shared import PROJECT_ROOT

SCHEMAS = json.loads((Path(openprogram_core.cli.__file__).parent / "json_schemas.json").read_text())["$defs"]


class Shell:
    """The command line with one state folder."""

    def __init__(self, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.home = home
        self._monkeypatch = monkeypatch

    def __call__(self, *arguments: str) -> Ran:
        return call("recordings", *arguments, home=self.home, monkeypatch=self._monkeypatch)

    def add(self, name: str, content: bytes | None = None) -> Path:
        return write(self.home / "recordings" / f"{name}.jsonl", content or conversation())


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shell:
    monkeypatch.setenv("OPENPROGRAM_HOME", str(tmp_path / "home"))
    return Shell(tmp_path / "home", monkeypatch)


def test_record_makes_the_file_and_the_configuration(shell: Shell) -> None:
    ran = shell("record")
    recording_id = ran.out.strip()
    assert read_configuration().file == shell.home / "recordings" / f"{recording_id}.jsonl"
    assert recording_id in shell("status").out
    assert "secrets removed" in ran.err


def test_record_makes_neither_when_the_configuration_cannot_be_written(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    shell("record", "--name", "first")
    before = (shell.home / "config.toml").read_bytes()

    def refuse(fresh: Path, path: Path) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(_config_update, "_put", refuse)
    ran = shell("record", "--name", "second")
    assert (ran.code, ran.out) == (1, "")
    assert "it cannot be changed: Permission denied" in ran.err
    assert (shell.home / "config.toml").read_bytes() == before
    assert [path.name for path in (shell.home / "recordings").iterdir()] == ["first.jsonl"]


def test_record_makes_neither_when_the_name_is_taken(shell: Shell) -> None:
    path = shell.add("taken")
    before = path.read_bytes()
    assert shell("record", "--name", "Taken").code == 1
    assert read_configuration().mode == "off"
    assert path.read_bytes() == before


def test_replay_of_a_path_is_configured_absolutely(
    shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    path = write(tmp_path / "there" / "one.jsonl", conversation())
    path.chmod(0o644)
    ran = shell("replay", "there/one.jsonl", "--order", "any-order")
    assert ran.code == 0, ran
    found = read_configuration()
    assert (found.mode, found.file, found.order) == ("replay", path, "any-order")
    assert path.stat().st_mode & 0o777 == 0o644
    assert shell("replay", "there/one.jsonl").code == 0
    assert read_configuration().order == "any-order"


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{}\n",
        conversation()[:-1],
        conversation().replace(b'"delta"', b'"dolta"', 1),
        header() + b"[]\n",
    ],
    ids=["empty", "no header", "torn", "bad event", "bad row"],
)
def test_replay_of_a_bad_file_changes_nothing(content: bytes, shell: Shell) -> None:
    shell("record", "--name", "active")
    before = (shell.home / "config.toml").read_bytes()
    path = shell.add("bad")
    path.write_bytes(content)
    ran = shell("replay", "bad")
    assert ran.code == 1
    assert "bad.jsonl" in ran.err
    assert (shell.home / "config.toml").read_bytes() == before


def test_replay_of_an_empty_recording_warns(shell: Shell) -> None:
    shell.add("empty", header())
    ran = shell("replay", "empty")
    assert ran.code == 0
    assert "holds no calls" in ran.err


def test_a_hint_when_an_id_is_given_as_a_path(
    shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    shell.add("one")
    assert "give its id, one" in shell("show", "one.jsonl").err
    assert "'openprogram recordings list' lists them" in shell("show", "two.jsonl").err


def test_prune_takes_the_old_and_keeps_the_rest(shell: Shell) -> None:
    for name, days in (("old", 10.0), ("young", 1.0), ("active", 10.0)):
        then = time.time() - days * 86400
        os.utime(shell.add(name), (then, then))
    shell("replay", "active")
    dry = shell("prune", "--older-than-days", "5", "--dry-run")
    assert (dry.code, dry.out) == (0, "old\n")
    assert "Would delete 1 recording" in dry.err
    assert (shell.home / "recordings" / "old.jsonl").exists()
    done = shell("prune", "--older-than-days", "5", "--yes")
    assert (done.code, done.out) == (0, "old\n")
    assert "kept active: it is the active recording" in done.err
    assert sorted(path.stem for path in (shell.home / "recordings").iterdir()) == ["active", "young"]


def test_show_of_a_recording_without_an_end(shell: Shell) -> None:
    from openprogram_core.providers import Context

    begun = header() + request_row(0, Context(), lane="left\x1b[m") + event_rows(0, text_events("so far")[:3])
    shell.add("cut", begun)
    ran = shell("show", "cut")
    assert ran.code == 1
    assert "1 of 1 calls have no end" in ran.err
    assert "left\\x1b[m" in ran.out
    one = shell("show", "cut", "--call", "0")
    assert one.code == 0
    assert "outcome: it has no end" in " ".join(one.out.split())
    assert "\nanswer\n  so far\n" in one.out


def test_show_of_a_failed_call(shell: Shell) -> None:
    from openprogram_core.providers import Context
    from tests.support.recording_files import call as call_rows

    error = {"type": "ProviderError", "message": "slow down", "kind": "rate_limit", "retryable": True}
    rows = call_rows(0, Context(), [], outcome="error", error=error, duration_ms=2)
    shell.add("failed", header() + rows)
    assert "error (rate_limit)" in shell("show", "failed").out
    one = shell("show", "failed", "--call", "0")
    assert "slow down" in one.out
    assert one.code == 0


def test_show_does_not_find_a_call(shell: Shell) -> None:
    shell.add("one")
    ran = shell("show", "one", "--call", "7")
    assert (ran.code, ran.out) == (1, "")
    assert "there is no call 7" in ran.err


def test_rows_in_another_spelling_are_shown_as_well(shell: Shell) -> None:
    rows = [json.loads(row) for row in conversation().splitlines()]
    shell.add("one")
    shell.add("two", b"".join(json.dumps(row, sort_keys=True).encode() + b"\n" for row in rows))
    for arguments in (["--json"], ["--call", "1", "--json"]):
        one, two = (json.loads(shell("show", name, *arguments).out) for name in ("one", "two"))
        assert one.get("calls") == two.get("calls")
        assert one.get("events") == two.get("events")
        assert one.get("request") == two.get("request")


def test_two_commands_at_once_leave_one_whole_configuration(shell: Shell) -> None:
    from openprogram_core.cli import main

    threads = [
        threading.Thread(target=main, args=(["recordings", "record", "--name", f"r{number}"],))
        for number in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    names = sorted(path.name for path in (shell.home / "recordings").iterdir())
    assert names == [f"r{number}.jsonl" for number in range(4)]
    file = read_configuration().file
    assert file is not None
    assert file.name in names


JSON_RUNS = {
    "recordings status": ["status", "--json"],
    "recordings list": ["list", "--json"],
    "recordings show": ["show", "one", "--json"],
    "recordings show --call": ["show", "one", "--call", "1", "--json"],
    "recordings show --call all": ["show", "one", "--call", "all", "--json"],
    "recordings prune": ["prune", "--older-than-days", "0", "--yes", "--json"],
    "recordings check": ["check", "one", "--json"],
}


@pytest.mark.parametrize("state", ["off", "record", "replay", "missing", "corrupt"])
@pytest.mark.parametrize("name", JSON_RUNS)
def test_json_keeps_to_its_schema(name: str, state: str, shell: Shell) -> None:
    shell.add("one")
    shell.add("torn", conversation()[:-5])
    shell.add("broken", b"x")
    if state in ("record", "replay"):
        shell(state, *([] if state == "record" else ["one"]))
    elif state == "missing":
        (shell.home / "config.toml").write_text("record_replay = {mode = 'replay', file = 'gone'}\nx = 1\n")
    elif state == "corrupt":
        (shell.home / "config.toml").write_text("[")
    ran = shell(*JSON_RUNS[name])
    if state == "corrupt" and name == "recordings prune":
        assert (ran.code, ran.out) == (1, "")
        return
    document = json.loads(ran.out)
    assert faults(document, SCHEMAS[name]) == []
    assert ran.out.isascii()


def test_every_schema_belongs_to_a_command() -> None:
    for name in SCHEMAS:
        *group, command = name.partition(" --")[0].split()
        assert command in COMMANDS[" ".join(group)]


def test_every_key_of_the_schemas_is_in_the_reference() -> None:
    page = (PROJECT_ROOT / "docs" / "reference" / "cli-json.md").read_text()
    for name, schema in SCHEMAS.items():
        section = page.partition(f"## `{name.partition(' --')[0]}`")[2].partition("\n## ")[0]
        for key in _keys(schema) - {"schema_version"}:
            assert f"`{key}`" in section, (name, key)


def _keys(schema: dict[str, Any]) -> set[str]:
    found = set(schema.get("properties", ()))
    for inner in (*schema.get("properties", {}).values(), *schema.get("anyOf", ()), schema.get("items")):
        found |= _keys(inner) if inner else set()
    return found
