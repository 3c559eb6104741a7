"""Answers provider calls from a recording."""

from __future__ import annotations

import copy
import os
import threading
from collections.abc import AsyncGenerator, Iterable, Sequence
from typing import Any, Literal

from openprogram_core import OpenProgramError, PluginSet, default_plugin_set
from openprogram_core.comparison import ComparisonPolicy, FieldSkip
from openprogram_core.errors import RecordingFileError
from openprogram_core.providers import (
    ApiProvider,
    AssistantMessageEvent,
    Context,
    Model,
    SimpleStreamOptions,
    StreamOptions,
)
from openprogram_core.recordings import RecordedCall, Recording, current_lane, read_recording_file
from openprogram_replay.advice import ReplayWording
from openprogram_replay.errors import RecordedCallError, ReplayMismatch
from openprogram_replay.reports import (
    MismatchFacts,
    make_leftover_report,
    make_read_past_report,
    make_report,
)
from openprogram_replay.selection import (
    AnyOrderSelection,
    OrderedSelection,
    Refusal,
    Selection,
    count_calls,
    listed,
)

Order = Literal["ordered", "any-order"]

REMEMBERED = 100
"""Most failures kept for the end; an agent that retries for ever must not fill the memory."""

REPORTED = 5
"""Most mismatches whose report outlives the recording."""


class ReplayProvider(ApiProvider):
    """Gives back the events of a recording, for every wire API in it. Holds no provider and no client.

    A call begins, and takes its place in the order, when its first event is asked for. Any number of tasks
    and threads may share one. See `openprogram_core.recordings.call_lane` for concurrent agents.
    """

    requires_credentials = False
    wrappable = False
    offline = True

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        order: Order = "ordered",
        plugins: PluginSet | Sequence[object] = (),
        skip: Iterable[str | FieldSkip] = (),
        wording: ReplayWording = ReplayWording(),  # noqa: B008 - frozen
    ) -> None:
        """Read the recording at ``path``, all of it.

        ``order``: ``ordered`` takes the next call of the lane, ``any-order`` the first unused one that is
        equal. ``plugins`` are modules or objects beside the installed plugins, or a whole `PluginSet` in
        their place. ``skip`` are fields not to compare, by name or path. ``wording`` is how reports say what
        to do; who replays on behalf of others says it in their words.

        Raises RecordingFileError, PluginError, RedactionError and `FieldPathError`, the last also for a path
        that begins with none of ``model``, ``context`` and ``options``; all before anything is replayed.
        """
        if order not in ("ordered", "any-order"):
            raise ValueError(f"order is 'ordered' or 'any-order', not {order!r}")
        # Redaction brings its matching engine; a process that never replays does not pay for it.
        from openprogram_core.redaction import Redactor

        loaded = plugins if isinstance(plugins, PluginSet) else default_plugin_set().with_plugins(plugins)
        self._redactor = Redactor.from_plugins(loaded)
        self._policy = ComparisonPolicy.for_replay(loaded, self._redactor, skip)
        self._order = order
        self._wording = wording
        self._recording: Recording = _read(path, wording)
        calls = self._recording.calls
        kind = OrderedSelection if order == "ordered" else AnyOrderSelection
        self._selection: Selection = kind(calls, self._policy)
        self._lock = threading.RLock()
        self._failures: list[OpenProgramError] = []
        self._failure_count = 0

    @property
    def apis(self) -> frozenset[str]:
        """The wire APIs of the recording."""
        return frozenset(call.api for call in self._recording.calls)

    @property
    def calls_used(self) -> int:
        """How many recorded calls have been given back, or begun to be."""
        with self._lock:
            return len(self._selection.used)

    @property
    def calls_left(self) -> list[int]:
        """The indexes of the recorded calls that have not been made."""
        with self._lock:
            used = self._selection.used
            return [call.call_index for call in self._recording.calls if call.call_index not in used]

    @property
    def failure_count(self) -> int:
        """How often replay itself has failed: mismatches, and a plugin's or the file's faults."""
        return self._failure_count

    @property
    def first_failure(self) -> OpenProgramError | None:
        """The first of these failures, caught or not."""
        with self._lock:
            return self._failures[0] if self._failures else None

    @property
    def mismatches(self) -> tuple[ReplayMismatch, ...]:
        """The mismatches so far, also those that were caught, at most the first hundred."""
        with self._lock:
            return tuple(error for error in self._failures if isinstance(error, ReplayMismatch))

    def stream(
        self, model: Model, context: Context, options: StreamOptions | None = None
    ) -> AsyncGenerator[AssistantMessageEvent, None]:
        """Return the recorded events of the call that fits.

        Raises from the first step `ReplayMismatch` when none does. After the events: `RecordedCallError` when
        the recorded call had failed or was cancelled, `ReplayMismatch` when its consumer had left there.
        """
        return self._replay(model, context, StreamOptions() if options is None else options)

    def stream_simple(
        self, model: Model, context: Context, options: SimpleStreamOptions | None = None
    ) -> AsyncGenerator[AssistantMessageEvent, None]:
        """Like `stream`."""
        return self._replay(model, context, SimpleStreamOptions() if options is None else options)

    async def _replay(
        self, model: Model, context: Context, options: StreamOptions
    ) -> AsyncGenerator[AssistantMessageEvent, None]:
        __tracebackhide__ = True
        try:
            call = self._begin(model, context, options)
            for event in call.events():
                yield event
            if call.outcome == "abandoned":
                raise self._read_past(call)
        except OpenProgramError as error:
            self._remember(error)
            raise
        if call.outcome in ("error", "cancelled"):
            raise RecordedCallError(call.call_index, call.outcome, call.error)

    def _begin(self, model: Model, context: Context, options: StreamOptions) -> RecordedCall:
        __tracebackhide__ = True
        # Needed for nothing but to keep it out of a mismatch, should the request's own text hold it.
        keys = [key for name in self.api_key_variables(model) if (key := os.environ.get(name))]
        incoming = self._redactor.open_call(keys).request(model, context, options).tree()
        lane = current_lane()
        with self._lock:
            chosen = self._selection.take(lane, incoming)
            if not isinstance(chosen, Refusal):
                return chosen
            facts = MismatchFacts(
                self._recording,
                self._order,
                lane,
                incoming,
                chosen.expected,
                frozenset(self._selection.used),
                self._policy,
                self._redactor,
                self._wording,
            )
        path, recorded, incoming_value = chosen.difference
        raise ReplayMismatch(
            chosen.call_index,
            self._clean("", path),
            self._clean(path, recorded),
            self._clean(path, incoming_value),
            make_report=lambda: make_report(facts),
        )

    def _read_past(self, call: RecordedCall) -> ReplayMismatch:
        count = call.event_count
        return ReplayMismatch(
            call.call_index,
            "event_index",
            f"left after {_count_events(count)}",
            f"asks for event {count}",
            event_index=count,
            make_report=lambda: make_read_past_report(self._recording, self._wording),
        )

    def _remember(self, error: OpenProgramError) -> None:
        with self._lock:
            self._failure_count += 1
            if len(self._failures) < REMEMBERED:
                self._failures.append(error)

    def _clean(self, path: str, value: Any) -> Any:
        """Return a copy of what goes into an error: its values are the receiver's, ours are shared."""
        if not isinstance(value, str | dict | list):
            return value
        # A file recorded with fewer rules than today's may hold a secret.
        return copy.deepcopy(self._redactor.remove_secret_values(value, field_path=path))

    def assert_consumed(self) -> None:
        """Raise the first mismatch there was, caught or not, or `ReplayMismatch` when calls were not made.

        What else went wrong in replay itself, a plugin's failure or a file changed meanwhile, counts alike.
        """
        failure = self.first_failure
        if failure is not None:
            raise failure
        left = self.calls_left
        if left:
            total = len(self._recording.calls)
            raise ReplayMismatch(
                left[0],
                "call_index",
                count_calls(total),
                f"{count_calls(total - len(left))}, not made: {listed(left, 10)}",
                make_report=lambda: make_leftover_report(self._recording, left, self._wording),
            )

    def close(self) -> None:
        """Close the recording. The reports of the mismatches so far are made first, so that they can be read
        afterwards."""
        for mismatch in self.mismatches[:REPORTED]:
            mismatch.report()
        self._recording.close()


def _read(path: str | os.PathLike[str], wording: ReplayWording) -> Recording:
    try:
        return read_recording_file(path)
    except RecordingFileError as error:
        if not wording.missing or os.path.lexists(path):
            raise
        hint = wording.missing.replace("{}", repr(os.fspath(path)), 1)
        raise RecordingFileError(error.path, f"{error.reason}. {hint}") from None


def _count_events(number: int) -> str:
    return "1 event" if number == 1 else f"{number} events"
