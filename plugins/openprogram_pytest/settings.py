"""Options of one recording: from the command line, the configuration, a fixture and the test's markers."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Literal, NoReturn, TypeAlias, cast, get_args

import pytest

MARKER = "openprogram_recording"
_LISTS = ("skip", "plugins", "allow_hosts")
MODES = {
    "none": "replay, and fail where there is no recording",
    "once": "record what has no recording yet, replay the rest",
    "rewrite": "record anew; the old recording is replaced when the test has passed",
    "live": "call the live services and neither record nor replay",
}

RecordMode: TypeAlias = Literal["none", "once", "rewrite", "live"]
Order: TypeAlias = Literal["ordered", "any-order"]


@dataclass(frozen=True)
class RecordingSettings:
    """How one recording is made and replayed.

    ``path``: where it is, relative to the test's folder, in the place of the usual name. ``skip``: fields not
    to compare. ``plugins``: modules or objects beside the installed plugins. ``order``: how replay chooses
    the next call. ``allow_hosts``: hosts that may be reached while replaying.
    """

    path: str | os.PathLike[str] | None = None
    skip: tuple[Any, ...] = ()
    plugins: tuple[Any, ...] = ()
    order: Order = "ordered"
    allow_hosts: tuple[str, ...] = ()

    def extended(self, given: Mapping[str, Any], whose: str) -> RecordingSettings:
        """Return the settings with ``given`` on top: lists are added to, the rest is replaced.

        Fails the test for what is no setting, without a traceback; ``whose`` names where it was given.
        """
        if not isinstance(given, Mapping):
            _mistake(f"{whose} gives a dict of settings, not {_kind(given)}")
        known = [field.name for field in fields(self)]
        changes: dict[str, Any] = {}
        for name, value in given.items():
            if name not in known:
                _mistake(f"{whose} takes {', '.join(known)}; not {name!r}")
            fault = _fault(name, value)
            if fault is not None:
                _mistake(f"{whose}: {fault}")
            changes[name] = (*getattr(self, name), *value) if name in _LISTS else value
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
    """Return a marker's arguments by name; a single one without name is the path. Fails the test for more."""
    if len(marker.args) > 1:
        _mistake(f"the marker {MARKER} takes one argument without a name, the path")
    if marker.args and "path" in marker.kwargs:
        _mistake(f"the marker {MARKER} takes one path, with or without its name")
    return {**({"path": marker.args[0]} if marker.args else {}), **marker.kwargs}


def _fault(name: str, value: Any) -> str | None:
    """Say what is wrong with one setting, None when nothing is."""
    if name == "path":
        fits = value is None or isinstance(value, str | os.PathLike)
        return None if fits else f"path is a string or a path, not {_kind(value)}"
    if name == "order":
        orders = get_args(Order)
        return None if value in orders else f"order is {' or '.join(map(repr, orders))}, not {value!r}"
    if isinstance(value, str):
        return f"{name} is a list: {name}=[{value!r}]"
    if not isinstance(value, Iterable) or isinstance(value, type):
        return f"{name} is a list: {name}=[...], not {_kind(value)}"
    if name == "skip":
        wrong = next((one for one in value if not isinstance(one, str) and not hasattr(one, "field")), None)
        return None if wrong is None else f"skip are field names, paths and FieldSkips, not {_kind(wrong)}"
    if name == "allow_hosts":
        wrong = next((host for host in value if not isinstance(host, str)), None)
        return None if wrong is None else f"allow_hosts are names or addresses, not {_kind(wrong)}"
    return None


def _kind(value: object) -> str:
    # Never the object's own words: most are an address.
    if isinstance(value, str | int | float | None):
        return repr(value)
    return f"the class {value.__name__}" if isinstance(value, type) else f"a {type(value).__name__}"


def _mistake(text: str) -> NoReturn:
    __tracebackhide__ = True
    pytest.fail(text, pytrace=False)
