"""A team's own secrets: tokens of its services, a field of its requests, staff numbers in its texts."""

from __future__ import annotations

import re
from collections.abc import Iterable

from openprogram_core import hookimpl
from openprogram_core.redaction import PLACEHOLDER, FieldRule, SecretRule, ValueRule

_STAFF_NUMBER = re.compile(r"\bE-[0-9]{6}\b")


@hookimpl
def secret_rules() -> Iterable[SecretRule]:
    """Give the tokens and the connection strings, by shape, and the vault's PIN, by its field."""
    return [
        ValueRule(
            name="acme-token",
            literals=("acme_live_", "acme_test_"),
            pattern=r"acme_(?:live|test)_[A-Za-z0-9]{20}",
            matches=("acme_live_" + "0123456789abcdefABCD", "acme_test_" + "zzzzzzzzzzzzzzzzzzzz"),
            rejects=("acme_live_demo", "the acme_test_ prefix"),
        ),
        ValueRule(
            name="acme-queue-url",
            literals=("queue://",),
            pattern=r"queue://[a-z]+:(?P<secret>[^@\s]{8,})@",
            matches=("queue://worker:" + "hunter22hunter@queue.acme.example",),
            rejects=("queue://worker@queue.acme.example",),
        ),
        FieldRule(
            name="acme-vault-pin",
            segments=("vault_pin",),
            matches=("vault_pin", "acmeVaultPin"),
            rejects=("vault", "pin"),
        ),
    ]


@hookimpl
def redact_value(value: str) -> str | None:
    """Remove the staff numbers, which no literal announces."""
    if "E-" not in value:
        return None
    redacted = _STAFF_NUMBER.sub(PLACEHOLDER, value)
    return redacted if redacted != value else None
