"""Real sessions recorded from a real server and replayed without sockets and without the SDK."""

from __future__ import annotations

import socket
import sys
from pathlib import Path
from typing import Any

import pytest

from openprogram_core.providers import Context, StreamOptions, TextContent, ToolResultMessage, UserMessage
from openprogram_record import RecordingProvider
from openprogram_replay import ReplayProvider
from tests.support.adapter_runs import calls_of, final, run
from tests.support.shared import shared_path
from tests.support.wire_bytes import CUTS
from tests.support.wire_server import Reply, WireServer
from tests.wire_openai.models import PROVIDERS, model_at

SESSIONS = {
    "chat-agent-run": "openai-completions",
    "chat-error-mid-stream": "openai-completions",
    "chat-parallel-tool-calls": "openai-completions",
    "chat-text-with-usage": "openai-completions",
    "responses-usage": "openai-responses",
}


def _refuse(*arguments: Any) -> None:
    raise AssertionError("replay opened a connection")


@pytest.mark.parametrize("cut", ["whole", "bytewise", "inside-characters"])
@pytest.mark.parametrize("session", SESSIONS)
async def test_a_session(session: str, cut: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    api, path = SESSIONS[session], tmp_path / "session.jsonl"
    bodies = [file.read_bytes() for file in sorted((shared_path("streams") / session).glob("*.sse"))]
    options = StreamOptions()
    with WireServer(*[Reply(body, cut=CUTS[cut]) for body in bodies]) as server:
        model = model_at(server, api, reasoning=True)
        recorder = RecordingProvider(PROVIDERS[api], path)
        contexts, recorded = [Context(messages=[UserMessage(content="go")])], []
        for _ in bodies:
            recorded.append(await run(recorder, model, contexts[-1], options))
            said = final(recorded[-1])
            results = [
                ToolResultMessage(tool_call_id=c.id, tool_name=c.name, content=[TextContent(text="done")])
                for c in calls_of(said)
            ]
            contexts.append(Context(messages=[*contexts[-1].messages, said, *results]))
        recorder.close()
    monkeypatch.setattr(socket.socket, "connect", _refuse)
    for name in [name for name in sys.modules if name.partition(".")[0] == "openai"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "openai", None)
    replay = ReplayProvider(path)
    for context, events in zip(contexts, recorded, strict=False):
        assert await run(replay, model, context, options) == events
    replay.assert_consumed()
