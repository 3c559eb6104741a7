"""Refuses connections while a test is replayed: Python's own; C code that opens its own is not seen."""

from __future__ import annotations

import ipaddress
import socket
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from openprogram_core import OpenProgramError

_LOCAL_NAMES = frozenset(("", "localhost", "localhost.localdomain", "ip6-localhost"))


class NetworkBlockedError(OpenProgramError):
    """A replayed test tried to reach the network. ``host`` is what it tried to reach.

    It is no OSError, so that code which treats a failing network as an everyday thing does not hide it.
    """

    def __init__(self, host: str, what: str) -> None:
        super().__init__(
            f"{what} {host!r} is refused while a recording is replayed. If the test needs it, add the host "
            "to openprogram_allowed_hosts in pytest's configuration, or to the marker: "
            f"@pytest.mark.openprogram_recording(allow_hosts=[{host!r}])"
        )
        self.host = host


class _Guard:
    """Patches the socket module while at least one block is active."""

    def __init__(self) -> None:
        self._active: list[frozenset[str]] = []
        self._resolved: set[str] = set()
        self._undo: list[Callable[[], None]] = []
        self.refused: list[str] = []

    def enter(self, allowed: frozenset[str]) -> None:
        self._active.append(allowed)
        if len(self._active) == 1:
            self.refused.clear()
            self._patch()

    def leave(self, allowed: frozenset[str]) -> None:
        self._active.remove(allowed)
        if not self._active:
            self._resolved.clear()
            while self._undo:
                self._undo.pop()()

    def _patch(self) -> None:
        for name in ("connect", "connect_ex", "sendto"):
            self._replace(socket.socket, name, self._guarded_method)
        for name in ("getaddrinfo", "gethostbyname", "gethostbyname_ex"):
            self._replace(socket, name, self._guarded_lookup)

    def _replace(self, owner: Any, name: str, make: Callable[[Any], Any]) -> None:
        own = owner.__dict__.get(name)
        setattr(owner, name, make(getattr(owner, name)))
        self._undo.append(lambda: setattr(owner, name, own) if own is not None else delattr(owner, name))

    def _guarded_method(self, original: Any) -> Any:
        def guarded(sock: socket.socket, *arguments: Any) -> Any:
            __tracebackhide__ = True
            address = arguments[-1] if arguments else None
            if sock.family in (socket.AF_INET, socket.AF_INET6) and isinstance(address, tuple):
                try:
                    self._check(str(address[0]), "a connection to")
                except NetworkBlockedError:
                    # Whoever made it for this connection closes it after an OSError, and this is none.
                    if sock.type == socket.SOCK_STREAM:
                        sock.close()
                    raise
            return original(sock, *arguments)

        return guarded

    def _guarded_lookup(self, original: Any) -> Any:
        def guarded(host: Any, *arguments: Any, **named: Any) -> Any:
            __tracebackhide__ = True
            name = host.decode("ascii", "replace") if isinstance(host, bytes) else host
            # A literal address or the machine's own name is looked up without the network.
            if name is None or name.lower() in _LOCAL_NAMES or _address(name) is not None:
                return original(host, *arguments, **named)
            self._check(name, "looking up")
            found = original(host, *arguments, **named)
            self._resolved.update(_addresses(found))
            return found

        return guarded

    def _check(self, host: str, what: str) -> None:
        __tracebackhide__ = True
        if host in self._resolved or any(_allows(allowed, host) for allowed in self._active):
            return
        if _within_socketpair():
            return
        if host not in self.refused:
            self.refused.append(host)
        raise NetworkBlockedError(host, what)


_guard = _Guard()


@contextmanager
def network_blocked(allow_hosts: Iterable[str]) -> Iterator[list[str]]:
    """Refuse connections of this process, but to ``allow_hosts``, while the block runs.

    ``localhost`` stands for every address of this machine's own loopback. Unix sockets are left alone. Gives
    the list of the hosts that were refused, which grows. Blocks nest; what one of them allows is allowed.
    """
    allowed = frozenset(host.lower() for host in allow_hosts)
    _guard.enter(allowed)
    try:
        yield _guard.refused
    finally:
        _guard.leave(allowed)


def _allows(allowed: frozenset[str], host: str) -> bool:
    if host.lower() in allowed:
        return True
    address = _address(host)
    return address is not None and address.is_loopback and bool(allowed & _LOCAL_NAMES)


def _address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return None


def _addresses(found: Any) -> Iterator[str]:
    if isinstance(found, str):
        yield found
    elif isinstance(found, tuple):
        yield from found[2]
    else:
        for entry in found:
            yield str(entry[4][0])


def _within_socketpair() -> bool:
    # Where the system has no socketpair, Python makes one over loopback; every event loop needs it.
    frame = sys._getframe(1)
    for _ in range(4):
        if frame.f_back is None:
            return False
        frame = frame.f_back
        if frame.f_globals.get("__name__") == "socket" and "socketpair" in frame.f_code.co_name:
            return True
    return False
