"""Options of one recording: from the command line, the configuration, a fixture and the test's markers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Literal, TypeAlias, cast

import pytest

MARKER = "openprogram_recording"
MODES = {
    "none": "replay, and fail where there is no recording",
    "once": "record what has no recording yet, replay the rest",
    "rewrite": "record anew; the old recording is replaced when the test has passed",
    "live": "call the live services and neither record nor replay",
}

RecordMode: TypeAlias = Literal["none", "once", "rewrite", "live"]


@dataclass(frozen=True)
class RecordingSettings:
    """How one recording is made and replayed.

    ``path``: where it is, relative to the test's folder, in the place of the usual name. ``skip``: fields not
    to compare. ``plugins``: modules or objects beside the installed plugins. ``order``: how replay chooses
    the next call. ``allow_hosts``: hosts that may be reached while replaying.
    """

    path: str | None = None
    skip: tuple[Any, ...] = ()
    plugins: tuple[Any, ...] = ()
    order: Literal["ordered", "any-order"] = "ordered"
    allow_hosts: tuple[str, ...] = ()

    def extended(self, given: Mapping[str, Any], whose: str) -> RecordingSettings:
        """Return the settings with ``given`` on top: lists are added to, the rest is replaced.

        Raises pytest.UsageError for what is no setting; ``whose`` names where it was given.
        """
        known = [field.name for field in fields(self)]
        changes: dict[str, Any] = {}
        for name, value in given.items():
            if name not in known:
                raise pytest.UsageError(f"{whose} takes {', '.join(known)}; not {name!r}")
            if name in ("skip", "plugins", "allow_hosts"):
                if isinstance(value, str):
                    raise pytest.UsageError(f"{whose}: {name} is a list: {name}=[{value!r}]")
                value = (*getattr(self, name), *value)
            changes[name] = value
        return replace(self, **changes)


def record_mode(config: pytest.Config) -> RecordMode:
    """Return what ``--openprogram-record`` says."""
    return cast(RecordMode, config.getoption("openprogram_record"))


def item_settings(item: pytest.Item, project: Mapping[str, Any]) -> RecordingSettings:
    """Return a test's settings. ``project`` is what the fixture ``openprogram_recording_config`` gave."""
    settings = base_settings(item.config, project)
    for marker in reversed(list(item.iter_markers(MARKER))):
        settings = settings.extended(marker_arguments(marker), f"the marker {MARKER} of {item.nodeid}")
    return settings


def base_settings(config: pytest.Config, project: Mapping[str, Any]) -> RecordingSettings:
    """Return the settings that hold for the whole project."""
    settings = RecordingSettings(allow_hosts=tuple(config.getini("openprogram_allowed_hosts")))
    return settings.extended(project, "the fixture openprogram_recording_config")


def marker_arguments(marker: pytest.Mark) -> dict[str, Any]:
    """Return a marker's arguments by name; a single one without name is the path."""
    if len(marker.args) > 1:
        raise pytest.UsageError(f"the marker {MARKER} takes one argument without a name, the path")
    return {**({"path": marker.args[0]} if marker.args else {}), **marker.kwargs}
