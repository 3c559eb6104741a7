"""``openprogram plugins list`` says what would block recording, and which disabled names nobody has."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.command_line import environment, run

HEAD = """
from openprogram_core import hookimpl
from openprogram_core.redaction import ValueRule
@hookimpl
def secret_rules():
    return [ValueRule(name="acme", literals=("acme_",), pattern=%r, matches=("acme_x",))]
"""
PATTERNS = {"acme_good": "acme_x", "acme_bad": "acme_(?=x)", "acme_worse": "acme_(x"}


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "home").mkdir()
    return tmp_path / "home"


def install(folder: Path, *names: str) -> dict[str, str]:
    """Lay the plugins down as installed ones; returns what the environment has to say of them."""
    for name in names:
        info = folder / f"{name}-1.0.dist-info"
        info.mkdir(parents=True)
        (folder / f"{name}.py").write_text(HEAD.replace('"acme"', f'"{name}"') % PATTERNS[name])
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[openprogram.plugins]\n{name} = {name}\n")
    return {"PYTHONPATH": str(folder)}


def test_rules_that_do_not_compile_are_a_fault_of_their_plugin(tmp_path: Path, home: Path) -> None:
    variables = environment(home, **install(tmp_path / "site", *PATTERNS))
    ran = run("plugins", "list", home=home, env=variables)
    assert ran.code == 0, ran
    states = {line.split()[0]: line.split()[3] for line in ran.out.splitlines()[1:]}
    assert states["acme_good"] == states["openprogram_redaction"] == "loaded"
    for name in ("acme_bad", "acme_worse"):
        assert states[name] == "faulty"
        assert f"error: {name}: rule {name!r}: " in ran.err
    assert "acme_good" not in ran.err
    assert "record and replay are blocked" in ran.err
    document = json.loads(run("plugins", "list", "--json", home=home, env=variables).out)
    found = {plugin["name"]: plugin for plugin in document["plugins"]}
    assert found["acme_bad"]["state"] == "faulty"
    assert len(found["acme_bad"]["faults"]) == 1
    assert found["acme_good"]["faults"] == []


def test_a_disabled_name_that_nobody_has_is_called_unknown(home: Path) -> None:
    (home / "config.toml").write_text(
        '[plugins]\ndisabled = ["openprogram_gogle", "x", "openprogram_openai"]\n'
    )
    ran = run("plugins", "list", home=home)
    assert ran.code == 0
    assert "names 'openprogram_gogle', and no installed plugin is called that. Did you mean" in ran.err
    assert "names 'x', and no installed plugin is called that." in ran.err
    assert "'openprogram_openai'" not in ran.err.replace("Did you mean 'openprogram_openai'", "")
    document = json.loads(run("plugins", "list", "--json", home=home).out)
    assert document["unknown_disabled"] == ["openprogram_gogle", "x"]


def test_rules_are_looked_at_without_the_built_in_ones_too(tmp_path: Path, home: Path) -> None:
    (home / "config.toml").write_text('[plugins]\ndisabled = ["openprogram_redaction"]\n')
    variables = environment(home, **install(tmp_path / "site", "acme_good", "acme_bad"))
    ran = run("plugins", "list", home=home, env=variables)
    assert "error: acme_bad: " in ran.err
    assert "acme_good" not in ran.err
