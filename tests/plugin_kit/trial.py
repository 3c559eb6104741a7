"""Runs inside the real environment: does with a plugin what users do, and says what came of it.

``python trial.py FOLDER`` makes a recording there, with no plugin but the built-in ones;
``python trial.py FOLDER PLUGIN...`` prints the outcome for every plugin as JSON.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import traceback
from pathlib import Path
from typing import Any

# Imported here and not loaded as plugins: what a child does not have to do again. The SDK is what one of the
# bad plugins imports, and whoever loads them all with it.
import openai  # noqa: F401
import structlog  # noqa: F401

import openprogram_anthropic  # noqa: F401
import openprogram_core
import openprogram_google  # noqa: F401
import openprogram_openai  # noqa: F401
import openprogram_redaction  # noqa: F401
from openprogram_core import OpenProgramError
from openprogram_core.plugin_kit.check import check_installed
from openprogram_core.providers import (
    Context,
    StreamOptions,
    UserMessage,
    complete,
    register_api_provider,
)
from openprogram_core.testing import ScriptedProvider, scripted_model
from openprogram_record import recording
from openprogram_replay import replaying

SECRET = "sk-" + "proj-" + "Zyxw9876" * 6


def call(prompt: str = "hello", trace: str = "a") -> str:
    """Make one call and return its text."""
    context = Context(messages=[UserMessage(content=f"{prompt} {SECRET}")])
    options = StreamOptions(metadata={"trace": {"id": trace}})
    message = asyncio.run(complete(scripted_model(), context, options))
    return message.content[0].text  # type: ignore[union-attr]  # the script says one text


def attempt(act: Any) -> dict[str, Any]:
    """Return what ``act`` gave or raised; an error that is not one of ours goes on up."""
    try:
        return {"gave": act()}
    except OpenProgramError as error:
        return {"raised": type(error).__name__, "message": str(error)}


def record(path: Path) -> dict[str, Any]:
    """Record one call; returns what came of it, and whether the secret is in the file."""

    def act() -> str:
        with recording(path):
            return call()

    outcome = attempt(act)
    leaked = path.exists() and SECRET in path.read_text(encoding="utf-8")
    return {**outcome, "leaked": leaked}


def replay(path: Path) -> dict[str, Any]:
    """Replay with another trace id, so that comparison has something to ask about."""

    def act() -> str:
        with replaying(path):
            return call(trace="b")

    return attempt(act)


def try_out(name: str, good: Path) -> dict[str, Any]:
    """Do everything with one plugin enabled, in a process in which no plugin is loaded yet."""
    register_api_provider("scripted", ScriptedProvider(lambda model, context, options: "fine"))
    snapshot = openprogram_core.initialize_provider_runtime()
    info = next(plugin for plugin in snapshot.plugins if plugin.name == name)
    (report,) = check_installed([name], imports=name == "impure")
    return {
        "state": info.state,
        "error": info.error,
        "mode": snapshot.mode,
        "off": attempt(call),
        "record": record(good.with_name(f"{name}.jsonl")),
        "replay": replay(good),
        "check": [finding.as_json() for finding in report.findings],
    }


def in_a_process_of_its_own(name: str, good: Path, home: Path) -> dict[str, Any]:
    """Fork, so that only the core's own imports are shared, and return what the child found and said."""
    said, result = home / "said.txt", home / "result.json"
    child = os.fork()
    if child == 0:
        with said.open("wb") as file:
            os.dup2(file.fileno(), 1)
            os.dup2(file.fileno(), 2)
        try:
            os.environ["OPENPROGRAM_HOME"] = str(home)
            result.write_text(json.dumps(try_out(name, good)), encoding="utf-8")
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(0)
    os.waitpid(child, 0)
    found = json.loads(result.read_text(encoding="utf-8")) if result.exists() else {"crashed": True}
    return {**found, "said": said.read_text(encoding="utf-8")}


def main() -> None:
    """``trial.py FOLDER [PLUGIN...]``: every plugin has its home in FOLDER, configured already."""
    folder = Path(sys.argv[1])
    good = folder / "good.jsonl"
    register_api_provider("scripted", ScriptedProvider(lambda model, context, options: "fine"))
    if len(sys.argv) == 2:
        record(good)
        return
    print(json.dumps({name: in_a_process_of_its_own(name, good, folder / name) for name in sys.argv[2:]}))


if __name__ == "__main__":
    main()
