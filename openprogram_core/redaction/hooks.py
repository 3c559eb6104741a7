"""The hook ``redact_value``: plugins that find what no pattern can say."""

from __future__ import annotations

from typing import TYPE_CHECKING

from openprogram_core.errors import RedactionError
from openprogram_core.redaction.edits import Edit, Source

if TYPE_CHECKING:
    from openprogram_core._plugins import PluginSet
    from openprogram_core.redaction.finder import Hook


def value_hook(plugins: PluginSet) -> Hook | None:
    """Return one function for all ``redact_value`` hooks of a set, by plugin name, or None.

    It takes a field path and a text and returns the edits that make what the plugins made of it. It raises
    RedactionError, without the text, when one of them raises or returns anything but a string or None.
    """
    implementations = plugins.hooks("redact_value")
    if not implementations:
        return None

    def ask(field_path: str, text: str) -> list[Edit]:
        result, plugin = text, ""
        for implementation in implementations:
            failed = ""
            try:
                answer = implementation(field_path=field_path, value=result)
            except (Exception, SystemExit) as error:
                failed = type(error).__name__
            # Raised out here: an error in the chain would carry the value along.
            if failed:
                raise RedactionError(
                    f"redact_value raised {failed} at {field_path or 'the value'}",
                    plugin=implementation.plugin,
                )
            if answer is None or answer == result:
                continue
            if not isinstance(answer, str):
                raise RedactionError(
                    f"redact_value returned {type(answer).__name__} at {field_path or 'the value'}, "
                    "not a string or None",
                    plugin=implementation.plugin,
                )
            result, plugin = answer, implementation.plugin
        if result == text:
            return []
        return [_difference(text, result, Source("hook", plugin, "redact_value"))]

    return ask


def _difference(before: str, after: str, source: Source) -> Edit:
    shorter = min(len(before), len(after))
    start = 0
    while start < shorter and before[start] == after[start]:
        start += 1
    tail = 0
    while tail < shorter - start and before[-1 - tail] == after[-1 - tail]:
        tail += 1
    return Edit(start, len(before) - tail, after[start : len(after) - tail], source)
