"""Runs inside the real environment: does with one plugin what users do, and prints what came of it as JSON.

``python trial.py PLUGIN GOOD_RECORDING`` (absent for the run that makes that recording).
"""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import openprogram_core
from openprogram_core import OpenProgramError
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


def main() -> None:
    """Do it all."""
    register_api_provider("scripted", ScriptedProvider(lambda model, context, options: "fine"))
    if len(sys.argv) == 2:
        record(Path(sys.argv[1]))
        return
    name, good = sys.argv[1], Path(sys.argv[2])
    snapshot = openprogram_core.initialize_provider_runtime()
    info = next(plugin for plugin in snapshot.plugins if plugin.name == name)
    from openprogram_core.plugin_kit.check import check_installed

    (report,) = check_installed([name], imports=name == "impure")
    result = {
        "state": info.state,
        "error": info.error,
        "warnings": list(info.warnings),
        "mode": snapshot.mode,
        "off": attempt(call),
        "record": record(good.with_name(f"{name}.jsonl")),
        "replay": replay(good),
        "check": [finding.as_json() for finding in report.findings],
    }
    print(json.dumps(result))


if __name__ == "__main__":
    main()
