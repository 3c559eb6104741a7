"""What the service's finish reasons mean."""

from __future__ import annotations

from openprogram_core.providers import ErrorKind, StopReason

STOPS: dict[str, StopReason] = {"STOP": "stop", "MAX_TOKENS": "length", "CONTINUATION": "length"}
"""Finish reasons that end a message well."""

FAILURES: dict[str, ErrorKind] = {
    "SAFETY": "content_filter",
    "RECITATION": "content_filter",
    "LANGUAGE": "content_filter",
    "BLOCKLIST": "content_filter",
    "PROHIBITED_CONTENT": "content_filter",
    "SPII": "content_filter",
    "IMAGE_SAFETY": "content_filter",
    "IMAGE_PROHIBITED_CONTENT": "content_filter",
    "IMAGE_RECITATION": "content_filter",
    "ESCALATION": "content_filter",
    "MODEL_ARMOR": "content_filter",
    "PUP_LIMITED_DISABLED": "auth",
    "MISSING_THOUGHT_SIGNATURE": "invalid_request",
}
"""Finish reasons that are failures. Every other word is one of kind ``protocol``: what the service does not
call a stop is no success, and a malformed call or answer may be good the next time."""
