"""The three acts of the demo: record, replay with the network refused, and a change that is noticed."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from openprogram_core.cli._demo_agent import AgentRun, run_agent
from openprogram_core.cli._output import count, data, format_size, printable, styled
from openprogram_core.errors import OpenProgramError
from openprogram_core.providers import Model, TextContent, ToolCall
from openprogram_core.redaction import PLACEHOLDER

FIRST_ANSWER = "4 °C and raining"
CHANGED_ANSWER = "4 °C and snowing"
ROW_WIDTH = 120

_refusing = False
_hooked = False


class DemoFailedError(OpenProgramError):
    """The demo did not come out as it has to; something is wrong with this installation."""


def _refuse(event: str, arguments: tuple[Any, ...]) -> None:
    if _refusing and event in ("socket.connect", "socket.getaddrinfo", "socket.sendto"):
        raise DemoFailedError("a replayed run tried to reach the network")


@contextmanager
def network_refused() -> Iterator[None]:
    """Refuse every connection of this process while the block runs."""
    global _refusing, _hooked
    if not _hooked:
        sys.addaudithook(_refuse)
        _hooked = True
    _refusing = True
    try:
        yield
    finally:
        _refusing = False


class DemoSession:
    """One demo: which model is asked what, with which key, and where it is recorded.

    ``secrets`` are the values that must not be in the recording.
    """

    def __init__(
        self, model: Model, question: str, path: Path, api_key: str | None, secrets: list[str]
    ) -> None:
        self._model = model
        self._question = question
        self._path = path
        self._api_key = api_key
        self._secrets = secrets

    def _run(self, answer: str, api_key: str | None) -> AgentRun:
        return asyncio.run(run_agent(self._model, self._question, lambda city: answer, api_key))

    def record(self) -> AgentRun:
        """Act one: record the loop and show what came."""
        from openprogram_record import recording

        _act(1, "Record a tool loop at the provider boundary")
        with recording(self._path):
            run = self._run(FIRST_ANSWER, self._api_key)
        for index, (reply, events) in enumerate(zip(run.replies, run.calls, strict=True)):
            _line(f"call {index}: {count(len(events), 'event')}, {_gist(reply.content)}")
        return run

    def show_file(self) -> None:
        """Act two: show the file, what redaction replaced, and that no secret is in it."""
        from openprogram_core.recordings import read_recording_file

        _act(2, "What is in the recording")
        raw = self._path.read_bytes()
        rows = raw.decode().splitlines()
        for row in (*rows[:5], *(["…"] if len(rows) > 6 else []), rows[-1]):
            _line(_shortened(row))
        _line(f"({count(len(rows), 'row')}, {format_size(len(raw))})")
        with read_recording_file(self._path) as recorded:
            for path, value in _placeholders(recorded.calls[0].request(), ""):
                _line(f"redacted: {path} = {printable(value)!r}")
        if any(secret.encode() in raw for secret in self._secrets):
            raise DemoFailedError("a key is in the recording; do not use this installation to record")
        if self._secrets:
            _line("The key that went in with the call stands nowhere in the file.")

    def replay(self, recorded: AgentRun) -> None:
        """Act three: the same loop from the file alone."""
        from openprogram_replay import replaying

        _act(3, "Replay it: every connection refused, no key")
        with network_refused(), replaying(self._path) as replay:
            run = self._run(FIRST_ANSWER, None)
        total = sum(len(events) for events in run.calls)
        words = "the same as recorded"
        if run.calls != recorded.calls:
            # A model that repeats the key is recorded without it.
            if not any(PLACEHOLDER in event.model_dump_json() for events in run.calls for event in events):
                raise DemoFailedError("the replayed events differ from the recorded ones")
            words = "the same as recorded, where nothing was removed"
        _line(f"{count(replay.calls_used, 'call')} answered, {count(total, 'event')}, {words}.")

    def show_mismatch(self, recorded: AgentRun) -> None:
        """Act four: a tool that answers something else is noticed, with the field's name."""
        from openprogram_replay import ReplayMismatch, replaying

        _act(4, f"Change the code: the tool now answers {CHANGED_ANSWER!r}")
        if len(recorded.calls) < 2:
            _line("The model did not call the tool, so there is nothing to change. Try another model.")
            return
        try:
            with network_refused(), replaying(self._path):
                self._run(CHANGED_ANSWER, None)
        except ReplayMismatch as mismatch:
            for line in mismatch.report().splitlines():
                _line(printable(line))
        else:
            raise DemoFailedError("the changed request was not noticed")


def _act(number: int, title: str) -> None:
    if number > 1:
        data()
    data(styled(f"{number}. {title}", "bold"))


def _line(text: str) -> None:
    data(f"   {text}" if text else "")


def _gist(content: list[Any]) -> str:
    parts = []
    for block in content:
        if isinstance(block, ToolCall):
            parts.append(f"tool call {block.name}({json.dumps(block.arguments, ensure_ascii=False)})")
        elif isinstance(block, TextContent):
            parts.append(f"text {block.text!r}")
    return printable(", ".join(parts))


def _shortened(line: str) -> str:
    line = printable(line)
    return line if len(line) <= ROW_WIDTH else line[: ROW_WIDTH - 1] + "…"


def _placeholders(value: Any, path: str) -> Iterator[tuple[str, str]]:
    """The places of a request where something was removed."""
    if isinstance(value, dict):
        for name, item in value.items():
            yield from _placeholders(item, f"{path}.{name}" if path else name)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _placeholders(item, f"{path}[{index}]")
    elif isinstance(value, str) and PLACEHOLDER in value:
        yield path, value
