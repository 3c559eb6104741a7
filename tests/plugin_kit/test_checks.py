"""The checks as a plugin's author meets them: in tests, with a module or an object at hand."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

import pytest

import openprogram_core
from openprogram_core import OpenProgramError
from openprogram_core.cli import main
from openprogram_core.comparison import FieldSkip
from openprogram_core.plugin_kit.import_checks import check_import
from openprogram_core.providers import ApiProvider
from openprogram_core.redaction import PLACEHOLDER, FieldRule, SecretRule, ValueRule
from openprogram_core.testing import (
    ScriptedProvider,
    check_plugin,
    first_difference,
    plugin_set,
    redacted,
)

TOKEN = "zork_" + "0123456789ab"


class Zork:
    """A sound plugin that is an object."""

    @openprogram_core.hookimpl
    def secret_rules(self) -> Iterable[SecretRule]:
        yield ValueRule(
            name="zork-token",
            literals=("zork_",),
            pattern="zork_[0-9a-f]{12}",
            matches=(TOKEN,),
            rejects=("zork_",),
        )
        yield FieldRule(name="zork-grue", names=("grue",), matches=("Grue",))

    @openprogram_core.hookimpl
    def field_skips(self) -> list[FieldSkip]:
        return [FieldSkip("options.metadata.lantern", reason="new on every run")]

    @openprogram_core.hookimpl
    def api_providers(self) -> dict[str, ApiProvider]:
        return {"zork": ScriptedProvider(["You are in a maze."])}


class Leaky:
    """A plugin with three faults."""

    @openprogram_core.hookimpl
    def secret_rules(self) -> list[SecretRule]:
        return [
            ValueRule(name="leaky-a", literals=("leak_",), pattern="leak_(", matches=("leak_1",)),
            ValueRule(name="leaky-b", literals=("drip_",), pattern="leak_[0-9]", matches=("leak_1",)),
        ]

    @openprogram_core.hookimpl
    def redact_value(self, value: str) -> str:
        return value + "!"


def test_a_sound_plugin_passes_and_takes_effect_without_being_installed() -> None:
    check_plugin(Zork())
    value = {"note": f"take {TOKEN}", "grue": ["dark"], "lamp": "lit"}
    assert redacted(value, plugins=[Zork()]) == {
        "note": f"take {PLACEHOLDER}",
        "grue": PLACEHOLDER,
        "lamp": "lit",
    }
    assert redacted(f"take {TOKEN}") == f"take {TOKEN}"
    recorded = {"options": {"metadata": {"lantern": 1, "sword": 1}}}
    incoming = {"options": {"metadata": {"lantern": 2, "sword": 2}}}
    difference = first_difference(recorded, incoming, plugins=[Zork()])
    assert difference is not None
    assert difference.field_path == "options.metadata.sword"
    assert "Zork" in plugin_set(Zork()).names()


def test_every_fault_is_named_with_its_rule_and_the_next_step() -> None:
    with pytest.raises(AssertionError) as failure:
        check_plugin(Leaky(), name="leaky")
    text = str(failure.value)
    assert "leaky, secret_rules: rule 'leaky-a'" in text
    assert "leaky, secret_rules: rule 'leaky-b'" in text
    assert "leaky, redact_value: redacting twice gives another result" in text
    assert "Leave alone what it has returned" in text


def test_one_plugin_twice_or_under_a_taken_name_is_refused() -> None:
    with pytest.raises(OpenProgramError, match="plugin 'Zork': a plugin of this name is loaded already"):
        plugin_set(Zork(), Zork())


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("import time; time.sleep(60)", "its import did not end within 3 s"),
        ("import os; os._exit(0)", "its import ended the interpreter"),
        ("import threading; threading.Thread(target=threading.Event().wait, daemon=True).start()", "thread"),
        ("import socket; socket.socket().bind(('127.0.0.1', 0))", "its import bound a socket"),
        ("import logging; logging.basicConfig()", "added a handler to the root logger"),
        ("import openprogram_core; openprogram_core.initialize_provider_runtime()", "the provider runtime"),
    ],
)
def test_an_import_that_does_more_than_define_names_is_found(
    code: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "zork_impure.py").write_text(code, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    findings = list(check_import("zork", "zork_impure", timeout=3 if "sleep" in code else 60))
    assert message in " ".join(finding.message for finding in findings)
    assert all(finding.level == "error" and "inside the hook" in finding.next_step for finding in findings)


def test_importing_and_asking_for_a_version_are_no_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = "import json, importlib.metadata\nfrom openprogram_core import hookimpl\n"
    code += "__version__ = importlib.metadata.version('pluggy')\n"
    (tmp_path / "zork_pure.py").write_text(code, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    assert list(check_import("zork", "zork_pure")) == []


def test_the_plugins_of_this_distribution_pass_their_own_checks(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("OPENPROGRAM_HOME", str(tmp_path))
    assert main(["plugins", "check", "openprogram-core", "--json"]) == 0, capsys.readouterr().out
    plugins = json.loads(capsys.readouterr().out)["plugins"]
    assert len(plugins) == 7
    assert all(plugin["clean"] for plugin in plugins)


def test_a_plugin_that_is_not_installed_is_trouble(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("OPENPROGRAM_HOME", str(tmp_path))
    assert main(["plugins", "check", "zork"]) == 2
    assert "'zork': no installed plugin or distribution has this name" in capsys.readouterr().err


def test_a_disabled_plugin_is_listed_as_such_whatever_the_configuration_looks_like(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("OPENPROGRAM_HOME", str(tmp_path))
    configuration = tmp_path / "config.toml"
    configuration.write_text('[plugins]\ndisabled = ["openprogram_google"]\n', encoding="utf-8")
    assert main(["plugins", "list", "--json"]) == 0
    states = {plugin["name"]: plugin["state"] for plugin in json.loads(capsys.readouterr().out)["plugins"]}
    assert states["openprogram_google"] == "disabled"
    assert states["openprogram_openai"] == "loaded"
    configuration.write_text("[plugins\n", encoding="utf-8")
    assert main(["plugins", "list"]) == 0
    captured = capsys.readouterr()
    assert "openprogram_google" in captured.out
    assert "config.toml" in captured.err
