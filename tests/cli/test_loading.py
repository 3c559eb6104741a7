"""What a command may load, and that status and off work whatever is broken around them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.command_line import environment, run
from tests.support.recording_files import conversation, write

HEAVY = [
    *("pluggy", "importlib_metadata", "structlog", "rich", "re2", "ahocorasick_rs", "httpx"),
    *("openprogram_core._plugins", "openprogram_core._runtime", "openprogram_core.hookspecs"),
    *("openprogram_record", "openprogram_replay", "openprogram_redaction", "openprogram_field_skips"),
    *("openprogram_openai", "openai", "anthropic", "google.genai"),
]
# Also too slow for commands that people run all the time.
SLOW = ["pydantic", "filelock", "tomlkit", "platformdirs", "asyncio"]

LOADED = """
import sys
from openprogram_core.cli import main
code = main(sys.argv[2:])
print(*sorted(set(sys.argv[1].split(",")) & set(sys.modules)), file=sys.stderr)
sys.exit(code)
"""


def loaded(home: Path, modules: list[str], *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", LOADED, ",".join(modules), *arguments],
        env=environment(home),
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stderr.splitlines()[-1]


@pytest.mark.parametrize(
    "arguments",
    [
        ["recordings", "status"],
        ["recordings", "record"],
        ["recordings", "replay", "one"],
        ["recordings", "off"],
        ["recordings", "list"],
        ["recordings", "show", "one"],
        ["recordings", "show", "one", "--call", "0"],
        ["recordings", "delete", "one", "--yes"],
        ["recordings", "prune", "--older-than-days", "1", "--yes"],
    ],
    ids=str,
)
def test_the_specs_commands_load_no_plugin_and_no_runtime(arguments: list[str], tmp_path: Path) -> None:
    write(tmp_path / "recordings" / "one.jsonl", conversation())
    assert loaded(tmp_path, HEAVY, *arguments) == ""


@pytest.mark.parametrize("arguments", [["recordings", "status"], ["recordings", "list"], ["--help"]], ids=str)
def test_what_is_run_all_the_time_is_light(arguments: list[str], tmp_path: Path) -> None:
    write(tmp_path / "recordings" / "one.jsonl", conversation())
    (tmp_path / "config.toml").write_text('[record_replay]\nmode = "record"\nfile = "one.jsonl"\n')
    assert loaded(tmp_path, [*HEAVY, *SLOW], *arguments) == ""


BROKEN_PLUGIN = "raise SystemExit('this plugin is broken')\n"


def configured(home: Path, state: str) -> None:
    path = home / "recordings" / "one.jsonl"
    if state == "corrupt file":
        write(path, conversation()[:500])
    elif state == "newer version":
        write(path, conversation().replace(b'"format_version":1', b'"format_version":99', 1))
    elif state == "no recording at all":
        write(path, bytes(range(256)))
    mode = "[record_replay]\nmode = 'replay'\nfile = 'one.jsonl'\n"
    (home / "config.toml").write_text("[[[\n" if state == "corrupt configuration" else mode)


@pytest.mark.parametrize(
    ("state", "said"),
    [
        ("missing file", "there is no such file"),
        ("corrupt file", "the last row is cut short"),
        ("newer version", "format version 99, and this version of openprogram-core reads 1 only"),
        ("no recording at all", "it is no recording header"),
        ("corrupt configuration", "config.toml, line 1"),
    ],
)
def test_status_and_off_work_whatever_is_broken(state: str, said: str, tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    configured(home, state)
    # A plugin that cannot be imported, and no vendor's SDK anywhere.
    packages = tmp_path / "packages"
    info = packages / "broken-1.0.dist-info"
    info.mkdir(parents=True)
    (packages / "broken_plugin.py").write_text(BROKEN_PLUGIN)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: broken\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[openprogram.plugins]\nbroken = broken_plugin\n")
    for sdk in ("openai", "anthropic", "pluggy"):
        (packages / f"{sdk}.py").write_text(BROKEN_PLUGIN)
    variables = environment(home, PYTHONPATH=str(packages))
    status = run("recordings", "status", home=home, env=variables)
    assert status.code == (1 if state == "corrupt configuration" else 0)
    assert said in status.err
    assert "provider call is blocked" in status.err
    document = json.loads(run("recordings", "status", "--json", home=home, env=variables).out)
    assert [said in problem["reason"] for problem in document["problems"]] == [True]
    off = run("recordings", "off", home=home, env=variables)
    assert off.code == 0, off
    after = run("recordings", "status", home=home, env=variables)
    assert (after.code, "mode:          off" in after.out) == (0, True)


def test_status_says_how_large_an_active_recording_has_grown(tmp_path: Path) -> None:
    write(tmp_path / "recordings" / "one.jsonl", conversation())
    (tmp_path / "config.toml").write_text('[record_replay]\nmode = "record"\nfile = "one.jsonl"\n')
    size = (tmp_path / "recordings" / "one.jsonl").stat().st_size
    shown = run("recordings", "status", home=tmp_path).out
    assert f"size:          {size / 1000:.1f} kB, last written" in shown
    assert "calls:         2 calls, 2 of them ended" in shown
    document = json.loads(run("recordings", "status", "--json", home=tmp_path).out)
    assert (document["size"], document["calls"], document["ended"]) == (size, 2, 2)


@pytest.mark.parametrize("name", ["openprogram_record", "openprogram_redaction"])
def test_status_says_that_a_needed_plugin_is_disabled(name: str, tmp_path: Path) -> None:
    write(tmp_path / "recordings" / "one.jsonl", conversation())
    text = f"[record_replay]\nmode='record'\nfile='one.jsonl'\n[plugins]\ndisabled=['{name}']\n"
    (tmp_path / "config.toml").write_text(text)
    assert f"the plugin {name} is disabled, and mode record needs it" in (
        run("recordings", "status", home=tmp_path).err
    )
