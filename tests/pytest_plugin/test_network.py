"""While a test is replayed, Python opens no connection that nobody allowed."""

from __future__ import annotations

import pytest

from tests.pytest_plugin.project import Project

pytest_plugins = ["pytester"]

SERVER = """
import socket, urllib.request
import pytest

@pytest.fixture(scope="session")
def address():
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()

def reach(address):
    socket.create_connection(address, timeout=5).close()
"""
BLOCKED = """
import pytest
from conftest import reach

@pytest.mark.openprogram_recording{arguments}
def test_one(ask, address, openprogram_recording):
    ask("hi")
    if openprogram_recording.action == "replay":
        reach(address)

def test_afterwards(address):
    reach(address)
"""


@pytest.fixture
def reaching(project: Project) -> Project:
    project.extend_conftest(SERVER)
    project.pytester.syspathinsert()
    return project


def test_a_connection_is_refused_while_replaying_and_only_then(reaching: Project) -> None:
    reaching.write(test_a=BLOCKED.format(arguments=""))
    reaching.record()
    result = reaching.run()
    result.assert_outcomes(failed=1, passed=1)
    result.stdout.fnmatch_lines(
        ["*NetworkBlockedError: a connection to '127.0.0.1' is refused while a recording is replayed.*"]
    )


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_a_host_is_allowed_by_the_marker(reaching: Project, host: str) -> None:
    reaching.write(test_a=BLOCKED.format(arguments=f"(allow_hosts=[{host!r}])"))
    reaching.record()
    reaching.run().assert_outcomes(passed=2)


def test_a_host_is_allowed_by_the_configuration(reaching: Project) -> None:
    reaching.write(test_a=BLOCKED.format(arguments=""))
    reaching.record()
    allowed = ("-o", "openprogram_allowed_hosts=db.example localhost")
    reaching.run(*allowed).assert_outcomes(passed=2)


def test_every_way_out_is_closed_and_what_was_swallowed_is_told(reaching: Project) -> None:
    reaching.write(
        test_a="""
        import asyncio, contextlib, socket, urllib.request
        import pytest

        @pytest.mark.openprogram_recording
        def test_one(ask, address, openprogram_recording):
            if openprogram_recording.action == "record":
                ask("hi")
                return
            host, port = address
            datagrams = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            tries = [
                lambda: socket.create_connection(address),
                lambda: socket.create_connection(("service.example", 443)),
                lambda: socket.gethostbyname("service.example"),
                lambda: urllib.request.urlopen(f"http://{host}:{port}/"),
                lambda: datagrams.sendto(b"x", address),
                lambda: asyncio.run(asyncio.open_connection("service.example", 443)),
                lambda: asyncio.run(asyncio.open_connection(host, port)),
            ]
            with contextlib.closing(datagrams):
                for attempt in tries:
                    with pytest.raises(Exception, match="is refused while a recording is replayed"):
                        attempt()
            for attempt in (socket.socketpair, lambda: socket.getaddrinfo("localhost", 80)):
                with contextlib.ExitStack() as stack:
                    for made in attempt():
                        if isinstance(made, socket.socket):
                            stack.enter_context(made)
            ask("something else")
        """
    )
    reaching.record()
    result = reaching.run()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*ReplayMismatch: replay mismatch at call 0*"])
    result.stdout.fnmatch_lines(["connections refused while replaying: 127.0.0.1, service.example"])


def test_unix_sockets_are_left_alone(reaching: Project) -> None:
    reaching.write(
        test_a="""
        import socket
        import pytest

        @pytest.mark.skipif(not hasattr(socket, "AF_UNIX"), reason="there are no Unix sockets here")
        @pytest.mark.openprogram_recording
        def test_one(ask, monkeypatch, tmp_path):
            monkeypatch.chdir(tmp_path)
            with socket.socket(socket.AF_UNIX) as server, socket.socket(socket.AF_UNIX) as client:
                server.bind("s")
                server.listen()
                client.connect("s")
            ask("hi")
        """
    )
    reaching.record()
    reaching.run().assert_outcomes(passed=1)
