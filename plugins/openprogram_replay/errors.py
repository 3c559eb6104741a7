"""What replay raises: a request or a reading that does not fit, and a failure that was recorded."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, get_args

from openprogram_core import OpenProgramError
from openprogram_core.comparison import one_line_difference
from openprogram_core.providers import ErrorKind, ProviderError

MESSAGE_LIMIT = 512
"""Most characters of a `ReplayMismatch`'s message."""


class ReplayMismatch(OpenProgramError):  # noqa: N818 - the spec's name
    """What the program does is not what was recorded.

    ``call_index`` is the recorded call it was held against, ``field_path`` the first field that differs,
    ``recorded`` and ``incoming`` the two values whole (`openprogram_core.comparison.MISSING` where a side has
    none), without secrets. ``field_path`` is ``call_index`` when a call was made that was not recorded, or
    was recorded and not made, and ``event_index`` when the consumer reads on where the recorded one had left;
    then the attribute ``event_index`` is set.

    The message is one line of at most 512 characters; `report` says the rest.
    """

    def __init__(
        self,
        call_index: int,
        field_path: str,
        recorded: Any,
        incoming: Any,
        *,
        event_index: int | None = None,
        make_report: Callable[[], str] | None = None,
    ) -> None:
        start = f"replay mismatch at call {call_index}, "
        super().__init__(
            start + one_line_difference(field_path, recorded, incoming, MESSAGE_LIMIT - len(start))
        )
        self.call_index = call_index
        self.field_path = field_path
        self.recorded = recorded
        self.incoming = incoming
        self.event_index = event_index
        self._make_report = make_report
        self._report: str | None = None

    def report(self) -> str:
        """Return the message and what a person needs next, in several lines.

        Every difference, the recorded call that fits best, what was skipped and by which plugin. Made when
        first asked for, from the recording; never raises.
        """
        if self._report is None:
            details = self._make_report() if self._make_report is not None else ""
            self._report = f"{self}\n\n{details}" if details else str(self)
            self._make_report = None
        return self._report

    def __reduce__(self) -> tuple[Any, ...]:
        # The report is made now: what it is made from does not travel.
        self.report()
        return super().__reduce__()


class RecordedCallError(ProviderError):
    """A recorded call had failed or was cancelled, and replay fails the same way, after its events.

    ``type`` is the class name of the error that was recorded (None when it was not), ``outcome`` ``error`` or
    ``cancelled``, ``call_index`` the call. ``kind``, ``retryable`` and ``retry_after_s`` are the recorded
    ones; a failure recorded without them is of kind ``protocol`` and not retryable.
    """

    def __init__(self, call_index: int, outcome: str, error: dict[str, Any] | None) -> None:
        facts = error or {}
        kind: ErrorKind = facts["kind"] if facts.get("kind") in get_args(ErrorKind) else "protocol"
        wait = facts.get("retry_after_s")
        message = facts.get("message")
        super().__init__(
            kind,
            message
            if isinstance(message, str) and message
            else f"call {call_index} was recorded as {outcome}",
            retryable=facts.get("retryable") is True,
            retry_after_s=float(wait) if isinstance(wait, int | float) else None,
        )
        recorded_type = facts.get("type")
        self.type: str | None = recorded_type if isinstance(recorded_type, str) else None
        self.outcome = outcome
        self.call_index = call_index
