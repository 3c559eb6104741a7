"""Imports one plugin in this fresh interpreter, watched, and writes down what the import did besides.

Run by `openprogram_core.plugin_kit.import_checks` in a process of its own:
``python -B -m openprogram_core.plugin_kit.import_probe TARGET RESULT_FILE``.
"""

from __future__ import annotations

import importlib
import json
import logging
import os
import sys
import threading
import time
from pathlib import Path
from types import FrameType
from typing import Any

VENDOR_SDKS = ("openai", "anthropic", "google.genai")
_ACTS = {
    "socket.connect": "connected a socket",
    "socket.bind": "bound a socket",
    "socket.getaddrinfo": "looked up a host name",
    "socket.gethostbyname": "looked up a host name",
    "socket.sendto": "sent over a socket",
    "subprocess.Popen": "started a process",
    "os.system": "started a process",
    "os.posix_spawn": "started a process",
    "os.fork": "started a process",
    "os.mkdir": "made a folder",
    "os.remove": "removed a file",
    "os.rename": "renamed a file",
}


class Watch:
    """An audit hook; it cannot be taken back, which is why this is a process of its own."""

    def __init__(self, package: str) -> None:
        self.active = False
        self.acts: list[dict[str, str]] = []
        self._package = package

    def __call__(self, event: str, arguments: tuple[Any, ...]) -> None:
        """Note what the running import does besides importing."""
        if not self.active:
            return
        if event == "open":
            frame = sys._getframe(1)
            if not _belongs_to_importing(frame):
                self._note(f"opened {_short(arguments[0])}", frame)
        elif event in _ACTS:
            self._note(_ACTS[event], sys._getframe(1))

    def _note(self, act: str, frame: FrameType) -> None:
        self.active = False
        try:
            entry = {"act": act, "where": self._where(frame)}
            if entry not in self.acts:
                self.acts.append(entry)
        finally:
            self.active = True

    def _where(self, frame: FrameType) -> str:
        found: FrameType | None = frame
        while found is not None:
            module = found.f_globals.get("__name__", "")
            if module == self._package or module.startswith(self._package + "."):
                return f"{module}, line {found.f_lineno}"
            found = found.f_back
        return str(frame.f_globals.get("__name__", "?"))


def _belongs_to_importing(frame: FrameType) -> bool:
    if frame.f_code.co_filename.startswith("<frozen "):
        return True
    # Asking for a version or for entry points at import is what many libraries do, and is only reading.
    found: FrameType | None = frame
    while found is not None:
        if found.f_globals.get("__name__", "").startswith(("importlib.metadata", "importlib_metadata")):
            return True
        found = found.f_back
    return False


def _short(path: object) -> str:
    if isinstance(path, int):
        return f"file descriptor {path}"
    return Path(os.fsdecode(path)).name if isinstance(path, str | bytes | os.PathLike) else "a file"


def probe(target: str) -> dict[str, Any]:
    """Import ``target`` (``module`` or ``module:attribute``); returns what that did as JSON values."""
    # What every plugin imports of the core is there already and is nobody's doing.
    for module in ("providers", "redaction", "comparison", "hookspecs", "testing", "_plugins"):
        importlib.import_module(f"openprogram_core.{module}")
    from openprogram_core._runtime import runtime
    from openprogram_core.providers.api_registry import registry

    module_name = target.partition(":")[0].strip()
    watch = Watch(module_name.partition(".")[0])
    sys.addaudithook(watch)
    before = set(sys.modules)
    threads = threading.active_count()
    handlers = len(logging.getLogger().handlers)
    begin = time.perf_counter()
    watch.active = True
    try:
        importlib.import_module(module_name)
    except BaseException as error:
        watch.active = False
        return {"failed": type(error).__name__}
    watch.active = False
    seconds = time.perf_counter() - begin
    structlog = sys.modules.get("structlog")
    changes = [
        ("registered a provider", bool(registry.known())),
        ("started the provider runtime", runtime.started),
        ("configured structlog", structlog is not None and structlog.is_configured()),
        ("added a handler to the root logger", len(logging.getLogger().handlers) != handlers),
        ("started a thread", threading.active_count() != threads),
    ]
    return {
        "acts": watch.acts + [{"act": act, "where": module_name} for act, done in changes if done],
        "sdks": sorted(sdk for sdk in VENDOR_SDKS if sdk in sys.modules and sdk not in before),
        "seconds": seconds,
    }


if __name__ == "__main__":
    Path(sys.argv[2]).write_text(json.dumps(probe(sys.argv[1])), encoding="utf-8")
