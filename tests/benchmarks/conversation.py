"""One conversation over loopback, recorded by vcrpy and by RecordingProvider, and played back by both.

Both read the same server-sent events through the same client (requests); what differs is the recorder. The
server is a process of its own, so that its work is not counted.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import requests

from openprogram_core.providers import (
    ApiProvider,
    Context,
    DoneEvent,
    Message,
    Model,
    StreamAssembler,
    StreamOptions,
    UserMessage,
)
from openprogram_core.recordings import read_recording_file
from openprogram_record import RecordingProvider, RecordingSink
from openprogram_replay import ReplayProvider

MODEL = Model(id="bench", api="bench", provider="bench")
TURNS = 40
PIECES = 200

_SERVER = """
import http.server, json, sys
pieces = int(sys.argv[1])
rows = [json.dumps({"choices": [{"delta": {"content": f"word {n} "}}]}) for n in range(pieces)]
body = "".join(f"data: {row}\\n\\n" for row in rows).encode() + b"data: [DONE]\\n\\n"

class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do_POST(self):
        self.rfile.read(int(self.headers["content-length"]))
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def log_message(self, *args):
        pass

server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(server.server_address[1], flush=True)
server.serve_forever()
"""


@contextmanager
def _server() -> Iterator[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", _SERVER, str(PIECES)], stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        yield f"http://127.0.0.1:{int(process.stdout.readline())}/v1/chat/completions"
    finally:
        process.terminate()
        process.wait()
        process.stdout.close()  # type: ignore[union-attr]  # it is a pipe


def _pieces(session: requests.Session, url: str, body: dict[str, Any]) -> Iterator[str]:
    with session.post(url, json=body, stream=True, timeout=30) as response:
        for line in response.iter_lines():
            if line.startswith(b"data: {"):
                yield json.loads(line[6:])["choices"][0]["delta"]["content"]


class _Provider(ApiProvider):
    requires_credentials = False

    def __init__(self, url: str, session: requests.Session) -> None:
        self._url = url
        self._session = session

    async def stream(self, model: Model, context: Context, options: StreamOptions | None = None) -> Any:
        assembler = StreamAssembler(model)
        for piece in _pieces(self._session, self._url, context.model_dump(mode="json")):
            for event in assembler.text(0, piece):
                yield event
        for event in assembler.done("stop"):
            yield event


async def _converse(provider: ApiProvider) -> None:
    messages: list[Message] = []
    for turn in range(TURNS):
        messages.append(UserMessage(content=f"question {turn}"))
        async for event in provider.stream(MODEL, Context(messages=list(messages)), None):
            if isinstance(event, DoneEvent):
                messages.append(event.message)


def _timed(work: Callable[[], None]) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began


def compare(folder: Path) -> dict[str, float]:
    """Return CPU seconds by what was done: ``plain``, and recording and replay of both tools."""
    times: dict[str, float] = {}
    ours, theirs = folder / "conversation.jsonl", folder / "conversation.yaml"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import vcr

        cassettes = vcr.VCR()
    with _server() as url, requests.Session() as session:
        provider = _Provider(url, session)
        asyncio.run(_converse(provider))
        times["plain"] = _timed(lambda: asyncio.run(_converse(provider)))

        def record() -> None:
            with RecordingSink(ours) as sink:
                asyncio.run(_converse(RecordingProvider(provider, sink)))

        def record_vcr(mode: str = "once") -> None:
            # A session of its own: vcrpy replaces the connections that are made inside.
            with cassettes.use_cassette(str(theirs), record_mode=mode), requests.Session() as fresh:
                asyncio.run(_converse(_Provider(url, fresh)))

        times["record"] = _timed(record)
        times["record vcrpy"] = _timed(record_vcr)
        times["replay"] = _timed(lambda: asyncio.run(_converse(ReplayProvider(ours))))
        times["replay vcrpy"] = _timed(lambda: record_vcr("none"))
    with read_recording_file(ours) as recording:
        assert len(recording.calls) == TURNS
    times["bytes"], times["bytes vcrpy"] = ours.stat().st_size, theirs.stat().st_size
    return times
