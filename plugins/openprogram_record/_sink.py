"""The place recorded calls go to: one file, shared by everybody in the process who records to it."""

from __future__ import annotations

import os
import threading
import uuid
import weakref
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

import openprogram_core
from openprogram_core import OpenProgramError
from openprogram_core.recordings import (
    MAX_ROW_BYTES,
    RecordingWriteError,
    RowFaultError,
    check_request,
    current_lane,
    header_row,
    request_row,
)
from openprogram_record._calls import CallRecorder, OpenCalls
from openprogram_record._journal import Journal

if TYPE_CHECKING:
    from openprogram_core import PluginSet
    from openprogram_core.providers import Context, Model, StreamOptions
    from openprogram_core.redaction import Redactor

_lock = threading.RLock()
_shared: dict[Path, Journal] = {}


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _acquire(
    path: Path, redactor: Redactor, append: bool, max_row_bytes: int, facts: Mapping[str, Any]
) -> Journal:
    with _lock:
        journal = _shared.get(path)
        if journal is not None:
            # Counted first: a collected sink may let go of it at any moment, in this thread too.
            journal.users += 1
            if journal.in_place:
                return journal
            _release(path, journal)
        header = header_row(
            recording_id=uuid.uuid4().hex,
            created_at=_now(),
            generator=f"openprogram-core {openprogram_core.__version__}",
            redaction=redactor.header(),
            facts=redactor.remove_secret_values(dict(facts)),
        )
        journal = Journal(path, header, append=append, max_row_bytes=max_row_bytes)
        journal.users = 1
        _shared[path] = journal
        return journal


def _release(path: Path, journal: Journal) -> None:
    with _lock:
        journal.users -= 1
        if journal.users > 0:
            return
        if _shared.get(path) is journal:
            del _shared[path]
    journal.close()


class RecordingSink:
    """Records calls into one file. Thread-safe; close it, or use it as a context manager.

    Sinks on one real path share the open file. ``plugins`` are loaded beside the installed ones, for their
    secret rules; a `PluginSet` replaces those. A file that holds calls already is an error unless ``append``
    is true. Rows longer than ``max_row_bytes`` fail their call. ``facts`` are JSON values for the header of a
    new file, beside its own; readers ignore them.

    Raises `RecordingWriteError` when the file cannot be written, `RecordingFileError` when it is no
    recording, `PluginError` and `RedactionError` when redaction could not be set up.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        plugins: PluginSet | Sequence[object] = (),
        append: bool = False,
        max_row_bytes: int = MAX_ROW_BYTES,
        facts: Mapping[str, Any] | None = None,
    ) -> None:
        from openprogram_core import PluginSet, default_plugin_set
        from openprogram_core.redaction import Redactor

        if not isinstance(plugins, PluginSet):
            plugins = default_plugin_set().with_plugins(plugins)
        self.path = Path(os.path.realpath(path))
        self._redactor = Redactor.from_plugins(plugins)
        self._journal = _acquire(self.path, self._redactor, append, max_row_bytes, facts or {})
        self._open = OpenCalls()
        # Also runs when the sink was forgotten, and at the interpreter's exit.
        self._finalizer = weakref.finalize(self, _close, self.path, self._journal, self._open)

    def __repr__(self) -> str:
        return f"<RecordingSink {self.path}>"

    def __enter__(self) -> RecordingSink:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self.close()
        except OpenProgramError:
            # What the block raised is what happened first.
            if error is None:
                raise

    def begin_call(
        self, model: Model, context: Context, options: StreamOptions | None, known_values: Iterable[str] = ()
    ) -> CallRecorder:
        """Write the request of a call, which gives it its index, and return what records the rest.

        ``known_values`` are secrets to remove wherever they turn up in the call. Raises
        `RecordingWriteError` or `RedactionError`; then nothing of the call is on file.
        """
        redactor = self._redactor.open_call(known_values)
        at, lane = _now(), current_lane()
        try:
            payload = redactor.request(model, context, options).dump()
            check_request(payload)
            if redactor.value(lane, "lane") != lane:
                reason = "the name given to call_lane() holds a secret. Name a lane after what the agent does"
                raise RecordingWriteError(self.path, reason)
        except RowFaultError as fault:
            raise RecordingWriteError(self.path, fault.reason) from None
        except (TypeError, ValueError, RecursionError) as error:
            reason = f"the request cannot be written as JSON ({type(error).__name__})"
            raise RecordingWriteError(self.path, reason) from None
        # Together, so that a sink that is being closed ends every call that has begun.
        with self._journal.mutex:
            if self._open.closed:
                raise RecordingWriteError(self.path, "the recording was closed")
            started = self._journal.begin(
                lambda call_index: request_row(call_index, payload, at=at, lane=lane)
            )
            return CallRecorder(self._journal, redactor, started, self._open)

    def close(self) -> None:
        """End the calls still open, bring everything to the disk, and let go of the file.

        Closing again does nothing. Raises `RecordingWriteError` when something could not be written.
        """
        self._finalizer()


def _close(path: Path, journal: Journal, open_calls: OpenCalls) -> None:
    failure: OpenProgramError | None = None
    with journal.mutex:
        open_calls.closed = True
    for call in list(open_calls.calls.values()):
        try:
            call.end("abandoned")
        except OpenProgramError as error:
            failure = failure or error
    _release(path, journal)
    if failure is not None:
        raise failure


def _forget_calls() -> None:
    global _lock
    _lock = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_calls)
