"""Secrets in URLs: user and password, query parameters, signed URLs."""

from __future__ import annotations

from openprogram_core.redaction import ValueRule
from openprogram_redaction._examples import body, hexadecimal
from openprogram_redaction._patterns import with_digit

_VALUE = r"[^&\s\"'<>#;,\\)\]}{$|`]"
_SIGNATURES = (
    "x-amz-signature", "x-amz-credential", "x-amz-security-token", "x-goog-signature", "x-goog-credential",
    "x-oss-signature", "x-oss-security-token", "x-oss-credential", "sig", "signature", "hdnea", "hdnts",
    "x-tos-signature", "x-tos-credential", "googleaccessid", "awsaccesskeyid", "ossaccesskeyid",
    "key-pair-id", "sign", "hmac", "wstoken", "jwt", "client_assertion", "assertion", "code_verifier",
    "sastoken", "st_token",
)  # fmt: skip
_KEYS = (
    "key",
    "auth",
    "sk",
    "subscription-key",
    "appid",
    "app_id",
    "apppassword",
    "session",
    "sid",
    "code",
    "ticket",
)

URL_RULES = (
    ValueRule(
        name="url-login",
        literals=("://",),
        # A port is digits only; a password that is not may hold `/` and `@`, though it should not.
        pattern=r"[A-Za-z][A-Za-z0-9+.-]*://[^\s:/?#@\"'<>\\,;]{0,128}:"
        r"(?P<secret>[^\s/?#\"'<>\\${*][^\s/?#\"'<>\\]*|[^\s/?#\"'<>\\${*0-9][^\s\"'<>\\]*)@"
        r"[A-Za-z0-9\[][A-Za-z0-9._:\[\]%-]*(?:[/?#,\s\"'<>\\;)\]}`]|\z)",
        matches=(
            "postgres://app:" + body(9) + "@db.example.org:5432/x",
            "redis://:" + body(8) + "@cache:6379",
        ),
        rejects=(
            "http://localhost:8080/a@b",
            "ssh://git@github.com/o/r",
            "mailto:me@example.org",
            "https://${USER}:${PASSWORD}@example.org",
        ),
    ),
    ValueRule(
        name="url-user-token",
        literals=("://",),
        pattern=rf"https?://(?P<secret>{with_digit('[A-Za-z0-9_-]', 20)})@[A-Za-z0-9]",
        matches=(
            "https://" + body(40) + "@example.org/o/r.git",
            "https://" + hexadecimal(32) + "@o1.example.org/2",
        ),
        rejects=("https://user@example.org",),
    ),
    ValueRule(
        name="signed-url",
        literals=tuple(f"{name}=" for name in _SIGNATURES),
        pattern=rf"(?i)(?:[?&#;]|&amp;|\\u0026|%26|%3F)(?:{'|'.join(_SIGNATURES)})(?:=|%3D)(?P<secret>{_VALUE}{{8,}})",
        matches=(
            "https://b.s3.example.org/r?X-Amz-Expires=300&X-Amz-Signature=" + hexadecimal(64),
            "https://a.blob.example.org/c?sv=2024&sp=r&sig=" + body(20) + "%2B" + body(10) + "%3D",
        ),
        rejects=("?sig=", "X-Amz-SignedHeaders=host"),
    ),
    ValueRule(
        name="url-key",
        literals=tuple(f"{sign}{name}=" for sign in "?&" for name in _KEYS),
        pattern=rf"(?i)[?&](?:{'|'.join(_KEYS)})=(?P<secret>{with_digit(_VALUE, 12)})",
        matches=("https://example.org/cb?key=" + body(20) + "&z=1", "https://example.org/f?code=" + body(54)),
        rejects=("?key=ArrowDown&x=1", "?key=name&order=asc", "?code=404"),
    ),
)
