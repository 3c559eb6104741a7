"""A small project of a user's, with tests that call a made-up model."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

INI = """
[pytest]
asyncio_mode = auto
asyncio_default_fixture_loop_scope = function
filterwarnings = error
addopts = --strict-markers
"""

CONFTEST = """
import asyncio
import pytest
from openprogram_core.providers import Context, StreamOptions, UserMessage, Usage, complete
from openprogram_core.providers import register_api_provider, unregister_api_provider
from openprogram_core.testing import ScriptedProvider, scripted_model

SAID = ""

def answer(model, context, options):
    return f"echo: {context.messages[-1].content}{SAID}"

@pytest.fixture(autouse=True, scope="session")
def live():
    usage = Usage(input=1000, output=234, total_tokens=1234)
    provider = ScriptedProvider(answer, usage=usage)
    register_api_provider("scripted", provider)
    yield provider
    unregister_api_provider("scripted")

async def ask_async(prompt, **metadata):
    options = StreamOptions(metadata=metadata or None)
    context = Context(messages=[UserMessage(content=prompt)])
    message = await complete(scripted_model(), context, options)
    return message.content[0].text

@pytest.fixture(scope="session")
def ask():
    return lambda prompt, **metadata: asyncio.run(ask_async(prompt, **metadata))

@pytest.fixture(scope="session")
def ask_later():
    return ask_async
"""

LEFT_OUT = ("-p", "no:hypothesispytest", "-p", "no:anyio", "-p", "no:recording")
INTERNALS = ("*plugins/openprogram_*", "*openprogram_core/*", "*Traceback*")


def without_internals(result: pytest.RunResult) -> None:
    """Assert that a run showed nothing of this project's own code."""
    for line in INTERNALS:
        result.stdout.no_fnmatch_line(line)


class Project:
    """The project's folder, and runs of its tests in this process or in one of their own."""

    def __init__(self, pytester: pytest.Pytester) -> None:
        self.pytester = pytester
        self.path = pytester.path
        pytester.makeini(INI)
        pytester.makeconftest(CONFTEST)

    def write(self, **modules: str) -> None:
        """Write test modules by name."""
        self.pytester.makepyfile(**modules)

    def extend_conftest(self, code: str) -> None:
        """Add to the project's conftest."""
        self.pytester.makeconftest(CONFTEST + code)

    def live_answers(self, said: str, code: str = "") -> None:
        """Let the live model say something else from now on; ``code`` is what else the conftest has."""
        self.pytester.makeconftest(CONFTEST.replace('SAID = ""', f"SAID = {said!r}") + code)

    def run(self, *arguments: str) -> pytest.RunResult:
        """Run the tests in this process."""
        return self.pytester.runpytest_inprocess(*arguments)

    def run_apart(self, *arguments: str, beside_others: bool = False) -> pytest.RunResult:
        """Run the tests in a process of their own, and without plugins of others that take long to load."""
        left_out = () if beside_others else LEFT_OUT
        return self.pytester.runpytest_subprocess(*left_out, *arguments)

    def record(self, *arguments: str, mode: str = "once") -> pytest.RunResult:
        """Run the tests so that they record; they have to pass."""
        result = self.run(f"--openprogram-record={mode}", *arguments)
        assert result.ret == 0
        return result

    def recordings(self) -> list[str]:
        """Every file below any folder of recordings, relative to the project."""
        return sorted(
            path.relative_to(self.path).as_posix()
            for path in self.path.rglob("recordings/**/*")
            if path.is_file()
        )

    def rows(self, name: str) -> list[dict[str, Any]]:
        """The rows of one recording."""
        return [json.loads(line) for line in self.file(name).read_text(encoding="utf-8").splitlines()]

    def file(self, name: str) -> Path:
        """The path of one recording."""
        return self.path / name
