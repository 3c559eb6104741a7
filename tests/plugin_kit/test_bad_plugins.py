"""Every way in which a plugin can be bad, in a real environment.

Whatever it does: the user learns which plugin, which hook, and what to do; no secret is on file; and what
does not need the plugin goes on.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from tests.plugin_kit.bad_plugins import MODULES, disable_others, write_bad_plugins
from tests.plugin_kit.environment import Environment, build_wheels, write_package
from tests.support.once import made_once

TRIAL = Path(__file__).with_name("trial.py")

FAILS_TO_LOAD = {
    "bad_import": "importing bad_import raised RuntimeError: no licence for [secret removed]",
    "bad_exit": "importing bad_exit raised SystemExit",
    "bad_signature": "everything",
    "bad_hook": "unknown hook 'secret_rule'",
    "bad_unmarked": "hook secret_rules: has the name of a hook but is not marked",
    "bad_async": "hook secret_rules: is an async function",
    "bad_first": "hook secret_rules: tryfirst, trylast and wrappers are refused",
    "bad_class": "is the class bad_class",
}
BREAKS_RECORDING = {
    "raises_redact_value": "redact_value raised RuntimeError",
    "exits_redact_value": "redact_value raised SystemExit",
    "raises_secret_rules": "hook secret_rules: raised RuntimeError: out of order",
    "wrong_redact_value": "redact_value returned int",
    "wrong_secret_rules": "hook secret_rules: gave a str, not a FieldRule or ValueRule",
    "wrong_generator": "hook secret_rules: raised ZeroDivisionError",
    "wrong_pattern": "wp-look",
    "wrong_example": "we-short",
    "claims_rule": "'token' is claimed by",
    "greedy_rule": "'gr-word': is too broad",
}
BREAKS_REPLAY = {
    "raises_compare_field": "hook compare_field: raised RuntimeError",
    "exits_compare_field": "hook compare_field: raised SystemExit",
    "raises_field_skips": "hook field_skips: raised RuntimeError: out of order",
    "wrong_compare_field": "hook compare_field: returned bool",
    "wrong_field_skips": "hook field_skips: returned a str, not an iterable of FieldSkip",
    "mutates": "hook compare_field: changed",
}
BREAKS_CALLS = {"wrong_wrapped": "hook wrap_provider: wrap() returned None for 'scripted'"}
ONLY_LOGGED = {
    "raises_wrap_provider": ("wrap_provider", "raised RuntimeError"),
    "raises_api_providers": ("api_providers", "raised RuntimeError"),
    "wrong_wrap_provider": ("wrap_provider", "returned a str, not a ProviderWrapper"),
    "wrong_api_providers": ("api_providers", "'echo': a object is no ApiProvider"),
    "claims_api": ("api_providers", "'anthropic-messages' is claimed by"),
}
ONLY_CHECKED = {
    "bad_empty": (None, "it has no hooks", "Mark its functions"),
    "slow_redact": ("redact_value", "s in a request of 2,200 strings", "literal first"),
    "slow_compare": ("compare_field", "µs a field that differs", "literal first"),
    "broad_rule": ("secret_rules", "'br-path' of 'broad_rule' removes part of an ordinary text", "stricter"),
    "skips_all": ("compare_field", "skips 'the whole request'", "Skip only the field"),
    "impure": (None, "imports the vendor's SDK 'openai'", "Do it inside the hook"),
}


@pytest.fixture(scope="module")
def with_bad_plugins(environment: Environment, tmp_path_factory: pytest.TempPathFactory) -> Environment:

    def install_them(folder: Path) -> None:
        (folder / "wheels").mkdir()
        wheels = build_wheels(folder / "wheels", write_bad_plugins(folder / "source"))
        environment.with_packages(folder / "site", *wheels)

    return environment.with_site(made_once(tmp_path_factory, "bad", install_them) / "site")


@pytest.fixture(scope="module")
def trials(
    environment: Environment, with_bad_plugins: Environment, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Any]:
    """What came of every bad plugin, each alone in a process of its own."""
    if not hasattr(os, "fork"):
        pytest.skip("the trials fork, which this system cannot")

    def try_them(folder: Path) -> None:
        made = environment.run([str(TRIAL), str(folder)], folder / "home")
        assert made.returncode == 0, made.stderr
        for name in MODULES:
            disable_others(folder / name, name)
        # Warnings of foreign libraries at import are theirs.
        done = with_bad_plugins.run(
            [str(TRIAL), str(folder), *MODULES], folder / "home", PYTHONWARNINGS="default"
        )
        assert done.returncode == 0, done.stdout + done.stderr
        (folder / "results.json").write_text(done.stdout, encoding="utf-8")

    results = made_once(tmp_path_factory, "trials", try_them) / "results.json"
    found: dict[str, Any] = json.loads(results.read_text(encoding="utf-8"))
    return found


def outcome(trials: dict[str, Any], name: str) -> dict[str, Any]:
    result: dict[str, Any] = trials[name]
    assert "crashed" not in result, result["said"]
    assert not result["record"]["leaked"]
    assert result["mode"] == "off"
    return result


def the_finding(result: dict[str, Any], name: str, hook: str | None, message: str) -> dict[str, str]:
    found: list[dict[str, str]] = [one for one in result["check"] if message in one["message"]]
    assert found, result["check"]
    assert (found[0]["plugin"], found[0]["hook"]) == (name, hook)
    assert found[0]["level"] in ("error", "warning")
    return found[0]


def is_fine(done: dict[str, Any]) -> bool:
    return done.get("gave") == "fine"


def is_a_mismatch(done: dict[str, Any]) -> bool:
    return done.get("raised") == "ReplayMismatch" and "options.metadata.trace.id" in done["message"]


@pytest.mark.parametrize("name", FAILS_TO_LOAD)
def test_one_that_cannot_be_loaded_is_skipped_when_off_and_blocks_recording_and_replay(
    name: str, trials: dict[str, Any]
) -> None:
    result = outcome(trials, name)
    assert result["state"] == "failed"
    assert FAILS_TO_LOAD[name] in result["error"]
    assert is_fine(result["off"])
    for doing in ("record", "replay"):
        assert result[doing]["raised"] == "PluginError"
        assert name in result[doing]["message"]
        assert "Mend or uninstall it, or disable it" in result[doing]["message"]
    assert "Abcd1234" not in json.dumps(result)
    found = the_finding(result, name, None, FAILS_TO_LOAD[name])
    assert "Until it loads, nothing is recorded" in found["next_step"]


@pytest.mark.parametrize("name", BREAKS_RECORDING)
def test_one_whose_redaction_fails_lets_nothing_be_recorded(name: str, trials: dict[str, Any]) -> None:
    result = outcome(trials, name)
    assert is_fine(result["off"])
    assert result["record"]["raised"] in ("PluginError", "PluginConflictError", "RedactionError")
    assert name in result["record"]["message"]
    assert BREAKS_RECORDING[name] in result["record"]["message"]
    assert "raised" in result["replay"]
    assert any(one["level"] == "error" and one["next_step"] for one in result["check"])


@pytest.mark.parametrize("name", BREAKS_REPLAY)
def test_one_whose_comparison_fails_stops_the_replay_and_nothing_else(
    name: str, trials: dict[str, Any]
) -> None:
    result = outcome(trials, name)
    assert is_fine(result["off"])
    assert is_fine(result["record"])
    assert result["replay"]["raised"] == "PluginError"
    assert f"plugin {name!r}" in result["replay"]["message"]
    assert BREAKS_REPLAY[name] in result["replay"]["message"]
    assert any(one["level"] == "error" and one["next_step"] for one in result["check"])


@pytest.mark.parametrize("name", BREAKS_CALLS)
def test_one_that_wraps_a_provider_into_nothing_fails_the_call_by_name(
    name: str, trials: dict[str, Any]
) -> None:
    result = outcome(trials, name)
    for doing in ("off", "record", "replay"):
        assert result[doing]["raised"] == "PluginError"
        assert f"plugin {name!r}, {BREAKS_CALLS[name]}" in result[doing]["message"]


@pytest.mark.parametrize("name", ONLY_LOGGED)
def test_one_that_fails_at_activation_is_logged_and_the_others_go_on(
    name: str, trials: dict[str, Any]
) -> None:
    result = outcome(trials, name)
    hook, message = ONLY_LOGGED[name]
    assert is_fine(result["off"])
    assert is_fine(result["record"])
    assert is_a_mismatch(result["replay"])
    assert message in result["said"]
    assert name in result["said"]
    the_finding(result, name, hook, message)


@pytest.mark.parametrize("name", ONLY_CHECKED)
def test_one_that_is_a_nuisance_works_and_is_found_by_the_check(name: str, trials: dict[str, Any]) -> None:
    result = outcome(trials, name)
    hook, message, step = ONLY_CHECKED[name]
    assert is_fine(result["off"])
    assert is_fine(result["record"])
    assert step in the_finding(result, name, hook, message)["next_step"]


def test_a_rule_without_literals_works_and_is_told_what_it_costs(trials: dict[str, Any]) -> None:
    # Whether it is slow is for the engine to say, which takes no pattern longer than its text.
    result = outcome(trials, "slow_rule")
    assert is_fine(result["record"])
    (figure,) = [one for one in result["check"] if one["hook"] == "secret_rules"]
    assert "'sr-any' has no literals and costs" in figure["message"]
    assert "the built-in rules together: " in figure["message"]


def test_every_bad_plugin_is_tried() -> None:
    tried: list[Iterable[str]] = [FAILS_TO_LOAD, BREAKS_RECORDING, BREAKS_REPLAY, BREAKS_CALLS]
    tried += [ONLY_LOGGED, ONLY_CHECKED, ["slow_rule"]]
    assert sorted(name for group in tried for name in group) == sorted(MODULES)


@pytest.mark.parametrize(
    "name", ["raises_secret_rules", "raises_wrap_provider", "raises_api_providers", "bad_signature"]
)
def test_a_configured_recording_does_not_start_beside_a_bad_plugin(
    name: str, with_bad_plugins: Environment, home: Path
) -> None:
    disable_others(home, name)
    done = with_bad_plugins.openprogram("recordings", "record", home=home)
    assert done.returncode == 0, done.stderr
    code = "import openprogram_core; print(openprogram_core.initialize_provider_runtime().mode)"
    done = with_bad_plugins.run(["-c", code], home)
    assert (done.returncode, done.stdout) == (0, "blocked\n")
    assert name in done.stderr


def test_a_list_of_them_all_says_what_is_wrong_with_each(with_bad_plugins: Environment, home: Path) -> None:
    done = with_bad_plugins.openprogram(
        "plugins",
        "list",
        home=home,
    )
    assert done.returncode == 0, done.stderr
    for name in FAILS_TO_LOAD:
        assert f"error: {name}: " in done.stderr
    assert "warning: bad_empty: it has no hooks" in done.stderr
    assert "record and replay are blocked while a plugin fails" in done.stderr
    # One of them prints when it is imported, and the document is one all the same.
    plugins = {name: rows[0] for name, rows in listed(with_bad_plugins, home).items()}
    assert set(MODULES) < set(plugins)
    assert plugins["impure"]["state"] == "loaded"
    assert plugins["wrong_secret_rules"]["faults"] == [
        "hook secret_rules: gave a str, not a FieldRule or ValueRule"
    ]


def install(environment: Environment, tmp_path: Path, *sources: Path) -> Environment:
    (tmp_path / "wheels").mkdir()
    return environment.with_packages(tmp_path / "site", *build_wheels(tmp_path / "wheels", *sources))


def listed(environment: Environment, home: Path) -> dict[str, list[dict[str, Any]]]:
    done = environment.openprogram("plugins", "list", "--json", home=home)
    assert done.returncode == 0, done.stderr
    by_name: dict[str, list[dict[str, Any]]] = {}
    for plugin in json.loads(done.stdout)["plugins"]:
        by_name.setdefault(plugin["name"], []).append(plugin)
    return by_name


SKIP = "from openprogram_core import hookimpl\n@hookimpl\ndef field_skips():\n    return []\n"


def test_a_name_that_two_packages_claim_goes_to_neither(
    environment: Environment, tmp_path: Path, home: Path
) -> None:
    first = write_package(tmp_path, "alpha", SKIP, entry="shared_name")
    second = write_package(tmp_path, "beta", SKIP, entry="shared_name")
    other = write_package(tmp_path, "gamma", SKIP)
    plugins = listed(install(environment, tmp_path, first, second, other), home)
    assert [plugin["state"] for plugin in plugins["shared_name"]] == ["failed", "failed"]
    for plugin in plugins["shared_name"]:
        assert "claimed by alpha 1.0 and beta 1.0; uninstall or rename one" in plugin["error"]
    assert plugins["gamma"][0]["state"] == "loaded"


def test_a_built_in_plugin_keeps_its_name(environment: Environment, tmp_path: Path, home: Path) -> None:
    thief = write_package(tmp_path, "thief", SKIP, entry="openprogram_redaction")
    installed = install(environment, tmp_path, thief)
    states = {
        plugin["distribution"]: plugin["state"] for plugin in listed(installed, home)["openprogram_redaction"]
    }
    assert states == {"openprogram-core": "loaded", "thief": "failed"}
    code = "import openprogram_core; print(openprogram_core.initialize_provider_runtime().mode)"
    assert installed.code(code, home).splitlines()[-1] == "off"


def test_code_that_two_packages_bring_under_two_names_is_loaded_by_neither(
    environment: Environment, tmp_path: Path, home: Path
) -> None:
    first = write_package(tmp_path, "delta", SKIP)
    fork = write_package(tmp_path, "delta-fork", SKIP, module="delta_fork", entry="fork", target="delta")
    plugins = listed(install(environment, tmp_path, first, fork), home)
    for name in ("delta", "fork"):
        assert plugins[name][0]["state"] == "failed"
        assert "delta is a plugin twice, as " in plugins[name][0]["error"]


def test_one_that_is_installed_twice_runs_once_and_says_which(
    environment: Environment, tmp_path: Path, home: Path
) -> None:
    old = write_package(tmp_path, "twice", SKIP, version="1.0")
    new = write_package(tmp_path, "twice", SKIP, version="2.0")
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    both = install(install(environment, tmp_path / "one", old), tmp_path / "two", new)
    (plugin,) = listed(both, home)["twice"]
    assert (plugin["state"], plugin["version"]) == ("loaded", "2.0")
    assert "twice 1.0 is installed too; 2.0 comes first" in plugin["warnings"][0]
    code, findings = both.checked("twice", home)
    assert code == 1
    assert "installed too" in findings[0]["message"]


def test_one_made_for_a_newer_core_is_not_imported(
    environment: Environment, tmp_path: Path, home: Path
) -> None:
    source = write_package(
        tmp_path,
        "early-bird",
        "raise SystemExit('imported')",
        requires=["openprogram-core>=99", "openprogram-core<1; extra == 'old'"],
    )
    fitting = write_package(tmp_path, "fitting", SKIP, requires=["OpenProgram_Core>=0.1; python_version>'3'"])
    plugins = listed(install(environment, tmp_path, source, fitting), home)
    assert plugins["fitting"][0]["state"] == "loaded"
    assert plugins["early_bird"][0]["state"] == "failed"
    error = plugins["early_bird"][0]["error"]
    assert "early-bird 1.0 requires openprogram-core>=99, installed is 0.1.0" in error
    assert "pip install 'openprogram-core>=99'" in error
