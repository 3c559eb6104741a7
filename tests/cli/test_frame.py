"""Help, wrong use, and what all commands share."""

from __future__ import annotations

import importlib
import io
import sys
import time
from pathlib import Path

import click
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from openprogram_core import __version__
from openprogram_core.cli import COMMANDS, _progress, main
from openprogram_core.cli._command import openprogram_command
from openprogram_core.cli._output import format_age, format_size, printable, printable_json
from openprogram_core.cli._progress import Progress
from tests.support.command_line import call, environment, run

ALL = [(group, name) for group, names in COMMANDS.items() for name in names]


@pytest.mark.parametrize(("group", "name"), ALL, ids=lambda part: part or "-")
def test_every_command_has_help_with_examples(
    group: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = [group, name] if group else [name]
    ran = call(*words, "--help", home=tmp_path, monkeypatch=monkeypatch)
    if (
        ran.code == 1
        and "not part of this installation" in call(*words, home=tmp_path, monkeypatch=monkeypatch).err
    ):
        pytest.skip("this command's file is not there")
    assert ran.code == 0, ran
    assert ran.out.startswith(f"Usage: openprogram {' '.join(words)} ")
    examples = ran.out.partition("\nExamples:\n")[2].rstrip("\n").split("\n")
    assert examples
    assert all(f"openprogram {' '.join(words)}" in example for example in examples)
    module = importlib.import_module("openprogram_core.cli." + "_".join(words))
    assert module.command.short_help == COMMANDS[group][name]


@pytest.mark.parametrize("words", [["recordings"], ["plugins"], []], ids=str)
def test_groups_list_their_commands(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran = call(*words, "-h", home=tmp_path, monkeypatch=monkeypatch)
    assert ran.code == 0
    assert "Examples:" in ran.out
    for name in COMMANDS[words[0] if words else ""]:
        assert f"\n  {name} " in ran.out
    bare = call(*words, home=tmp_path, monkeypatch=monkeypatch)
    assert (bare.code, bare.out) == (2, "")
    assert "Commands:" in bare.err


def test_version(tmp_path: Path) -> None:
    assert run("--version", home=tmp_path) == (0, f"openprogram {__version__}\n", "")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["recordings", "lst"], "no such command 'lst'. Did you mean 'list'?"),
        (["record"], "no such command 'record'. Did you mean 'recordings'?"),
        (["recordings", "list", "--jsn"], "--json"),
        (["recordings", "show"], "Missing argument 'ID-or-PATH'"),
        (["recordings", "record", "--name", "../x"], "an id is a letter or digit"),
        (["recordings", "record", "--name", "con"], "Windows reserves this name"),
        (["recordings", "delete", "../x", "--yes"], "an id is a letter or digit"),
        (["recordings", "show", ".."], "For a file of another name, give its path, as in ./.."),
        (["recordings", "prune"], "Missing option '--older-than-days'"),
        (["recordings", "prune", "--older-than-days", "-1"], "-1"),
        (["recordings", "show", "x", "--content", "--json"], "there is no such recording"),
    ],
    ids=str,
)
def test_wrong_use(arguments: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ran = call(*arguments, home=tmp_path / "home", monkeypatch=monkeypatch)
    assert ran.code == (1 if "no such recording" in said else 2), ran
    assert ran.out == ""
    assert said in ran.err
    assert not (tmp_path / "home").exists()


def test_a_command_whose_file_is_missing_is_a_clean_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(COMMANDS["recordings"], "vanished", "It is gone.")
    ran = call("recordings", "vanished", "--some", "thing", home=tmp_path, monkeypatch=monkeypatch)
    assert ran.code == 1
    assert "the command 'vanished' is not part of this installation. Reinstall it" in ran.err
    assert "vanished" in call("recordings", "-h", home=tmp_path, monkeypatch=monkeypatch).out


def fake_command(monkeypatch: pytest.MonkeyPatch, error: BaseException | None, trouble_exit: int) -> None:
    monkeypatch.setitem(COMMANDS["recordings"], "fake", "Do what the test wants.")

    @openprogram_command("recordings", "fake", examples=[], trouble_exit=trouble_exit)
    def command() -> int:
        """Do what the test wants."""
        if error is not None:
            raise error
        return 1

    module = type(sys)("openprogram_core.cli.recordings_fake")
    module.command = command  # type: ignore[attr-defined]  # as a command's file has it
    monkeypatch.setitem(sys.modules, module.__name__, module)


@pytest.mark.parametrize("trouble", [1, 2])
def test_exit_codes_of_a_command_that_raises(
    trouble: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for error, code, said in (
        (None, 1, ""),
        (FileNotFoundError(2, "No such file or directory", "/a\x1b[m"), trouble, "/a\\x1b[m: No such file"),
        (RuntimeError("a fault\x1b[m"), trouble, "a fault\\x1b[m"),
        (KeyboardInterrupt(), 130, "interrupted"),
        (BrokenPipeError(), 0 if trouble == 1 else 2, ""),
        (click.UsageError("so not"), 2, "so not"),
    ):
        fake_command(monkeypatch, error, trouble)
        ran = call("recordings", "fake", home=tmp_path, monkeypatch=monkeypatch)
        assert ran.code == code, error
        assert said in ran.err


def test_shell_completion_offers_the_managed_ids(tmp_path: Path) -> None:
    from tests.support.recording_files import conversation, write

    for name in ("checkout", "cherry", "other"):
        write(tmp_path / "recordings" / f"{name}.jsonl", conversation())
    variables = environment(
        tmp_path,
        _OPENPROGRAM_COMPLETE="bash_complete",
        COMP_WORDS="openprogram recordings show che",
        COMP_CWORD="3",
    )
    assert "plain,checkout\nplain,cherry\n" in run(home=tmp_path, env=variables).out
    script = run(home=tmp_path, env=environment(tmp_path, _OPENPROGRAM_COMPLETE="zsh_source"))
    assert "compdef _openprogram_completion openprogram" in script.out


def test_progress_is_silent_when_it_is_quick(capsys: pytest.CaptureFixture[str]) -> None:
    with Progress("Looking"):
        pass
    assert capsys.readouterr() == ("", "")


def test_progress_is_one_line_where_there_is_no_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(_progress, "PATIENCE_S", 0.01)
    with Progress("Looking\x1b[m", 10) as progress:
        progress.update(5)
        time.sleep(0.2)
    assert capsys.readouterr() == ("", "Looking\\x1b[m ...\n")


def test_progress_is_one_line_rewritten_and_wiped_at_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(_progress, "PATIENCE_S", 0.01)
    monkeypatch.setattr(_progress, "REFRESH_S", 0.01)
    with Progress("Looking", 10) as progress:
        progress.update(5)
        time.sleep(0.2)
    assert "\rLooking 50 %\x1b[K" in terminal.getvalue()
    assert terminal.getvalue().endswith("\r\x1b[K")


@given(st.text())
@settings(deadline=None)
def test_printable_text_moves_no_cursor_and_hides_nothing(text: str) -> None:
    shown = printable(text)
    assert all(character.isprintable() or character in "\u200c\u200d" for character in _seen(shown))
    assert printable(shown) == shown
    assert set(printable(text, multiline=True)) & set("\r\x1b\u202e") == set()
    if text.isprintable():
        assert shown == text


def _seen(text: str) -> str:
    # Unassigned and private characters show as boxes: not printable for Python, harmless for a terminal.
    import unicodedata

    harmless = ("Cn", "Co", "Zs", "Zl", "Zp", "Cf")
    return "".join(one for one in text if unicodedata.category(one) not in harmless)


@given(st.recursive(st.text() | st.integers() | st.none(), lambda inner: st.lists(inner, max_size=4)))
@settings(deadline=None)
def test_printable_json_is_the_same_value(value: object) -> None:
    import json

    text = json.dumps(value, ensure_ascii=False)
    assert json.loads(printable_json(text)) == value
    assert not set(printable_json(text)) & set("\x1b\x9b\u202e\u2028\x7f")


@pytest.mark.parametrize(
    ("size", "shown"),
    [(0, "0 B"), (999, "999 B"), (1000, "1.0 kB"), (999_949, "999.9 kB"), (10**9, "1.0 GB")],
)
def test_sizes(size: int, shown: str) -> None:
    assert format_size(size) == shown


@pytest.mark.parametrize(
    ("seconds", "shown"), [(-5, "0 s"), (59.9, "59 s"), (60, "1 min"), (7199, "1 h"), (86400 * 45, "45 d")]
)
def test_ages(seconds: float, shown: str) -> None:
    assert format_age(seconds) == shown


def test_main_returns_instead_of_exiting() -> None:
    assert main(["--version"]) == 0
