"""What a check of a plugin found, one finding a fault, each with the next step."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

Level = Literal["error", "warning", "info"]


@dataclass(frozen=True)
class Finding:
    """One thing a check has to say about a plugin.

    ``error``: the plugin breaks a contract, and recording or replaying with it fails or is unsafe.
    ``warning``: it works and is in somebody's way. ``info``: a figure. ``hook`` is None outside any hook.
    """

    level: Level
    plugin: str
    hook: str | None
    message: str
    next_step: str = ""

    def as_json(self) -> dict[str, Any]:
        """Return the finding as plain JSON values."""
        return asdict(self)

    def __str__(self) -> str:
        where = f"{self.plugin}, {self.hook}" if self.hook else self.plugin
        step = f" {self.next_step}" if self.next_step else ""
        return f"{where}: {self.message}.{step}"
