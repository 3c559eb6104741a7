"""One taxonomy for the errors of all vendors, from the shapes they really send."""

from __future__ import annotations

import json
import ssl
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openprogram_core.providers.adapter import (
    error_from_body,
    error_from_exception,
    kind_of_status,
    retry_after,
)

GOOGLE: Any = {
    "error": {
        "code": 429,
        "message": "Resource has been exhausted",
        "status": "RESOURCE_EXHAUSTED",
        "details": [
            {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "33.5s"},
        ],
    }
}
ANTHROPIC: Any = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
AZURE: Any = {
    "error": {
        "code": "400",
        "message": "The response was filtered",
        "innererror": {"code": "ResponsibleAIPolicyViolation"},
    }
}


@pytest.mark.parametrize(
    ("body", "status", "kind", "message"),
    [
        (GOOGLE, 429, "rate_limit", "Resource has been exhausted"),
        ([GOOGLE], None, "rate_limit", "Resource has been exhausted"),
        (ANTHROPIC, 529, "overloaded", "Overloaded"),
        (ANTHROPIC, None, "overloaded", "Overloaded"),
        ({"error": {"type": "api_error", "message": "x"}}, 500, "overloaded", "x"),
        ({"error": {"type": "request_too_large", "message": "x"}}, 413, "context_length", "x"),
        (AZURE, 400, "content_filter", "The response was filtered"),
        ({"error": {"status": "UNAUTHENTICATED", "message": "x"}}, 401, "auth", "x"),
        (
            {"error": {"status": "INVALID_ARGUMENT", "message": "input token count exceeds"}},
            400,
            "context_length",
            "input token count exceeds",
        ),
        ({"error": {"code": "image_content_policy_violation", "message": "x"}}, None, "content_filter", "x"),
        ({"error": {"error": {"message": "deep", "code": 503}}}, None, "overloaded", "deep"),
        ({"error": "words"}, 400, "invalid_request", "words"),
        ({"message": "flat", "code": "rate_limit_exceeded"}, None, "rate_limit", "flat"),
        ({"detail": "fastapi"}, 404, "invalid_request", "fastapi"),
        ("plain", 500, "overloaded", "plain"),
        (b'{"error": {"message": "bytes"}}', 500, "overloaded", "bytes"),
        ("", 502, "overloaded", "HTTP status 502, without a message"),
        (None, None, "protocol", "an error without a message"),
    ],
)
def test_bodies(body: Any, status: int | None, kind: str, message: str) -> None:
    error = error_from_body(body, status=status)
    assert (error.kind, error.message, error.status) == (kind, message, status)


def test_waits_inside_the_body() -> None:
    assert error_from_body(GOOGLE, status=429).retry_after_s == 33.5
    assert error_from_body({"message": "Please try again in 250ms."}).retry_after_s == 0.25
    assert error_from_body({"message": "Please try again in 1h2m3s."}).retry_after_s == 3723
    assert error_from_body(GOOGLE, headers={"Retry-After": "2"}).retry_after_s == 2


def test_a_service_may_say_itself_whether_to_retry() -> None:
    assert not error_from_body("x", status=500, headers={"X-Should-Retry": "false"}).retryable
    assert error_from_body("x", status=400, headers={"X-Should-Retry": "true"}).retryable


def test_retry_after_as_a_date_and_in_the_past() -> None:
    date = "Wed, 21 Oct 2015 07:28:00 GMT"
    assert retry_after({"retry-after": date}, now=1445412470) == 10
    assert retry_after({"retry-after": date}) == 0
    assert retry_after({"retry-after": "-5"}) == 0
    assert retry_after({"retry-after": "nan"}) is None


@given(
    st.text() | st.floats().map(str) | st.datetimes().map(lambda when: when.strftime("%a, %d %b %Y %X %z"))
)
def test_no_wait_is_too_odd(text: str) -> None:
    wait = retry_after({"retry-after": text})
    assert wait is None or wait >= 0


def test_a_body_nested_beyond_all_reason() -> None:
    assert error_from_body("[" * 100_000, status=500).kind == "overloaded"


@given(st.integers(400, 599))
def test_every_failing_status_has_a_kind(status: int) -> None:
    assert kind_of_status(status) is not None


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: (
        st.lists(inner) | st.dictionaries(st.sampled_from(["error", "message", "code", "x"]), inner)
    ),
    max_leaves=12,
)


@given(
    body=_JSON | st.text().map(lambda text: "{" + text) | st.binary(),
    status=st.none() | st.integers(400, 599),
)
def test_no_body_is_too_odd(body: Any, status: int | None) -> None:
    error = error_from_body(body, status=status)
    assert error.message
    assert error.kind


def test_exceptions_by_what_they_are() -> None:
    def kind(error: BaseException) -> str | None:
        found = error_from_exception(error)
        return found.kind if found else None

    assert kind(TimeoutError()) == "timeout"
    assert kind(ConnectionResetError("reset")) == "network"
    assert kind(ssl.SSLError("bad")) == "network"
    assert kind(json.JSONDecodeError("x", "y", 0)) == "protocol"
    assert kind(ValueError("x")) is None
    outer = RuntimeError("wrapped")
    outer.__cause__ = ConnectionRefusedError("no")
    assert kind(outer) == "network"
    # What merely happened before is no cause.
    bystander = ValueError("x")
    bystander.__context__ = TimeoutError()
    assert kind(bystander) is None


def test_a_wait_nobody_can_mean_counts_as_none() -> None:
    headers = {"retry-after": "Wed, 01 Jan 2999 00:00:00 GMT"}
    error = error_from_body({"error": {"message": "slow down"}}, status=429, headers=headers)
    assert (error.kind, error.retryable, error.retry_after_s) == ("rate_limit", True, None)
