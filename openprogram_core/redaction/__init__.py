"""Redaction: nothing secret reaches a recording, and nothing else is touched.

Plugins bring rules (`FieldRule`, `ValueRule`); `Redactor` compiles them; `CallRedactor` applies them to one
provider call. `remove_secret_values` is the same for one value, with the installed plugins.
"""

from openprogram_core.redaction.bare import remove_secret_values, safe_message
from openprogram_core.redaction.edits import PLACEHOLDER
from openprogram_core.redaction.explain import Finding
from openprogram_core.redaction.parts import RedactedRequest
from openprogram_core.redaction.redactor import CallRedactor, Redactor
from openprogram_core.redaction.rules import TOKEN_START, FieldRule, SecretRule, ValueRule

__all__ = [
    "PLACEHOLDER",
    "TOKEN_START",
    "CallRedactor",
    "FieldRule",
    "Finding",
    "RedactedRequest",
    "Redactor",
    "SecretRule",
    "ValueRule",
    "remove_secret_values",
    "safe_message",
]
