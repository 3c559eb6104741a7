"""One call that is being recorded: its event rows as they come, and its one end."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Any

from openprogram_core.errors import ProviderError
from openprogram_core.recordings import (
    Outcome,
    RecordingWriteError,
    RowFaultError,
    call_end_row,
    encode_event,
    event_row_head,
)

if TYPE_CHECKING:
    from openprogram_core.providers import AssistantMessageEvent
    from openprogram_core.redaction import CallRedactor
    from openprogram_record._journal import Journal

_LONGEST_MESSAGE = 16_384


class CallRecorder:
    """Writes the rows of one call. Its methods may be called while another thread closes the sink."""

    __slots__ = (
        "_began",
        "_ended",
        "_event_count",
        "_generation",
        "_head",
        "_journal",
        "_lock",
        "_open",
        "_redactor",
        "_terminal",
        "call_index",
    )

    def __init__(
        self,
        journal: Journal,
        redactor: CallRedactor,
        started: tuple[int, int],
        open_calls: dict[int, CallRecorder],
    ) -> None:
        self.call_index, self._generation = started
        self._journal = journal
        self._redactor = redactor
        self._open = open_calls
        self._head = event_row_head(self.call_index)
        self._event_count = 0
        self._began = time.monotonic()
        self._terminal = False
        self._ended = False
        self._lock = threading.RLock()
        open_calls[self.call_index] = self

    def event(self, event: AssistantMessageEvent) -> None:
        """Put an event on file. Raises `RecordingWriteError` or `RedactionError`; then it is not there."""
        with self._lock:
            if self._ended:
                raise self._error("the recording was closed while the call was running")
            count = self._event_count
            try:
                payloads = self._redactor.event(event)
                if len(payloads) == 1:
                    rows = b'%b%d,"event":%b}\n' % (self._head, count, encode_event(payloads[0]))
                else:
                    rows = self._rows(payloads)
            except RowFaultError as fault:
                raise self._error(fault.reason) from None
            self._journal.append(rows, self.call_index, self._generation)
            self._event_count = count + len(payloads)
            if event.type == "done" or event.type == "error":
                self._terminal = True

    def _rows(self, payloads: Any) -> bytes:
        return b"".join(
            b'%b%d,"event":%b}\n' % (self._head, event_index, encode_event(payload))
            for event_index, payload in enumerate(payloads, self._event_count)
        )

    def end(self, outcome: Outcome, error: BaseException | None = None) -> None:
        """Write the call's end, once. ``abandoned`` after the terminal event is ``complete``.

        Raises `RecordingWriteError`; the sink tries again when it is closed.
        """
        with self._lock:
            if self._ended or self._generation != self._journal.generation:
                return
            if outcome == "abandoned" and self._terminal:
                outcome = "complete"
            rows, count = self._held()
            duration_ms = int((time.monotonic() - self._began) * 1000)
            rows += call_end_row(
                self.call_index,
                self._event_count + count,
                outcome,
                error=None if error is None else self._describe(error),
                duration_ms=duration_ms,
            )
            self._journal.append(rows, self.call_index, self._generation, last=True)
            self._ended = True
            self._open.pop(self.call_index, None)

    def _held(self) -> tuple[bytes, int]:
        """The rows of what redaction still held back. Without them the end is still true."""
        try:
            payloads = self._redactor.finish()
            return self._rows(payloads), len(payloads)
        except Exception:  # a plugin's rule may raise anything, and the call must get its end
            return b"", 0

    def _describe(self, error: BaseException) -> dict[str, Any]:
        kind = type(error).__name__
        try:
            message = str(error)
            if len(message) > _LONGEST_MESSAGE:
                message = message[:_LONGEST_MESSAGE] + "…"
            facts: dict[str, Any] = {"type": kind, "message": message}
            if isinstance(error, ProviderError):
                facts |= {
                    "kind": error.kind,
                    "retryable": error.retryable,
                    "retry_after_s": error.retry_after_s,
                }
            described: dict[str, Any] = self._redactor.value(facts, "error")
        except Exception as fault:  # a plugin's rule or the error's own __str__ failed
            return {"type": kind, "message": f"[not recorded: {type(fault).__name__}]"}
        return described

    def _error(self, reason: str) -> RecordingWriteError:
        return RecordingWriteError(self._journal.path, reason, call_index=self.call_index)
