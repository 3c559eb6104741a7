"""What commands say: in the words of the command line, about the file that was named, with a next step."""

from __future__ import annotations

import importlib
import json
import shlex
from collections.abc import Callable
from pathlib import Path

import click
import pytest

from openprogram_core.cli import COMMANDS, main
from tests.support.command_line import Ran, call, run
from tests.support.recording_files import conversation, header, write

Recordings = Callable[..., Ran]

ALL = [(group, name) for group, names in COMMANDS.items() for name in names]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("OPENPROGRAM_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    return tmp_path / "home"


@pytest.fixture
def recordings(home: Path, monkeypatch: pytest.MonkeyPatch) -> Recordings:
    def recordings(*arguments: str) -> Ran:
        return call("recordings", *arguments, home=home, monkeypatch=monkeypatch)

    return recordings


@pytest.mark.parametrize(("group", "name"), ALL, ids=lambda part: part or "-")
def test_no_number_is_refused_in_the_words_of_the_library(group: str, name: str) -> None:
    command = importlib.import_module("openprogram_core.cli." + "_".join(filter(None, [group, name]))).command
    for parameter in command.params:
        assert not isinstance(parameter.type, click.types.IntParamType | click.types.FloatParamType), (
            parameter
        )


@pytest.mark.parametrize("given", ["-1", "x", "", "1.5", "²", "9" * 30, "ALL"])
def test_what_is_no_call(given: str, recordings: Recordings, home: Path) -> None:
    write(home / "recordings" / "one.jsonl", conversation())
    ran = recordings("show", "one", f"--call={given}")
    assert (ran.code, ran.out) == (2, "")
    assert f"{given!r} is neither the number of a call, counted from 0, nor 'all'" in ran.err


@pytest.mark.parametrize("given", ["-1", "x", "", "nan", "inf", "-inf", "1e999"])
def test_what_is_no_number_of_days_deletes_nothing(given: str, recordings: Recordings, home: Path) -> None:
    path = write(home / "recordings" / "one.jsonl", conversation())
    ran = recordings("prune", f"--older-than-days={given}", "--yes")
    assert (ran.code, ran.out) == (2, "")
    assert f"{given!r} is no number of days, 0 or more" in ran.err
    assert path.exists()


def test_every_call_is_shown_in_turn(recordings: Recordings, home: Path) -> None:
    write(home / "recordings" / "one.jsonl", conversation())
    every = recordings("show", "one", "--call", "all")
    single = [recordings("show", "one", "--call", str(number)).out for number in (0, 1)]
    assert every.code == 0
    assert every.out == "\n".join(single)
    document = json.loads(recordings("show", "one", "--call", "all", "--json").out)
    for number, found in enumerate(document["calls"]):
        one = json.loads(recordings("show", "one", "--call", str(number), "--json").out)
        assert found == {key: one[key] for key in ("call", "request", "events")}


def test_calls_that_overlap_are_shown_one_after_the_other(recordings: Recordings, home: Path) -> None:
    rows = conversation().splitlines(keepends=True)
    first = [row for row in rows if b'"call_index":0,' in row]
    second = [row for row in rows if b'"call_index":1,' in row]
    mixed = [rows[0], first[0], *second, *first[1:]]
    write(home / "recordings" / "one.jsonl", conversation())
    write(home / "recordings" / "mixed.jsonl", b"".join(mixed))
    assert recordings("show", "mixed", "--call", "all").out == recordings("show", "one", "--call", "all").out


def test_every_call_of_a_broken_recording(recordings: Recordings, home: Path) -> None:
    rows = conversation().splitlines(keepends=True)
    write(home / "recordings" / "one.jsonl", b"".join([*rows[:-1], b"[1]\n", rows[-1][:9]]))
    ran = recordings("show", "one", "--call", "all")
    assert ran.code == 1
    assert f"2 rows could not be shown, the first in line {len(rows)}" in ran.err
    assert "it has no end" in ran.out


def test_every_call_of_none(recordings: Recordings, home: Path) -> None:
    write(home / "recordings" / "one.jsonl", header())
    assert "It holds no calls." in recordings("show", "one", "--call", "all").err


TORN = conversation()[:-9]
NO_CALL_WHOLE = b"".join(conversation().splitlines(keepends=True)[:3])


@pytest.mark.parametrize("name", ["one.jsonl", "with space.jsonl", "no-suffix"])
def test_the_command_that_repairs_can_be_copied(name: str, recordings: Recordings, tmp_path: Path) -> None:
    write(tmp_path / name, TORN)
    given = f"./{name}"
    ran = recordings("check", given)
    assert ran.code == 1
    advice = ran.err.partition("'openprogram ")[2].partition("' keeps the complete calls")[0]
    assert str(tmp_path / name) in advice
    assert "--repair" not in ran.out
    assert main(shlex.split(advice)) == 1
    repaired = [path for path in tmp_path.iterdir() if ".repaired" in path.name]
    assert len(repaired) == 1
    assert recordings("check", str(repaired[0])).code == 0


def test_a_repair_does_not_recommend_itself(recordings: Recordings, tmp_path: Path) -> None:
    write(tmp_path / "one.jsonl", TORN)
    ran = recordings("check", "one.jsonl", "--repair")
    assert ran.code == 1
    assert "--repair" not in ran.out + ran.err
    assert "one.repaired.jsonl" in ran.err


def test_nothing_is_written_where_no_call_is_complete(recordings: Recordings, tmp_path: Path) -> None:
    write(tmp_path / "one.jsonl", NO_CALL_WHOLE)
    for arguments in (["check", "one.jsonl"], ["check", "one.jsonl", "--repair"]):
        ran = recordings(*arguments)
        assert ran.code == 1
        assert "--repair" not in ran.out + ran.err
    assert "There is no complete call to keep, so no file was written." in ran.err
    assert json.loads(recordings("check", "one.jsonl", "--repair", "--json").out)["repaired"] is None
    assert [path.name for path in tmp_path.iterdir()] == ["one.jsonl"]


def test_other_commands_recommend_the_repair_of_the_file(recordings: Recordings, tmp_path: Path) -> None:
    write(tmp_path / "one.jsonl", TORN)
    ran = recordings("replay", "one.jsonl")
    assert ran.code == 1
    assert f"'openprogram recordings check --repair {tmp_path / 'one.jsonl'}' keeps" in ran.err
    write(tmp_path / "none.jsonl", b"a,b,c\n")
    assert "--repair" not in recordings("replay", "none.jsonl").err


def test_a_difference_says_once_which_file_is_which(recordings: Recordings, tmp_path: Path) -> None:
    for name, old, new in (("one", b"", b""), ("two", b"made-up-1", b"made-up-2")):
        write(tmp_path / f"{name}.jsonl", conversation().replace(old, new) if old else conversation())
    ran = recordings("diff", "one.jsonl", "two.jsonl")
    assert ran.code == 1
    assert ran.out.startswith(f"A: {tmp_path / 'one.jsonl'}\nB: {tmp_path / 'two.jsonl'}\ncall 0")
    assert ran.out.count("one.jsonl") == 1
    assert recordings("diff", "one.jsonl", "one.jsonl").out == ""


def test_a_demo_over_an_unknown_api_is_advised_for_a_command_line(tmp_path: Path) -> None:
    ran = run("demo", "--model", "m", "--api", "smoke-signals", home=tmp_path)
    assert ran.code == 1
    assert "the wire API 'smoke-signals': give --api one of anthropic-messages, " in ran.err
    assert "register_api_provider" not in ran.err


@pytest.mark.parametrize("provider", ["openai", "somebody"])
def test_a_demo_without_a_key_is_advised_for_a_command_line(
    provider: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    kept = tmp_path / "kept.jsonl"
    ran = run("demo", "--model", "m", "--provider", provider, "--keep", str(kept), home=tmp_path)
    assert ran.code == 1
    assert f"provider {provider!r}" in ran.err
    assert "environment variable" in ran.err
    assert "StreamOptions" not in ran.err
    assert ("OPENAI_API_KEY" in ran.err) == (provider == "openai")
    assert not kept.exists()
