from __future__ import annotations

import threading
from pathlib import Path

import pytest

from openprogram_core._runtime import ProviderRuntime, ProviderRuntimeSnapshot
from openprogram_core.errors import ProviderRuntimeInitializationError
from tests.support.interpreter import run_python

SNAPSHOT = ProviderRuntimeSnapshot("off", ())

PLUGIN_DISTRIBUTION = """
import sys
from pathlib import Path
def install(folder, name, code, distribution=None):
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.py").write_text(code)
    info = folder / f"{distribution or name}-1.0.dist-info"
    info.mkdir(exist_ok=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\\nName: {distribution or name}\\nVersion: 1.0\\n")
    (info / "entry_points.txt").write_text(f"[openprogram.plugins]\\n{name} = {name}\\n")
    sys.path.insert(0, str(folder))
"""


def test_concurrent_first_callers_wait_for_one_initialization() -> None:
    ran: list[int] = []
    go = threading.Event()

    def activate() -> ProviderRuntimeSnapshot:
        ran.append(1)
        go.wait(10)
        return SNAPSHOT

    runtime = ProviderRuntime(activate)
    results: list[ProviderRuntimeSnapshot] = []
    threads = [threading.Thread(target=lambda: results.append(runtime.initialize())) for _ in range(16)]
    for thread in threads:
        thread.start()
    go.set()
    for thread in threads:
        thread.join()
    assert ran == [1]
    assert len(results) == 16
    assert all(result is SNAPSHOT for result in results)


def test_a_failure_is_stable_and_every_caller_gets_an_error_of_their_own() -> None:
    calls: list[int] = []

    def activate() -> ProviderRuntimeSnapshot:
        calls.append(1)
        raise LookupError("no such thing, key " + "sk-" + "proj-" + "Synthetic0Value1Only2Test3Synthetic0Va")

    runtime = ProviderRuntime(activate)
    errors = []
    for _ in range(3):
        with pytest.raises(ProviderRuntimeInitializationError) as caught:
            runtime.initialize()
        errors.append(caught.value)
    assert calls == [1]
    assert len({id(error) for error in errors}) == 3
    assert {(error.stage, error.cause_type, error.cause_message) for error in errors} == {
        ("activation", "LookupError", errors[0].cause_message)
    }
    assert "Synthetic0Value" not in str(errors[0])
    assert all(error.__cause__ is None and error.__context__ is None for error in errors[1:])


@pytest.mark.parametrize("interrupt", [KeyboardInterrupt, SystemExit])
def test_an_interrupt_fails_the_runtime_wakes_the_waiters_and_goes_on_up(
    interrupt: type[BaseException],
) -> None:
    started, go = threading.Event(), threading.Event()

    def activate() -> ProviderRuntimeSnapshot:
        started.set()
        go.wait(10)
        raise interrupt("stop")

    runtime = ProviderRuntime(activate)
    seen: list[BaseException] = []

    def call() -> None:
        try:
            runtime.initialize()
        except BaseException as error:  # the test looks at exactly what came
            seen.append(error)

    first = threading.Thread(target=call)
    first.start()
    started.wait(10)
    second = threading.Thread(target=call)
    second.start()
    go.set()
    first.join()
    second.join()
    kinds = {type(error) for error in seen}
    assert kinds == {interrupt, ProviderRuntimeInitializationError}
    with pytest.raises(ProviderRuntimeInitializationError, match="initialization_interrupted"):
        runtime.initialize()


def test_a_recursive_call_raises_instead_of_hanging() -> None:
    caught: list[ProviderRuntimeInitializationError] = []

    def activate() -> ProviderRuntimeSnapshot:
        try:
            runtime.initialize()
        except ProviderRuntimeInitializationError as error:
            caught.append(error)
        return SNAPSHOT

    runtime = ProviderRuntime(activate)
    assert runtime.initialize() is SNAPSHOT
    assert [error.stage for error in caught] == ["recursive_initialization"]


def test_a_child_forked_during_initialization_does_not_wait_for_its_parent(tmp_path: Path) -> None:
    code = """
    import os, threading
    from openprogram_core._runtime import ProviderRuntime, ProviderRuntimeSnapshot
    started, go = threading.Event(), threading.Event()
    first = []
    def activate():
        if not first:
            first.append(1)
            started.set()
            go.wait(10)
        return ProviderRuntimeSnapshot("off", ())
    runtime = ProviderRuntime(activate)
    os.register_at_fork(after_in_child=runtime.after_fork)
    thread = threading.Thread(target=runtime.initialize)
    thread.start()
    started.wait(10)
    import warnings
    warnings.simplefilter("ignore")  # newer Pythons warn of forking with threads, which is the point here
    child = os.fork()
    if child == 0:
        runtime.initialize()
        os._exit(7)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    go.set()
    thread.join()
    """
    ran = run_python(code, home=tmp_path, timeout=20)
    assert (ran.stdout, ran.stderr) == ("7\n", "")


def test_who_waits_for_a_hook_that_waits_for_it_is_told_and_does_not_hang() -> None:
    told: list[str] = []

    def ask() -> None:
        try:
            runtime.initialize()
        except ProviderRuntimeInitializationError as error:
            told.append(error.stage)

    def activate() -> ProviderRuntimeSnapshot:
        asking = threading.Thread(target=ask)
        asking.start()
        asking.join()
        return SNAPSHOT

    runtime = ProviderRuntime(activate, patience_s=0.2)
    assert runtime.initialize() is SNAPSHOT
    assert told == ["waiting_for_initialization"]


def test_a_child_forked_while_another_thread_loads_the_plugins_does_not_hang(tmp_path: Path) -> None:
    code = (
        PLUGIN_DISTRIBUTION
        + f"""
install({str(tmp_path / "site")!r}, "acme_slow", "import time\\ntime.sleep(1)")
import os, threading, time, warnings
warnings.simplefilter("ignore")  # newer Pythons warn of forking with threads, which is the point here
from openprogram_core.providers import get_api_provider
thread = threading.Thread(target=get_api_provider, args=("openai-completions",))
thread.start()
while "acme_slow" not in sys.modules:
    time.sleep(0.01)
child = os.fork()
if child == 0:
    get_api_provider("openai-completions")
    os._exit(7)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
thread.join()
"""
    )
    ran = run_python(code, home=tmp_path, timeout=30)
    assert ran.stdout == "7\n", ran.stderr


def configure(home: Path, text: str) -> None:
    home.mkdir(exist_ok=True)
    (home / "config.toml").write_text(text)


BLOCKED_CALL = """
from openprogram_core.providers import Context, Model, register_api_provider, stream
from openprogram_core.testing import ScriptedProvider
import openprogram_core
print(openprogram_core.initialize_provider_runtime().mode)
register_api_provider("scripted", ScriptedProvider(["hi"]))
words = set()
for api in ("scripted", "openai-completions", "never-heard-of"):
    try:
        stream(Model(id="m", api=api, provider="p"), Context())
    except openprogram_core.OpenProgramError as error:
        words.add(f"{type(error).__name__} {error.cause_type}: {error}")
print(len(words))
print(words.pop())
"""


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("[record_replay\n", "ConfigurationError"),
        ('[record_replay]\nmode = "replay"\nfile = "missing.jsonl"\n', "RecordingFileError"),
        ('[record_replay]\nmode = "replay"\n', "ConfigurationError"),
        (
            '[record_replay]\nmode = "record"\nfile = "r"\n[plugins]\ndisabled = ["openprogram_record"]\n',
            "PluginError",
        ),
        (
            '[record_replay]\nmode = "record"\nfile = "r"\n[plugins]\ndisabled = ["openprogram_redaction"]\n',
            "RedactionError",
        ),
    ],
)
def test_what_cannot_be_activated_blocks_every_provider_with_one_diagnostic(
    text: str, cause: str, tmp_path: Path
) -> None:
    configure(tmp_path, text)
    ran = run_python(BLOCKED_CALL, home=tmp_path)
    mode, count, words = ran.stdout.splitlines()
    assert (mode, count) == ("blocked", "1"), ran.stderr
    assert words.startswith(f"RecordReplayBlockedError {cause}: ")
    assert "openprogram recordings status" in words
    assert "openprogram recordings off" in words


@pytest.mark.parametrize(("mode", "expected"), [("off", "off"), ("record", "blocked"), ("replay", "blocked")])
def test_a_foreign_plugin_that_fails_to_load_is_skipped_when_off_and_blocks_otherwise(
    mode: str, expected: str, tmp_path: Path
) -> None:
    if mode != "off":
        configure(tmp_path, f'[record_replay]\nmode = "{mode}"\nfile = "r"\n')
    code = (
        PLUGIN_DISTRIBUTION
        + f"""
install({str(tmp_path / "site")!r}, "acme_broken", "raise RuntimeError('boom')")
import structlog
events = []
structlog.configure(processors=[lambda logger, name, event: (events.append(event), "")[1]])
import openprogram_core
snapshot = openprogram_core.initialize_provider_runtime()
print(snapshot.mode)
print([(p.state, p.error) for p in snapshot.plugins if p.name == "acme_broken"])
print(any("acme_broken" in str(event) for event in events))
"""
    )
    ran = run_python(code, home=tmp_path)
    assert ran.stdout.splitlines()[-3:] == [
        expected,
        "[('failed', 'importing acme_broken raised RuntimeError: boom')]",
        "True",
    ], ran.stderr


def test_a_built_in_plugin_that_fails_fails_the_runtime_for_good(tmp_path: Path) -> None:
    code = """
    import sys
    sys.modules["openprogram_openai"] = None
    import openprogram_core
    for _ in range(2):
        try:
            openprogram_core.initialize_provider_runtime()
        except openprogram_core.OpenProgramError as error:
            print(type(error).__name__, error.stage, "openprogram_openai" in error.cause_message)
    """
    ran = run_python(code, home=tmp_path)
    assert ran.stdout.splitlines() == ["ProviderRuntimeInitializationError plugin_loading True"] * 2, (
        ran.stderr
    )


def test_two_plugins_that_claim_one_api_leave_it_to_neither_and_are_both_named(tmp_path: Path) -> None:
    plugin = (
        "import openprogram_core\\n"
        "from openprogram_core.testing import ScriptedProvider\\n"
        "@openprogram_core.hookimpl\\n"
        "def api_providers():\\n"
        "    return {'acme-chat': ScriptedProvider([]), '%s-own': ScriptedProvider([])}\\n"
    )
    code = (
        PLUGIN_DISTRIBUTION
        + f"""
for name in ("acme_one", "acme_two"):
    install({str(tmp_path / "site")!r}, name, "{plugin}" % name)
import openprogram_core
from openprogram_core.providers import get_api_provider
for api in ("acme_one-own", "acme_two-own", "acme-chat"):
    try:
        print(type(get_api_provider(api)).__name__)
    except openprogram_core.OpenProgramError as error:
        print(type(error).__name__, "acme_one" in str(error), "acme_two" in str(error))
"""
    )
    ran = run_python(code, home=tmp_path)
    assert ran.stdout.splitlines()[-3:] == [
        "ScriptedProvider",
        "ScriptedProvider",
        "PluginConflictError True True",
    ], ran.stderr
