"""One call that is being recorded: its event rows as they come, and its one end."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from openprogram_core.errors import OpenProgramError, ProviderError, RedactionError
from openprogram_core.providers import DoneEvent, ErrorEvent
from openprogram_core.recordings import (
    FLAT_EVENTS,
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


class OpenCalls:
    """The calls of one sink that have no end yet; ``closed`` once the sink takes no more."""

    def __init__(self) -> None:
        self.calls: dict[int, CallRecorder] = {}
        self.closed = False


class CallRecorder:
    """Writes the rows of one call. Another thread may close the sink meanwhile.

    ``event_count`` counts the rows of its events, ``generation`` is the journal's when it began.
    """

    __slots__ = (
        "_append",
        "_began",
        "_busy",
        "_end",
        "_ending",
        "_fault",
        "_finished",
        "_head",
        "_journal",
        "_open",
        "_redact",
        "_redactor",
        "_terminal",
        "call_index",
        "ended",
        "event_count",
        "generation",
        "offset",
        "unsure",
    )

    def __init__(
        self,
        journal: Journal,
        redactor: CallRedactor,
        started: tuple[int, int, int],
        open_calls: OpenCalls,
    ) -> None:
        self.call_index, self.generation, self.offset = started
        self.event_count = 0
        self.unsure = False
        self.ended = False
        self._journal = journal
        self._append = journal.append
        self._redactor = redactor
        self._redact = redactor.event
        self._open = open_calls.calls
        self._head = event_row_head(self.call_index)
        self._began = time.monotonic()
        self._terminal = False
        self._end: bytes | None = None
        self._ending: tuple[Outcome, BaseException | None] | None = None
        self._fault: OpenProgramError | None = None
        self._finished = False
        self._busy = False
        open_calls.calls[self.call_index] = self
        journal.claim(self.call_index)

    def event(self, event: AssistantMessageEvent) -> None:
        """Put an event on file. Raises `RecordingWriteError` or `RedactionError`; then it is not there."""
        # First busy, then the look at ended; `end` does it the other way round. So the redactor, which
        # serves one at a time, is never used by both, and no lock is needed for each event.
        self._busy = True
        try:
            if self.ended:
                raise self._error("the recording was closed while the call was running")
            payloads = self._redact(event)
            if len(payloads) == 1 and type(payload := payloads[0]) in FLAT_EVENTS:
                # What almost every row is, and the short way for it.
                try:
                    body = payload.__pydantic_serializer__.to_json(payload)  # type: ignore[union-attr]  # no dict
                except ValueError:
                    body = encode_event(payload)
                self._append(b'%b%d,"event":%b}\n' % (self._head, self.event_count, body), self, 1)
            else:
                self._append(self._rows(payloads), self, len(payloads))
                self._terminal = self._terminal or isinstance(event, DoneEvent | ErrorEvent)
        except RowFaultError as fault:
            raise self._error(fault.reason) from None
        except (AttributeError, TypeError, ValueError, RecursionError) as error:
            raise self._error(
                f"the provider yielded a {type(event).__name__} that cannot be written as an event "
                f"({type(error).__name__}); check it with check_event_protocol()"
            ) from None
        finally:
            self._busy = False

    def _rows(self, payloads: Any) -> bytes:
        return b"".join(
            b'%b%d,"event":%b}\n' % (self._head, event_index, encode_event(payload))
            for event_index, payload in enumerate(payloads, self.event_count)
        )

    def end(self, outcome: Outcome, error: BaseException | None = None) -> None:
        """Write the call's end, once. ``abandoned`` after the terminal event is ``complete``.

        Raises `RecordingWriteError`; the sink tries again when it is closed. Raises `RedactionError` when a
        rule failed over what redaction still held; then a complete call has ended as ``error``.
        """
        if self._ending is None:
            # Decided by who comes first, before anybody sees that the call has ended.
            self._ending = (outcome, error)
        self.ended = True
        if self.generation != self._journal.generation:
            return
        with self._journal.mutex:
            if self._finished:
                return
            if not (self.unsure and self._is_on_file()):
                if self._end is None:
                    self._end = self._make_end(*self._ending)
                self._journal.finish(self._end, self)
            self._finished = True
        self._open.pop(self.call_index, None)
        if self._fault is not None:
            raise self._fault

    def _is_on_file(self) -> bool:
        """Ask the file what an interrupted write left; returns whether the call's end is there."""
        events = self._journal.look_back(self)
        if events is None:
            return True
        if self._end is not None and events.number != self.event_count:
            # The held rows and the end are one write, which cannot have happened in part.
            self._end = None
        self.event_count = events.number
        self._terminal = self._terminal or events.terminal
        return False

    def _make_end(self, outcome: Outcome, error: BaseException | None) -> bytes:
        """The last rows. They are kept: what cannot be written now is still true later."""
        if outcome == "abandoned" and self._terminal:
            outcome = "complete"
        held, count = (b"", 0) if self._busy else self._held()
        if self._fault is not None and outcome == "complete":
            outcome, error = "error", self._fault
        end = call_end_row(
            self.call_index,
            self.event_count + count,
            outcome,
            error=None if error is None else self._describe(error),
            duration_ms=int((time.monotonic() - self._began) * 1000),
        )
        return held + end

    def _held(self) -> tuple[bytes, int]:
        """The rows of what redaction still held back."""
        try:
            payloads = self._redactor.finish()
            return self._rows(payloads), len(payloads)
        except OpenProgramError as error:
            self._fault = error
        except Exception as error:  # a plugin's rule may raise anything, and the call must get its end
            self._fault = RedactionError(f"what was held back could not be written ({type(error).__name__})")
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
