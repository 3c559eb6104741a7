"""The JSON of the commands that load plugins keeps to its schema, whether they find something or nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from openprogram_core.cli import COMMANDS
from openprogram_core.providers import Context, UserMessage
from tests.cli.test_changes import JSON_RUNS, SCHEMAS
from tests.cli.test_plugins_list import install
from tests.support.command_line import environment, run
from tests.support.json_schema import faults
from tests.support.recording_files import call, conversation, header, text_events, write

KEY = "sk-" + "proj-" + "Synthetic0Value1Only2Test3Synthetic0Value1Only2Test3"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    home = tmp_path / "home"
    write(home / "recordings" / "one.jsonl", conversation())
    asked = Context(messages=[UserMessage(content=f"my key is {KEY}", timestamp=1)])
    leaking = header() + call(0, asked, text_events("yes")) + call(1, Context(), [])
    write(home / "recordings" / "leaking.jsonl", leaking)
    write(home / "recordings" / "shorter.jsonl", header() + call(0, Context(), text_events("no")))
    (home / "config.toml").write_text('[plugins]\ndisabled = ["openprogram_google", "nobody"]\n')
    return home


RUNS = {
    ("recordings scan", 0): ["recordings", "scan", "one"],
    ("recordings scan", 1): ["recordings", "scan", "leaking"],
    ("recordings diff", 0): ["recordings", "diff", "one", "one"],
    ("recordings diff", 1): ["recordings", "diff", "one", "leaking"],
    ("recordings diff ", 1): ["recordings", "diff", "one", "shorter"],
    ("plugins list", 0): ["plugins", "list"],
    ("plugins check", 1): ["plugins", "check", "acme_good", "acme_bad"],
    ("redact", 0): ["redact"],
}


@pytest.mark.parametrize(("name", "code"), RUNS)
def test_json_keeps_to_its_schema(name: str, code: int, home: Path, tmp_path: Path) -> None:
    variables = {}
    if name.startswith("plugins"):
        variables = install(tmp_path / "site", "acme_good", "acme_bad")
    said = {"stdin": f"key {KEY}"} if name == "redact" else {}
    ran = run(*RUNS[name, code], "--json", home=home, env=environment(home, **variables), **said)
    assert ran.code == code, ran
    document = json.loads(ran.out)
    assert faults(document, SCHEMAS[name.strip()]) == []
    assert ran.out.isascii()
    if "findings" in document:
        assert KEY not in ran.out
        assert bool(document["findings"]) == (code == 1 or name == "redact")


def test_every_command_with_json_has_a_schema_and_a_run() -> None:
    import importlib

    runs = {name.strip() for name, _ in RUNS} | set(JSON_RUNS)
    for group, names in COMMANDS.items():
        for name in names:
            module = importlib.import_module("openprogram_core.cli." + "_".join(filter(None, [group, name])))
            if any("--json" in parameter.opts for parameter in module.command.params):
                assert f"{group} {name}".strip() in SCHEMAS
    assert runs == set(SCHEMAS)
