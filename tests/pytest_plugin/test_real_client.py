"""A user's test over a vendor's real SDK: recorded from a server, replayed with neither server nor key."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from tests.pytest_plugin.project import Project

pytest_plugins = ["pytester"]

KEY = "sk-" + "proj-" + "Qwer5678" * 6

TEST = """
import asyncio, os
import pytest
from openprogram_core.providers import Context, Model, UserMessage, complete

@pytest.mark.openprogram_recording
def test_agent():
    model = Model(
        id="made-up", api="openai-completions", provider="openai", base_url="http://127.0.0.1:%d/v1"
    )
    message = asyncio.run(complete(model, Context(messages=[UserMessage(content="hi")])))
    assert message.content[0].text == "Hello."
    assert message.usage.total_tokens == 9
"""


def chunk(**fields: object) -> bytes:
    whole = {"id": "c-1", "object": "chat.completion.chunk", "created": 1, "model": "made-up", "choices": []}
    return b"data: " + json.dumps(whole | fields).encode() + b"\n\n"


class Service(BaseHTTPRequestHandler):
    """Answers every request with one short reply."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        for text, reason in (("Hel", None), ("lo.", None), ("", "stop")):
            delta = {"role": "assistant", "content": text}
            self.wfile.write(chunk(choices=[{"index": 0, "delta": delta, "finish_reason": reason}]))
        self.wfile.write(chunk(usage={"prompt_tokens": 7, "completion_tokens": 2, "total_tokens": 9}))
        self.wfile.write(b"data: [DONE]\n\n")

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def service() -> Iterator[ThreadingHTTPServer]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Service) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def test_recorded_over_the_real_client_and_replayed_without_server_key_or_network(
    project: Project, service: ThreadingHTTPServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("openai", reason="needs the extra 'openai'")
    project.write(test_a=TEST % service.server_port)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    result = project.run_apart("--openprogram-record=once")
    result.assert_outcomes(passed=1)
    recorded = project.file("recordings/test_a/test_agent.jsonl").read_text(encoding="utf-8")
    assert KEY not in recorded
    assert "Hello." in recorded

    monkeypatch.delenv("OPENAI_API_KEY")
    service.shutdown()
    service.server_close()
    project.extend_conftest("import sys\nsys.modules['openai'] = None\n")
    result = project.run_apart()
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["1 recording used, 1 call replayed, 0 live calls, 9 tokens saved"])
