"""The project's logger: structlog's, found at the first line that is logged, and never configured here."""

from __future__ import annotations

import sys
from typing import Any


class SafeLogger:
    """Logs through ``structlog.get_logger(name)``; texts among the fields are redacted and bounded first."""

    def __init__(self, name: str) -> None:
        self.name = name

    def debug(self, event: str, **fields: object) -> None:
        """Log what only somebody hunting a fault wants to see."""
        self._log("debug", event, fields)

    def info(self, event: str, **fields: object) -> None:
        """Log what happened."""
        self._log("info", event, fields)

    def warning(self, event: str, **fields: object) -> None:
        """Log what somebody should look at."""
        self._log("warning", event, fields)

    def error(self, event: str, **fields: object) -> None:
        """Log what could not be done."""
        self._log("error", event, fields)

    def _log(self, level: str, event: str, fields: dict[str, object]) -> None:
        import structlog

        # structlog's own default writes to stdout, which belongs to the program's data.
        logger: Any = (
            structlog.get_logger(self.name)
            if structlog.is_configured()
            else structlog.wrap_logger(structlog.PrintLogger(sys.stderr))
        )
        getattr(logger, level)(event, **{name: _safe(value) for name, value in fields.items()})


def get_logger(name: str) -> SafeLogger:
    """Return the logger of a module; costs nothing until it logs."""
    return SafeLogger(name)


def _safe(value: object) -> object:
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, list | tuple | set | frozenset):
        return [_safe(item) for item in value]
    from openprogram_core.redaction import safe_message

    text = f"{type(value).__name__}: {value}" if isinstance(value, BaseException) else str(value)
    return safe_message(text)
