"""Redaction without a call: the functions for one value, with the installed plugins."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from openprogram_core.errors import OpenProgramError

if TYPE_CHECKING:
    from openprogram_core._plugins import PluginSet


def remove_secret_values(value: Any, field_path: str = "") -> Any:
    """Return ``value`` with every secret replaced by `PLACEHOLDER`, by the rules of the installed plugins.

    Loads the plugins at the first call and activates nothing. ``value`` is a JSON value, may hold tuples and
    bytes, or is a pydantic model; it is not changed. ``field_path`` is where it stands, for ``redact_value``
    hooks. Raises RedactionError when rules or hooks fail, PluginError when a plugin could not be loaded,
    TypeError for what is no JSON value.
    """
    from openprogram_core._plugins import default_plugin_set
    from openprogram_core.redaction.redactor import Redactor

    return Redactor.from_plugins(default_plugin_set()).remove_secret_values(value, field_path=field_path)


def safe_message(text: str, limit: int = 512) -> str:
    """Return foreign text fit for an error message or a log: redacted, and at most ``limit`` characters.

    Never raises. Where redaction is not to be had, the text is withheld.
    """
    from openprogram_core._plugins import built_in_rules, message_plugin_set

    try:
        # What lies far behind the limit is not shown and need not be scanned.
        shown = str(text)[: limit + 4096]
        try:
            redacted = _redacted(shown, message_plugin_set())
        except OpenProgramError:
            # A plugin's rules are broken; the message may be the one that says so.
            redacted = _redacted(shown, built_in_rules())
    except Exception as error:
        return f"[message withheld: redaction failed with {type(error).__name__}]"
    return redacted if len(redacted) <= limit else redacted[: max(0, limit - 1)] + "…"


def _redacted(text: str, plugins: PluginSet) -> str:
    from openprogram_core.redaction.redactor import Redactor

    redacted: str = Redactor.from_plugins(plugins).remove_secret_values(text)
    return redacted
