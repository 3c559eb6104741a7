"""A real HTTP server on 127.0.0.1 that answers from a script.

It serves whatever bytes a test wants, cut as the test wants, ends them well or badly, keeps what was asked of
it, and knows when a client left. It runs in threads of its own and stops with its context:

    with WireServer(Reply(sse({"a": 1}, end="[DONE]"), cut=bytewise)) as server:
        ...  # point a client at server.url
        assert server.requests[0].json() == {...}
"""

from __future__ import annotations

import contextlib
import json
import select
import socket
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Literal

from tests.support.wire_bytes import Cut, whole

EVENT_STREAM = {"content-type": "text/event-stream"}
JSON = {"content-type": "application/json"}
_LONGEST_HOLD_S = 20.0
_FRAMES_A_SEND = 256

Ending = Literal["complete", "drop", "reset", "hold"]


@dataclass(frozen=True)
class Reply:
    """One scripted answer.

    ``ending`` says what follows the body: ``complete`` ends it properly and keeps the connection for the next
    request, ``drop`` closes the connection in the middle of the response, ``reset`` does so with a TCP reset,
    ``hold`` says nothing more until the client leaves. ``delay_s`` is waited before the status line,
    ``pause_s`` between two pieces; both end early when the client leaves. ``silent`` never sends the headers
    either: with ``hold`` a service that does not answer.
    """

    body: bytes = b""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=lambda: EVENT_STREAM)
    cut: Cut = whole
    ending: Ending = "complete"
    delay_s: float = 0.0
    pause_s: float = 0.0
    silent: bool = False


def json_reply(value: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Reply:
    """Return an answer with a JSON body."""
    return Reply(json.dumps(value).encode(), status=status, headers={**JSON, **(headers or {})})


@dataclass
class ReceivedRequest:
    """What a client sent, and whether it left before the answer was complete."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes
    connection: int
    client_left: threading.Event = field(default_factory=threading.Event)
    answered: threading.Event = field(default_factory=threading.Event)

    def json(self) -> Any:
        """Return the parsed body."""
        return json.loads(self.body)


Script = Callable[[ReceivedRequest], Reply]


class WireServer:
    """Serves ``replies`` in the order of the requests, or whatever ``script`` answers to each.

    ``requests`` grows as requests come in. A request beyond the script gets status 599, which no client takes
    for an answer. ``connections`` counts the TCP connections there were; ``asked`` is set
    by the first request.
    """

    def __init__(self, *replies: Reply, script: Script | None = None) -> None:
        self._replies = list(replies)
        self._script = script
        self.requests: list[ReceivedRequest] = []
        self.connections = 0
        self.asked = threading.Event()
        self._lock = threading.Lock()
        self._stopping = threading.Event()
        self._threads: list[threading.Thread] = []
        self._open: set[socket.socket] = set()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._listener.settimeout(0.2)
        self.port: int = self._listener.getsockname()[1]

    @property
    def url(self) -> str:
        """The address without a path."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def open_connections(self) -> int:
        """How many client connections are open now."""
        with self._lock:
            return len(self._open)

    def add(self, *replies: Reply) -> None:
        """Add to the script."""
        with self._lock:
            self._replies.extend(replies)

    def __enter__(self) -> WireServer:
        self._spawn(self._accept)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stopping.set()
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port), timeout=1):
            pass  # wakes the thread that waits for connections
        with self._lock:
            connections = list(self._open)
        for connection in connections:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join(timeout=10)
        self._listener.close()

    def _spawn(self, run: Callable[..., None], *arguments: object) -> None:
        thread = threading.Thread(target=run, args=arguments, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        while not self._stopping.is_set():
            try:
                connection, _ = self._listener.accept()
            except (TimeoutError, OSError):
                continue
            if self._stopping.is_set():
                connection.close()
                return
            connection.settimeout(_LONGEST_HOLD_S)
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            with self._lock:
                self._open.add(connection)
                number, self.connections = self.connections, self.connections + 1
            self._spawn(self._serve, connection, number)

    def _serve(self, connection: socket.socket, number: int) -> None:
        try:
            reader = connection.makefile("rb")
            with connection, reader, contextlib.suppress(OSError):
                while not self._stopping.is_set():
                    request = _read_request(reader, number)
                    if request is None or not self._answer(connection, request):
                        return
        finally:
            with self._lock:
                self._open.discard(connection)

    def _next_reply(self, request: ReceivedRequest) -> Reply:
        with self._lock:
            self.requests.append(request)
            self.asked.set()
            if self._script is None:
                left = bool(self._replies)
                return self._replies.pop(0) if left else json_reply({"error": "the script is over"}, 599)
        return self._script(request)

    def _answer(self, connection: socket.socket, request: ReceivedRequest) -> bool:
        """Send one answer; says whether the connection may serve another request."""
        reply = self._next_reply(request)
        try:
            with _Line(connection, request, self._stopping) as line:
                if line.wait(reply.delay_s):
                    return False
                if not reply.silent:
                    line.send_head(reply)
                    line.send_pieces(reply)
                return line.end(reply.ending)
        finally:
            request.answered.set()


class _Line:
    """The sending side of one exchange."""

    def __init__(self, connection: socket.socket, request: ReceivedRequest, stop: threading.Event) -> None:
        self._connection = connection
        self._request = request
        self._stop = stop

    def __enter__(self) -> _Line:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if isinstance(error, OSError):
            self._request.client_left.set()

    def send_head(self, reply: Reply) -> None:
        headers = {**reply.headers, "transfer-encoding": "chunked"}
        lines = [
            f"HTTP/1.1 {reply.status} Scripted",
            *(f"{name}: {value}" for name, value in headers.items()),
        ]
        self._connection.sendall(("\r\n".join(lines) + "\r\n\r\n").encode("latin-1"))

    def send_pieces(self, reply: Reply) -> None:
        # Each piece is a chunk of its own: however TCP joins them, the client's HTTP layer hands them out
        # one by one.
        frames: list[bytes] = []
        for piece in reply.cut(reply.body):
            if not piece:
                continue
            frames.append(b"%x\r\n%s\r\n" % (len(piece), piece))
            if reply.pause_s or len(frames) >= _FRAMES_A_SEND:
                self._connection.sendall(b"".join(frames))
                frames.clear()
                if self.wait(reply.pause_s):
                    raise ConnectionAbortedError
        self._connection.sendall(b"".join(frames))

    def end(self, ending: Ending) -> bool:
        if ending == "complete":
            self._connection.sendall(b"0\r\n\r\n")
            return True
        if ending == "hold":
            self.wait(_LONGEST_HOLD_S)
        elif ending == "reset":
            self._connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\0\0\0\0\0\0\0")
        return False

    def wait(self, seconds: float) -> bool:
        """Wait; says whether the client left (or the server stops) meanwhile."""
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            if self._stop.is_set():
                return True
            if self._gone(min(left, 0.05)):
                self._request.client_left.set()
                return True
        return False

    def _gone(self, seconds: float) -> bool:
        readable, _, _ = select.select([self._connection], [], [], seconds)
        if not readable:
            return False
        try:
            return self._connection.recv(1, socket.MSG_PEEK) == b""
        except OSError:
            return True


def _read_request(reader: Any, connection: int) -> ReceivedRequest | None:
    first = reader.readline().decode("latin-1").split()
    if len(first) < 2:
        return None
    headers: dict[str, str] = {}
    while line := reader.readline().decode("latin-1").strip():
        name, _, value = line.partition(":")
        headers[name.strip().lower()] = value.strip()
    body = reader.read(int(headers.get("content-length", "0")))
    return ReceivedRequest(first[0], first[1], headers, body, connection)
