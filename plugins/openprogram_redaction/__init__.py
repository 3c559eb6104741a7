"""The built-in secret rules: field names, and the formats of keys people really paste.

PYTEST_DONT_REWRITE: no assertions in here, and pytest need not warn that it comes too late for them.
"""

from collections.abc import Sequence

from openprogram_core import hookimpl
from openprogram_core.redaction import SecretRule
from openprogram_redaction.clouds import CLOUD_RULES
from openprogram_redaction.fields import FIELD_RULES, SECRET_FIELD_NAMES
from openprogram_redaction.llm_vendors import LLM_VENDOR_RULES
from openprogram_redaction.platforms import PLATFORM_RULES
from openprogram_redaction.services import SERVICE_RULES
from openprogram_redaction.texts import TEXT_RULES
from openprogram_redaction.urls import URL_RULES

__all__ = ["SECRET_FIELD_NAMES", "secret_rules"]


@hookimpl
def secret_rules() -> Sequence[SecretRule]:
    """Give all built-in rules."""
    return (
        *FIELD_RULES,
        *TEXT_RULES,
        *URL_RULES,
        *LLM_VENDOR_RULES,
        *CLOUD_RULES,
        *PLATFORM_RULES,
        *SERVICE_RULES,
    )
