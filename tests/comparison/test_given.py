from __future__ import annotations

from typing import Any

import pytest

from openprogram_core.comparison import (
    FieldPathError,
    FieldSkip,
    any_index_path,
    check_request_skips,
    unmet_skips,
)

REQUEST: dict[str, Any] = {
    "model": {"id": "m", "base_url": None},
    "context": {"messages": [{"content": [{"text": "a", "a.b": 1}]}], "tools": []},
    "options": {"headers": {"x-id": "1"}},
}


@pytest.mark.parametrize(
    ("path", "declared"),
    [
        ("context.messages[2].content[0].text", "context.messages[*].content[*].text"),
        ('options.headers["x-id"]', 'options.headers["x-id"]'),
        ('["0"][0]["[1]"]', '["0"][*]["[1]"]'),
    ],
)
def test_a_path_is_declared_with_any_index(path: str, declared: str) -> None:
    assert any_index_path(path) == declared


@pytest.mark.parametrize(
    ("skip", "meant"),
    [
        ("option.seed", "'option.seed'.*is 'options.seed' meant"),
        ("messages[*].id", "is 'context.messages\\[\\*\\].id' meant"),
        ("tools[0]", "is 'context.tools\\[0\\]' meant"),
        ("response.body", "and nothing else. Write a name"),
        ("[0].id", "and nothing else. Write a name"),
        ("[*]", "and nothing else. Write a name"),
    ],
)
def test_a_path_that_leads_into_no_request_is_refused(skip: str, meant: str) -> None:
    for given in (skip, FieldSkip(skip)):
        with pytest.raises(FieldPathError, match=meant):
            check_request_skips(["seed", given])


def test_names_and_paths_from_the_root_pass() -> None:
    skips = ["trace_id", "messages", 'options.headers["x-id"]', '["model"].id', "context.messages[*]"]
    assert [one.field for one in check_request_skips(iter(skips))] == skips


def test_what_meets_nothing() -> None:
    met = [
        "text",
        "model.base_url",
        'options.headers["x-id"]',
        "context.messages[*].content[0].text",
        'context.messages[0].content[*]["a.b"]',
    ]
    unmet = ["txt", "model.url", "context.tools[*].name", "context.messages[1].content", "options[0]"]
    assert unmet_skips([*unmet, *met], [REQUEST]) == unmet
    assert unmet_skips(met, []) == met
    assert unmet_skips(["txt", "text"], [{}, REQUEST, {"txt": 1}]) == []
