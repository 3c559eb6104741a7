"""The time in which one recording is made or replayed. Imported by the first test that has one."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from openprogram_core import OpenProgramError, PluginSet, default_plugin_set
from openprogram_core.comparison import ComparisonPolicy, check_request_skips
from openprogram_core.errors import RecordingFileError
from openprogram_core.providers import ApiProvider, ProviderWrapper, override_providers
from openprogram_pytest.network import network_blocked
from openprogram_pytest.settings import RecordingSettings, RecordMode
from openprogram_pytest.tally import CountedProvider, RefusingProvider, Tally

if TYPE_CHECKING:
    from openprogram_record import RecordingSink
    from openprogram_replay import ReplayMismatch, ReplayProvider

Action: TypeAlias = Literal["replay", "record", "live", "refuse"]


class UnusableRecordingError(OpenProgramError):
    """The recording of a test is missing or cannot be replayed, or what the test did leaves none to keep."""


class RecordingSpan:
    """One recording while it is made or replayed; what the fixtures give to tests.

    ``path`` is the recording's file, ``action`` what happens: ``replay``, ``record``, ``live``, or ``refuse``
    where there is nothing to replay: then ``problem`` says why, and ``lacks`` in one word.
    """

    def __init__(
        self,
        path: Path,
        mode: RecordMode,
        owner: str,
        settings: RecordingSettings,
        command: str,
        asked_by: str = "@pytest.mark.openprogram_recording(",
    ) -> None:
        """Plan it; nothing is opened before `open`.

        ``owner`` is the test's id, written into the recording. ``command`` is the command line that records
        it and ``asked_by`` the call that takes the settings up to the first of them, both for messages.
        """
        self.path = path
        self.owner = owner
        self.action: Action = _action(mode, path)
        self.problem: str | None = None
        self.lacks: Literal["missing", "broken"] | None = None
        self.finished = False
        self._settings = settings
        self._command = command
        self._asked_by = asked_by
        self._tally = Tally()
        self._stack = ExitStack()
        self._replay: ReplayProvider | None = None
        self._sink: RecordingSink | None = None
        self._draft: Path | None = None
        self._refused_hosts: list[str] = []

    @property
    def calls(self) -> int:
        """How many provider calls have begun so far."""
        return self._tally.calls

    def open(self) -> None:
        """Put the recording between the program and its providers; one that lacks or is broken is `problem`.

        Raises OpenProgramError and OSError for what no recording anew would cure: a skip that cannot be read,
        a plugin that fails, a configuration or a folder that cannot be used.
        """
        try:
            self._open(self._checked_plugins())
        except RecordingFileError as error:
            self._stack.close()
            self._stack = ExitStack()
            self._refuse("broken", f"{error}. Record it anew")
        except BaseException:
            self._stack.close()
            self.discard()
            raise

    def _checked_plugins(self) -> PluginSet:
        """Return the plugins, after a look at all that a replay would need, whatever is done now."""
        given = self._settings.plugins
        if self.action == "live":
            # Like mode off: a third party's plugin that fails is in nobody's way.
            plugins = PluginSet.load(only_built_in=True).with_plugins(given) if given else PluginSet([], {})
            ComparisonPolicy.from_plugins(plugins, check_request_skips(self._settings.skip))
            return plugins
        from openprogram_core.redaction import Redactor

        plugins = default_plugin_set().with_plugins(given)
        Redactor.from_plugins(plugins)
        ComparisonPolicy.from_plugins(plugins, check_request_skips(self._settings.skip))
        return plugins

    def _open(self, plugins: PluginSet) -> None:
        if self.action == "refuse":
            reason = f"there is no recording {_shown(self.path)} for {self.owner}. Record it"
            self._refuse("missing", reason)
        elif self.action == "replay":
            self._open_replay(plugins)
        elif self.action == "record":
            self._open_record(plugins)
        else:
            self._override(lambda provider: provider)

    def _open_replay(self, plugins: PluginSet) -> None:
        from openprogram_replay import ReplayProvider, ReplayWording

        settings = self._settings
        wording = ReplayWording(
            skip=f"{self._asked_by}skip={{}})", any_order=f'{self._asked_by}order="any-order")'
        )
        replay = ReplayProvider(
            self.path, order=settings.order, plugins=plugins, skip=settings.skip, wording=wording
        )
        self._replay = replay
        self._stack.callback(replay.close)
        self._override(lambda provider: replay, serves_all=True)
        self._block_network()

    def _open_record(self, plugins: PluginSet) -> None:
        from openprogram_record import RecordingProvider, RecordingSink

        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._draft = self.path.with_name(f".{self.path.name}.{token_hex(4)}.tmp")
        sink = RecordingSink(self._draft, plugins=plugins, facts={"test": self.owner})
        self._sink = sink
        self._stack.callback(sink.close)
        self._override(lambda provider: RecordingProvider(provider, sink))

    def _refuse(self, lacks: Literal["missing", "broken"], reason: str) -> None:
        self.action = "refuse"
        self.lacks = lacks
        self.problem = f"{reason}, which calls the live service: {self._command}"
        refusing = RefusingProvider(self.problem)
        self._override(lambda provider: refusing, serves_all=True)
        self._block_network()

    def _override(self, inner: Callable[[Any], ApiProvider], *, serves_all: bool = False) -> None:
        def wrap(api: str, provider: ApiProvider | None) -> ApiProvider:
            return CountedProvider(inner(provider), self._tally)

        wrapper = ProviderWrapper("openprogram_pytest", "record_replay", wrap, serves_all=serves_all)
        self._stack.enter_context(override_providers(wrapper))

    def _block_network(self) -> None:
        self._refused_hosts = self._stack.enter_context(network_blocked(self._settings.allow_hosts))

    def finish(self) -> None:
        """End the recording after a test that went well; calls after it are refused.

        Raises `UnusableRecordingError` when there was no call, when a replay was not followed to its end, or
        when what was recorded could not be replayed.
        """
        self.finished = True
        self._end()
        if self.calls == 0:
            raise UnusableRecordingError(
                f"{self.owner} made no provider call while its recording was open: take the marker or the "
                "fixture away, or make the calls in the test (or in a fixture of it), not before or after"
            )
        if self._replay is not None:
            from openprogram_replay import ReplayMismatch

            try:
                self._replay.assert_consumed()
            except ReplayMismatch as mismatch:
                raise UnusableRecordingError(self._explain(mismatch)) from None
        elif self._draft is not None and self._sink is not None:
            from openprogram_core.recordings import read_recording_file

            self._sink.close()
            # A recording that cannot be read back must not take the place of one that can.
            read_recording_file(self._draft).close()

    def _explain(self, mismatch: ReplayMismatch) -> str:
        return f"{mismatch.report()}\nrecord it anew: {self._command}"

    def _end(self) -> None:
        if self.action != "live":
            self._tally.refusal = (
                f"a provider call after the end of {self.owner}: its recording {_shown(self.path)} ends with "
                "the test. Make the call in the test, or record a fixture's calls with "
                "openprogram_shared_recording"
            )

    def close(self) -> None:
        """Let go of providers, files and sockets; a draft stays until `keep` or `discard`."""
        self._end()
        self._stack.close()

    def keep(self) -> None:
        """Put what was recorded in the place of the old recording, at one stroke. Raises OSError."""
        if self._draft is not None:
            self._draft.replace(self.path)
            self._draft = None

    def discard(self) -> None:
        """Forget what was recorded; the old recording stays as it was."""
        if self._draft is None:
            return
        draft, self._draft = self._draft, None
        draft.unlink(missing_ok=True)
        for folder in (draft.parent, draft.parent.parent):
            try:
                folder.rmdir()
            except OSError:
                return

    def details(self) -> list[str]:
        """Return what helps with a test that failed: the first mismatch's report, and connections refused."""
        parts = []
        if self._replay is not None and self._replay.mismatches:
            parts.append(self._explain(self._replay.mismatches[0]))
        if self._refused_hosts:
            parts.append("connections refused while replaying: " + ", ".join(self._refused_hosts))
        return parts

    def facts(self, kept: bool) -> dict[str, Any]:
        """Return what the summary counts, as plain JSON values."""
        action = "dropped" if self.action == "record" and not kept else self.lacks or self.action
        replayed = self._replay.calls_used if self._replay is not None else 0
        return {
            "path": os.fspath(self.path),
            "action": action,
            "replayed_calls": replayed,
            "live_calls": self.calls if self.action in ("record", "live") else 0,
            "tokens": self._tally.tokens,
        }


def _action(mode: RecordMode, path: Path) -> Action:
    if mode == "live":
        return "live"
    if mode == "rewrite":
        return "record"
    if path.exists():
        return "replay"
    return "record" if mode == "once" else "refuse"


def _shown(path: Path) -> str:
    try:
        return os.fspath(path.relative_to(Path.cwd()))
    except ValueError:
        return os.fspath(path)
