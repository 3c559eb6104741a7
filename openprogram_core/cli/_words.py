"""What several commands say in the same words."""

from __future__ import annotations

import time
from collections.abc import Iterable

from openprogram_core.cli._output import say, warn

NEXT_START = (
    "This takes effect at a program's next start; one that is running keeps what it read at its own start."
)
PRIVATE = "prompts and answers may be private, even with the secrets removed"


def say_next_start() -> None:
    """Say when a change of the configuration takes effect."""
    say(NEXT_START)


def warn_repairs(repairs: Iterable[str]) -> None:
    """Warn of file modes that were too wide."""
    for repair in repairs:
        warn(repair)


def utc(seconds: float) -> str:
    """Return a time in seconds since 1970 as ISO 8601 in UTC."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))


def local(seconds: float) -> str:
    """Return a time in seconds since 1970 in the local time zone, to the minute, for people."""
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(seconds))
