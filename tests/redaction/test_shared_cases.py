"""The collection of inputs that real systems got wrong, each case as it stands in the shared file."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.redaction.support import as_text, recorded, redact
from tests.support.shared import PROJECT_ROOT, shared_path

_FILE = PROJECT_ROOT.parent / "shared" / "cases" / "redaction.json"
CASES: list[dict[str, Any]] = json.loads(_FILE.read_text("utf-8")) if _FILE.exists() else []


def test_the_shared_cases_are_there() -> None:
    assert json.loads(shared_path("cases/redaction.json").read_text("utf-8")) == CASES


@pytest.mark.parametrize(
    "case", [case for case in CASES if case["kind"] != "stream"], ids=lambda case: str(case["id"])
)
def test_case(case: dict[str, Any]) -> None:
    result = redact(case["input"])
    found = as_text(result)
    assert [part for part in case["must_not_contain"] if part in found] == []
    assert [part for part in case["must_keep"] if part not in found] == []
    assert redact(result) == result


@pytest.mark.parametrize("kind", ["text", "thinking", "arguments"])
@pytest.mark.parametrize(
    "case", [case for case in CASES if case["kind"] == "stream"], ids=lambda case: str(case["id"])
)
def test_stream_case(case: dict[str, Any], kind: Any) -> None:
    stream = recorded(case["input"], kind)
    file = stream.file.decode()
    for part in case["must_not_contain"]:
        assert part not in file
        assert part not in stream.joined
    for part in case["must_keep"]:
        assert part in stream.joined
    if not case["must_not_contain"]:
        assert stream.deltas == case["input"]
    assert not stream.violations()
