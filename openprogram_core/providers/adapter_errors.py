"""One taxonomy of failures for every vendor, from HTTP answers, error objects and broken connections.

=================== ==========================================================================================
kind                means
=================== ==========================================================================================
``rate_limit``      too many requests or tokens, or a quota used up (then it is not retryable)
``auth``            no key, a wrong key, or a key that may not do this
``invalid_request`` the service will never take this request
``context_length``  the request is too long for the model
``content_filter``  the service refused the content
``overloaded``      the service failed or is busy; the request may be good
``timeout``         nobody answered in time
``network``         the connection could not be made, or was lost
``protocol``        the answer is not what the wire API promises, or it stops before its end
=================== ==========================================================================================
"""

from __future__ import annotations

import email.utils
import json
import math
import re
import time
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from openprogram_core.errors import ProviderError
from openprogram_core.providers.messages import ErrorKind

_RETRYABLE: frozenset[ErrorKind] = frozenset({"rate_limit", "overloaded", "timeout", "network", "protocol"})
_NAMES = ("code", "type", "status", "status_code", "reason")

# A service's own word, in lower case with "_", says more than the HTTP status: it is looked at first.
_WORDS: dict[str, ErrorKind] = {
    "context_length_exceeded": "context_length",
    "string_above_max_length": "context_length",
    "request_too_large": "context_length",
    "content_filter": "content_filter",
    "content_policy_violation": "content_filter",
    "responsibleaipolicyviolation": "content_filter",
    "moderation_blocked": "content_filter",
    "invalid_prompt": "content_filter",
    "rate_limit": "rate_limit",
    "rate_limit_exceeded": "rate_limit",
    "rate_limit_error": "rate_limit",
    "too_many_requests": "rate_limit",
    "resource_exhausted": "rate_limit",
    "insufficient_quota": "rate_limit",
    "quota_exceeded": "rate_limit",
    "billing_hard_limit_reached": "rate_limit",
    "billing_error": "rate_limit",
    "invalid_api_key": "auth",
    "api_key_invalid": "auth",
    "authentication_error": "auth",
    "permission_error": "auth",
    "permission_denied": "auth",
    "unauthenticated": "auth",
    "unauthorized": "auth",
    "overloaded": "overloaded",
    "overloaded_error": "overloaded",
    "engine_overloaded": "overloaded",
    "server_is_overloaded": "overloaded",
    "slow_down": "overloaded",
    "service_unavailable": "overloaded",
    "unavailable": "overloaded",
    "capacity_exceeded": "overloaded",
    "timeout": "timeout",
    "timeout_error": "timeout",
    "vector_store_timeout": "timeout",
    "deadline_exceeded": "timeout",
    "server_error": "overloaded",
    "internal_server_error": "overloaded",
    "internal_error": "overloaded",
    "internal": "overloaded",
    "api_error": "overloaded",
    "invalid_request_error": "invalid_request",
    "invalid_request": "invalid_request",
    "invalid_argument": "invalid_request",
    "failed_precondition": "invalid_request",
    "not_found_error": "invalid_request",
    "not_found": "invalid_request",
    "model_not_found": "invalid_request",
}
# Words a service uses for everything it has no better one for: the status and the message are asked first.
_VAGUE = frozenset(
    {"server_error", "api_error", "internal_error", "internal", "invalid_request_error"}
    | {"invalid_request", "invalid_argument", "failed_precondition", "internal_server_error"}
)
_FINAL = frozenset({"insufficient_quota", "billing_hard_limit_reached", "billing_error"})
_POLICY_WORD = re.compile(r"_policy(_violation)?$|moderation|content_filter")
_REFUSAL_WORD = re.compile(
    r"^(invalid|unsupported|missing|empty|failed_to_download)_|_(not_found|too_large|too_small|mismatch|parse_error)$"
)
_TOO_LONG = re.compile(
    r"context[_ ]length|context window|maximum context|prompt is too long|input is too long|"
    r"input token count|exceeds? the (?:available )?context|too many (?:input )?tokens in",
    re.IGNORECASE,
)
_FILTERED = re.compile(r"content (?:management )?(?:policy|filter)|safety (?:system|filter)", re.IGNORECASE)
_TRY_AGAIN = re.compile(r"(?:try again|retry) (?:in|after) ((?:\d+(?:\.\d+)?(?:ms|s|m|h))+)", re.IGNORECASE)
_LONGEST_LOOKED_AT = 65_536
_DURATION = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h)", re.IGNORECASE)
_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}


_LONGEST_WAIT_S = 7 * 86400.0


def provider_error(
    kind: ErrorKind,
    message: str,
    *,
    retryable: bool | None = None,
    retry_after_s: float | None = None,
    status: int | None = None,
    secrets: Iterable[str | None] = (),
) -> ProviderError:
    """Return a `ProviderError` whose message is bounded and free of secrets.

    ``retryable`` None means what the kind usually means. A wait of more than a week counts as none given.
    ``secrets`` are values known to be secret in this call, such as its key: services echo them.
    """
    return ProviderError(
        kind,
        clean_message(message, secrets),
        retryable=kind in _RETRYABLE if retryable is None else retryable,
        # Some dates are nonsense, and an agent that waits for the year 2999 hangs.
        retry_after_s=None
        if retry_after_s is not None and retry_after_s > _LONGEST_WAIT_S
        else retry_after_s,
        status=status,
    )


def clean_message(message: str, secrets: Iterable[str | None] = ()) -> str:
    """Return foreign text as an error may show it: without ``secrets`` and without what looks like one."""
    from openprogram_core.redaction import safe_message
    from openprogram_core.redaction.known import without_values

    # What lies far behind what an error shows need not be looked at.
    return safe_message(without_values(message[:_LONGEST_LOOKED_AT], filter(None, secrets)))


def error_from_body(
    body: object,
    *,
    status: int | None = None,
    headers: Mapping[str, str] | None = None,
    default: ErrorKind = "protocol",
    fallback_message: str = "",
    secrets: Iterable[str | None] = (),
) -> ProviderError:
    """Return the error that a response body or an error object inside a stream describes.

    ``body`` is parsed JSON or text of any shape vendors use: ``{"error": {...}}``, ``{"error": "text"}``, the
    inner object itself, a list of them, ``{"detail": ...}``, or no JSON at all. ``status`` is the HTTP status
    where it was not 2xx; without one the body's own ``code`` may be one. ``headers`` are the response's.
    ``default`` is the kind when nothing says more.
    """
    body = _parsed(body)
    inner = _inner(body)
    words = list(_words(body)) + (list(_words(inner)) if inner is not body else [])
    message = _message(inner) or _message(body) or fallback_message
    number = status if status is not None else _status_inside(inner)
    kind = _kind(words, message, number, default)
    retryable = kind in _RETRYABLE and not (_FINAL & set(words)) and number != 402
    if headers is not None and (said := _lower(headers).get("x-should-retry")) in ("true", "false"):
        retryable = said == "true"
    wait = retry_after(headers) if headers is not None else None
    return provider_error(
        kind,
        message or (f"HTTP status {number}, without a message" if number else "an error without a message"),
        retryable=retryable,
        retry_after_s=wait if wait is not None else _wait_inside(inner, message),
        status=status,
        secrets=secrets,
    )


def kind_of_status(status: int) -> ErrorKind | None:
    """Return the kind an HTTP status stands for, None for one that says nothing (below 400)."""
    special: dict[int, ErrorKind] = {
        401: "auth",
        402: "rate_limit",
        403: "auth",
        408: "timeout",
        409: "overloaded",
        413: "context_length",
        425: "overloaded",
        429: "rate_limit",
        498: "overloaded",
        501: "invalid_request",
        504: "timeout",
        522: "timeout",
        524: "timeout",
    }
    if status in special:
        return special[status]
    if 400 <= status < 500:
        return "invalid_request"
    return "overloaded" if 500 <= status < 600 else None


def retry_after(headers: Mapping[str, str], *, now: float | None = None) -> float | None:
    """Return the seconds a response asks to wait, None when it does not say.

    It is in ``retry-after-ms`` or ``retry-after``, as seconds or a date; ``now`` is in seconds since 1970,
    for dates.
    """
    named = _lower(headers)
    milliseconds = _number(named.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    text = named.get("retry-after")
    if text is None:
        return None
    seconds = _number(text)
    if seconds is not None:
        return seconds
    try:
        when = email.utils.parsedate_to_datetime(text).timestamp()
    except (ValueError, OverflowError, OSError):
        return None
    return max(0.0, when - (time.time() if now is None else now))


def error_from_exception(error: BaseException, *, secrets: Iterable[str | None] = ()) -> ProviderError | None:
    """Return what an exception of an HTTP library, asyncio or the operating system means, None for others.

    The exception's causes are asked too, outermost first. Libraries are known by the names of their classes,
    so none is imported.
    """
    for cause in _chain(error):
        kind = _kind_of_exception(cause)
        if kind is not None:
            words = {"timeout": "no answer in time", "network": "connection lost or not made"}
            text = str(cause) or str(error)
            prefix = words.get(kind, "the answer could not be read")
            return provider_error(kind, f"{prefix}: {type(cause).__name__}: {text}", secrets=secrets)
    return None


_TRANSPORTS = frozenset({"httpx", "httpx2", "httpcore", "httpcore2", "anyio", "aiohttp", "h11", "h2", "ssl"})
_TIMEOUTS = frozenset({"TimeoutException", "PoolTimeout", "ServerTimeoutError"})
_UNREADABLE = frozenset({"DecodingError", "InvalidURL", "UnsupportedProtocol", "LocalProtocolError"})
_LOST = frozenset(
    {
        "TransportError",
        "NetworkError",
        "RemoteProtocolError",
        "EndOfStream",
        "BrokenResourceError",
        "ClosedResourceError",
        "ClientError",
        "SSLError",
        "RequestError",
        "StreamError",
    }
)


def _kind_of_exception(error: BaseException) -> ErrorKind | None:
    if isinstance(error, TimeoutError):
        return "timeout"
    if isinstance(error, json.JSONDecodeError | UnicodeDecodeError):
        return "protocol"
    if isinstance(error, OSError):
        return "network"
    names = {
        base.__name__ for base in type(error).__mro__ if base.__module__.partition(".")[0] in _TRANSPORTS
    }
    if names & _TIMEOUTS:
        return "timeout"
    if names & _UNREADABLE:
        return "protocol" if "DecodingError" in names else "invalid_request"
    return "network" if names & _LOST else None


def _chain(error: BaseException) -> Iterator[BaseException]:
    seen: set[int] = set()
    current: BaseException | None = error
    while current is not None and id(current) not in seen:
        seen.add(id(current))
        yield current
        current = current.__cause__


def _kind(words: list[str], message: str, status: int | None, default: ErrorKind) -> ErrorKind:
    for word in words:
        if word in _VAGUE:
            continue
        if word in _WORDS:
            return _WORDS[word]
        if _POLICY_WORD.search(word):
            return "content_filter"
        if _REFUSAL_WORD.search(word):
            return "invalid_request"
    by_status = kind_of_status(status) if status is not None else None
    if by_status in (None, "invalid_request", "context_length"):
        if _TOO_LONG.search(message):
            return "context_length"
        if _FILTERED.search(message):
            return "content_filter"
    vague = next((_WORDS[word] for word in words if word in _VAGUE), None)
    return by_status or vague or default


def _parsed(body: object) -> object:
    if isinstance(body, bytes):
        body = body.decode("utf-8", "replace")
    if isinstance(body, str) and body.lstrip()[:1] in ("{", "["):
        try:
            body = json.loads(body)
        except (ValueError, RecursionError):
            return body
    if isinstance(body, list) and body:
        return _parsed(body[0])
    return body


def _inner(body: object) -> object:
    inner = body
    for _ in range(3):
        if isinstance(inner, dict) and isinstance(inner.get("error"), dict | str) and inner["error"]:
            inner = inner["error"]
    return inner


def _words(value: object) -> Iterator[str]:
    if not isinstance(value, dict):
        return
    for name in _NAMES:
        word = value.get(name)
        if isinstance(word, str):
            yield re.sub(r"[^a-z0-9]+", "_", word.strip().lower())
    details = value.get("details")
    for inner in (value.get("innererror"), *(details if isinstance(details, list) else ())):
        if isinstance(inner, dict):
            yield from _words(inner)


def _message(value: object) -> str:
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, dict):
        for name in ("message", "detail", "error_description", "msg", "title"):
            text = value.get(name)
            if isinstance(text, str) and text.strip():
                return text.strip()
            if text and not isinstance(text, str):
                return json.dumps(text, ensure_ascii=False, default=str)
    return ""


def _status_inside(value: object) -> int | None:
    if isinstance(value, dict):
        for name in ("status_code", "code", "status"):
            number = value.get(name)
            if isinstance(number, str) and re.fullmatch(r"[45]\d\d", number):
                number = int(number)
            if isinstance(number, int) and not isinstance(number, bool) and 400 <= number < 600:
                return number
    return None


def _wait_inside(value: object, message: str) -> float | None:
    details = value.get("details") if isinstance(value, dict) else None
    texts: list[Any] = (
        [detail.get("retryDelay") for detail in details if isinstance(detail, dict)]
        if isinstance(details, list)
        else []
    )
    found = _TRY_AGAIN.search(message)
    if found:
        texts.append(found.group(1))
    for text in texts:
        pieces = _DURATION.findall(text) if isinstance(text, str) else []
        if pieces:
            return float(sum(float(amount) * _UNITS[unit.lower()] for amount, unit in pieces))
    return None


def _number(text: str | None) -> float | None:
    try:
        value = float(text) if text is not None else math.nan
    except ValueError:
        return None
    return max(0.0, value) if math.isfinite(value) else None


def _lower(headers: Mapping[str, str]) -> dict[str, str]:
    return {name.lower(): value for name, value in headers.items()}
