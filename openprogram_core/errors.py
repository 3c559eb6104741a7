"""Every error this project raises, under one root.

A message says what happened, where, and what to do next. No message holds a secret: whoever puts foreign
text into one redacts and bounds it first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

    from openprogram_core.providers.messages import ErrorKind


class OpenProgramError(Exception):
    """Root of all errors of this project. Survives pickling and copying with its attributes."""

    def __reduce__(self) -> tuple[Any, ...]:
        # The default calls the class with the message alone, which no class below has as its only argument.
        return _restored, (type(self), self.args, self.__dict__)


def _restored(
    kind: type[OpenProgramError], args: tuple[Any, ...], attributes: dict[str, Any]
) -> OpenProgramError:
    error = kind.__new__(kind)
    error.args = args
    error.__dict__.update(attributes)
    return error


class PluginError(OpenProgramError):
    """A plugin failed, or broke the contract of a hook.

    ``plugin`` is the plugin's name, ``hook`` the hook or None when it failed outside one.
    """

    def __init__(self, plugin: str, hook: str | None, reason: str) -> None:
        where = f"plugin {plugin!r}" + (f", hook {hook}" if hook else "")
        super().__init__(f"{where}: {reason}")
        self.plugin = plugin
        self.hook = hook
        self.reason = reason


class PluginConflictError(PluginError):
    """Two plugins claim one name. ``claim`` is that name, ``plugins`` are both sides."""

    def __init__(self, claim: str, plugins: tuple[str, str], hook: str) -> None:
        super().__init__(
            plugins[1],
            hook,
            f"{claim!r} is claimed by {plugins[0]!r} too; neither gets it. "
            "Disable one of the two: [plugins] disabled in config.toml",
        )
        self.claim = claim
        self.plugins = plugins


class ProviderRuntimeInitializationError(OpenProgramError):
    """The provider runtime could not start; the process has to be restarted after mending the cause.

    Every caller gets a new instance with equal ``stage``, ``cause_type`` and ``cause_message`` (redacted,
    bounded).
    """

    def __init__(self, stage: str, cause_type: str, cause_message: str) -> None:
        super().__init__(
            f"the provider runtime failed at {stage}: {cause_type}: {cause_message}. "
            "Mend the cause and restart the process"
        )
        self.stage = stage
        self.cause_type = cause_type
        self.cause_message = cause_message


class RecordReplayBlockedError(OpenProgramError):
    """Recording or replay is configured but could not be activated, so no provider may be called.

    ``mode`` is the configured mode, ``unknown`` when the configuration cannot be used; ``cause_type`` and
    ``cause_message`` (redacted, bounded) are the class and the words of what went wrong.
    """

    def __init__(self, mode: str, cause_type: str, cause_message: str) -> None:
        what = (
            "the configuration cannot be used"
            if mode == "unknown"
            else f"{mode} is configured and cannot begin"
        )
        ways_out = [
            way
            for command, way in (
                ("openprogram recordings status", "'openprogram recordings status' says what is in the way"),
                (
                    "openprogram recordings off",
                    "'openprogram recordings off' switches it off for the next start",
                ),
            )
            # The cause may have said it already.
            if command not in cause_message
        ]
        cause = cause_message if cause_message.endswith((".", "…")) else f"{cause_message}."
        super().__init__(
            f"{what}: {cause} Until then no provider is called. {'; '.join(ways_out)}".rstrip(" ")
        )
        self.mode = mode
        self.cause_type = cause_type
        self.cause_message = cause_message


class ConfigurationError(OpenProgramError):
    """The configuration file cannot be used. ``line`` and ``column`` count from 1, None when unknown."""

    def __init__(
        self, path: Path, reason: str, *, line: int | None = None, column: int | None = None
    ) -> None:
        where = str(path)
        if line is not None:
            where += f", line {line}" + (f", column {column}" if column is not None else "")
        super().__init__(f"{where}: {reason}")
        self.path = path
        self.reason = reason
        self.line = line
        self.column = column


class UnknownApiError(OpenProgramError):
    """No provider is registered for a wire API."""

    def __init__(self, api: str, known: tuple[str, ...]) -> None:
        listed = ", ".join(known) if known else "none"
        super().__init__(
            f"no provider for the wire API {api!r} (registered: {listed}). "
            "Check model.api, or register one with register_api_provider() or a plugin's api_providers hook"
        )
        self.api = api
        self.known = known


class MissingCredentialsError(OpenProgramError):
    """A provider needs a key and none was given. ``variables`` are the environment variables looked at."""

    def __init__(self, provider: str, variables: tuple[str, ...]) -> None:
        listed = " or ".join(variables)
        super().__init__(
            f"no API key for provider {provider!r}: "
            + (f"set {listed}, or pass " if variables else "pass ")
            + "StreamOptions(api_key=...)"
        )
        self.provider = provider
        self.variables = variables


class MissingDependencyError(OpenProgramError):
    """A vendor SDK is not installed. ``extra`` is the extra of this distribution that brings it."""

    def __init__(self, package: str, extra: str) -> None:
        super().__init__(f"the package {package!r} is not installed: pip install 'openprogram-core[{extra}]'")
        self.package = package
        self.extra = extra


class ProviderError(OpenProgramError):
    """A provider call failed before its first event.

    ``kind`` is the same word for every vendor, ``retryable`` whether the same request may succeed later,
    ``retry_after_s`` the wait in seconds the service asked for, ``status`` the HTTP status if there was one.
    """

    def __init__(
        self,
        kind: ErrorKind,
        message: str,
        *,
        retryable: bool = False,
        retry_after_s: float | None = None,
        status: int | None = None,
    ) -> None:
        super().__init__(message)
        self.kind: ErrorKind = kind
        self.message = message
        self.retryable = retryable
        self.retry_after_s = retry_after_s
        self.status = status


class EventProtocolError(OpenProgramError):
    """Events do not form one message. ``event_index`` counts from 0."""

    def __init__(self, event_index: int, reason: str) -> None:
        super().__init__(f"event {event_index}: {reason}")
        self.event_index = event_index
        self.reason = reason


class RecordingFileError(OpenProgramError):
    """A recording file breaks a rule of its format, or cannot be read.

    ``line_number`` counts from 1; it and ``call_index`` are None where the fault belongs to no line or call.
    """

    def __init__(
        self,
        path: Path,
        reason: str,
        *,
        line_number: int | None = None,
        call_index: int | None = None,
    ) -> None:
        where = str(path)
        if line_number is not None:
            where += f", line {line_number}"
        if call_index is not None:
            where += f", call {call_index}"
        super().__init__(f"{where}: {reason}")
        self.path = path
        self.reason = reason
        self.line_number = line_number
        self.call_index = call_index


class RecordingWriteError(OpenProgramError):
    """A row could not be written, so the call that needed it fails. What was written before stays whole."""

    def __init__(self, path: Path, reason: str, *, call_index: int | None = None) -> None:
        where = str(path) + (f", call {call_index}" if call_index is not None else "")
        super().__init__(f"{where}: {reason}")
        self.path = path
        self.reason = reason
        self.call_index = call_index


class RecordingStoreError(OpenProgramError):
    """A managed recording cannot be created, found or removed. ``recording_id`` is the id asked for."""

    def __init__(self, recording_id: str, reason: str) -> None:
        super().__init__(f"recording {recording_id!r}: {reason}")
        self.recording_id = recording_id
        self.reason = reason


class RecordingsFolderError(OpenProgramError):
    """The folder of the managed recordings, or the state folder around it, cannot be used."""

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(f"{path}: {reason}")
        self.path = path
        self.reason = reason


class RedactionError(OpenProgramError):
    """Redaction could not be done, so nothing is recorded. Never holds the value.

    ``plugin`` and ``rule`` name whose rule or hook failed.
    """

    def __init__(self, reason: str, *, plugin: str | None = None, rule: str | None = None) -> None:
        where = "redaction"
        if plugin is not None:
            where += f", plugin {plugin!r}"
        if rule is not None:
            where += f", rule {rule!r}"
        super().__init__(f"{where}: {reason}")
        self.plugin = plugin
        self.rule = rule
        self.reason = reason
