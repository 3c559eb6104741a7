"""What a terminal, a pipe and a locale do to the command line. Real processes throughout."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
from pathlib import Path

import pytest

from tests.support.command_line import COMMAND, environment, run
from tests.support.recording_files import conversation, write
from tests.support.terminal import run_at_terminal

EVIL = "a\x1b[31mred\x1b]0;title\x07\rhidden\u202eesrever\u2066\x9b2J\nanswer"
HARMFUL = "\x1b\x07\r\u202e\u2066\x9b"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    write(tmp_path / "recordings" / "one.jsonl", conversation())
    return tmp_path


@pytest.fixture
def evil_home(tmp_path: Path) -> Path:
    content = conversation(EVIL, EVIL).replace(b"made-up-1", b"made\\u001b[31m\\u202e")
    write(tmp_path / "recordings" / "one.jsonl", content)
    write(tmp_path / "recordings" / "e\x1b[31m\u202evil.jsonl", conversation())
    return tmp_path


@pytest.mark.parametrize(
    "arguments",
    [
        ["show", "one"],
        ["show", "one", "--call", "1"],
        ["show", "one", "--content"],
        ["show", "one", "--json"],
        ["show", "one", "--call", "0", "--json"],
        ["list"],
        ["list", "--json"],
        ["show", "no\x1b[31m\u202e"],
        ["delete", "no\x1b[31m\u202e", "--yes"],
        ["no\x1b[31m\u202e"],
        ["show", "--no\x1b[31m\u202e"],
    ],
    ids=str,
)
def test_nothing_recorded_or_typed_reaches_the_terminal_as_a_command(
    arguments: list[str], evil_home: Path
) -> None:
    ran = run("recordings", *arguments, home=evil_home)
    assert not set(HARMFUL) & set(ran.out + ran.err)
    assert ran.code in (0, 1, 2)


def test_a_recorded_line_cannot_pass_for_a_heading(evil_home: Path) -> None:
    ran = run("recordings", "show", "one", "--call", "1", home=evil_home)
    assert ran.out.split("\n").count("answer") == 1
    assert "  answer" in ran.out.split("\n")


def test_content_is_the_same_json_with_the_harmful_characters_escaped(evil_home: Path) -> None:
    ran = run("recordings", "show", "one", "--content", home=evil_home)
    rows = (evil_home / "recordings" / "one.jsonl").read_text().splitlines()
    assert [json.loads(row) for row in ran.out.splitlines()] == [json.loads(row) for row in rows]
    assert "may be private" in ran.err


def test_a_pipe_closed_early_is_no_error(home: Path) -> None:
    content = conversation("x" * 300_000)
    write(home / "recordings" / "long.jsonl", content)
    shell = f"{' '.join(COMMAND)} recordings show long --content | head -c 10; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(
        ["bash", "-c", shell], env=environment(home), capture_output=True, text=True, check=False
    )
    assert done.stdout == '{"type":"h0\n'
    assert "Traceback" not in done.stderr
    assert "Broken pipe" not in done.stderr


def test_help_into_a_pipe_that_is_closed(home: Path) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    try:
        done = subprocess.run(
            [*COMMAND, "--help"], env=environment(home), stdout=writer, stderr=subprocess.PIPE, check=False
        )
    finally:
        os.close(writer)
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_under_stdout_is_said(home: Path) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [*COMMAND, "recordings", "list"],
            env=environment(home),
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 1
    assert "No space left on device" in done.stderr
    assert "Traceback" not in done.stderr


def test_closed_streams(home: Path) -> None:
    shell = f"{' '.join(COMMAND)} recordings list >&- 2>&-"
    done = subprocess.run(["bash", "-c", shell], env=environment(home), check=False)
    assert done.returncode == 0


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
@pytest.mark.parametrize("arguments", [["one", "--call", "1"], ["one", "--content"], ["one"]], ids=str)
def test_a_locale_without_unicode(arguments: list[str], encoding: str, tmp_path: Path) -> None:
    write(tmp_path / "recordings" / "one.jsonl", conversation("żółć 漢字 😀", "żółć 漢字 😀"))
    speaking = environment(tmp_path, PYTHONIOENCODING=encoding)
    ran = run("recordings", "show", *arguments, home=tmp_path, env=speaking, encoding="latin-1")
    assert ran.code == 0, ran
    assert "Traceback" not in ran.err
    if "--content" in arguments:
        assert [json.loads(row) for row in ran.out.splitlines()][1]["type"] == "request"


def test_ctrl_c_ends_cleanly(home: Path) -> None:
    write(home / "recordings" / "huge.jsonl", conversation() * 20_000)
    process = subprocess.Popen(
        [*COMMAND, "recordings", "show", "huge", "--content"],
        env=environment(home),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    # Its pipe is full and it is in the middle of its work.
    process.stdout.read(1000)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert b"Traceback" not in err
    assert err.endswith(b"error: interrupted\n")


def test_colour_on_a_terminal_only(home: Path) -> None:
    assert "\x1b[1m" in run_at_terminal("recordings", "list", home=home).out
    assert "\x1b" not in run_at_terminal("recordings", "list", home=home, NO_COLOR="1").out
    assert "\x1b" not in run_at_terminal("recordings", "list", home=home, TERM="dumb").out
    assert "\x1b" not in run("recordings", "list", home=home).out


def test_a_narrow_terminal_gets_blocks_instead_of_columns(home: Path) -> None:
    shown = run_at_terminal("recordings", "list", home=home, columns=30, NO_COLOR="1").out
    assert "id: one\n" in shown
    assert "state: ok\n" in shown
    wide = run_at_terminal("recordings", "list", home=home, columns=100, NO_COLOR="1").out
    assert "ID   MODIFIED" in wide
    help_text = run_at_terminal("-h", home=home, columns=60).out.partition("Examples:")[0]
    assert max(map(len, help_text.split("\n"))) < 60


@pytest.mark.parametrize(("typed", "code", "left"), [("y\n", 0, False), ("n\n", 1, True), ("\n", 1, True)])
def test_delete_asks_at_a_terminal(typed: str, code: int, left: bool, home: Path) -> None:
    ran = run_at_terminal("recordings", "delete", "one", home=home, typed=typed)
    assert "Delete the recording one for good? [y/N]" in ran.out
    assert ran.code == code
    assert (home / "recordings" / "one.jsonl").exists() is left


def test_prune_lists_what_would_go_and_asks(home: Path) -> None:
    ran = run_at_terminal("recordings", "prune", "--older-than-days", "0", home=home, typed="y\n")
    assert "  one  " in ran.out
    assert "Delete 1 recording for good? [y/N]" in ran.out
    assert not (home / "recordings" / "one.jsonl").exists()


def test_ctrl_c_and_end_of_input_at_a_question_delete_nothing(home: Path) -> None:
    ran = run_at_terminal("recordings", "delete", "one", home=home, typed="\x04")
    assert ran.code == 1
    assert (home / "recordings" / "one.jsonl").exists()


def test_a_home_that_cannot_be_written(tmp_path: Path) -> None:
    # Modes do not bind root, unless it runs without the capability that frees it from them.
    prefix: list[str] = []
    if os.geteuid() == 0:
        if shutil.which("setpriv") is None:
            pytest.skip("runs as root, and setpriv is missing, which makes modes count")
        prefix = ["setpriv", "--bounding-set=-dac_override,-dac_read_search,-fowner"]
    tmp_path.chmod(0o555)
    home = tmp_path / "home"
    for command in ("status", "list", "off", "record"):
        done = subprocess.run(
            [*prefix, *COMMAND, "recordings", command],
            env=environment(home),
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == (1 if command == "record" else 0), done
        assert "Traceback" not in done.stderr
    assert "Permission denied. Check the folder's owner and mode" in done.stderr
    assert done.stdout == ""
