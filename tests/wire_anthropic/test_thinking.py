"""How much to think: the same word for every vendor, in this service's terms."""

from __future__ import annotations

from typing import Any

import pytest

from openprogram_anthropic.thinking import thinking_mode
from openprogram_core.providers import Model, ProviderError, SimpleStreamOptions
from tests.wire_anthropic.wire import sent


@pytest.mark.parametrize(
    ("model_id", "mode"),
    [
        ("claude-3-7-sonnet-20250219", "budget"),
        ("claude-3-5-haiku-latest", "budget"),
        ("claude-sonnet-4-0", "budget"),
        ("claude-sonnet-4-20250514", "budget"),
        ("claude-opus-4-1-20250805", "budget"),
        ("claude-haiku-4-5", "budget"),
        ("anthropic.claude-sonnet-4-5-20250929-v1:0", "budget"),
        ("claude-sonnet-4-5@20250929", "budget"),
        ("anthropic/claude-sonnet-4.5", "budget"),
        ("claude-opus-4-6", "adaptive"),
        ("claude-sonnet-5", "adaptive"),
        ("claude-opus-5-5", "adaptive"),
        ("some-other-model", "budget"),
    ],
)
def test_how_a_model_is_told_to_think(model_id: str, mode: str) -> None:
    model = Model(id=model_id, api="anthropic-messages", provider="p")
    assert thinking_mode(model) == mode
    assert thinking_mode(model.model_copy(update={"compat": {"thinking": "adaptive"}})) == "adaptive"


@pytest.mark.parametrize(
    ("options", "fields"),
    [
        ({"reasoning": "minimal", "max_tokens": 4096}, {"budget_tokens": 1024, "type": "enabled"}),
        ({"reasoning": "high", "max_tokens": 64000}, {"budget_tokens": 16384, "type": "enabled"}),
        ({"reasoning": "high", "max_tokens": 2048}, {"budget_tokens": 2047, "type": "enabled"}),
        (
            {"reasoning": "low", "max_tokens": 9000, "thinking_budgets": {"low": 3000}},
            {"budget_tokens": 3000, "type": "enabled"},
        ),
        ({"reasoning": "off"}, {"type": "disabled"}),
    ],
)
async def test_a_budget(options: dict[str, Any], fields: dict[str, Any]) -> None:
    body = await sent(options=SimpleStreamOptions(**options))
    assert body["thinking"] == fields
    assert "output_config" not in body
    assert body["max_tokens"] == options.get("max_tokens", 4096)


async def test_nothing_asked_is_nothing_sent() -> None:
    assert "thinking" not in await sent(options=SimpleStreamOptions())


async def test_a_model_that_does_not_reason_is_told_nothing() -> None:
    body = await sent(options=SimpleStreamOptions(reasoning="high"), reasoning=False)
    assert "thinking" not in body
    assert body["max_tokens"] == 4096


async def test_the_default_limit_leaves_room_for_the_budget() -> None:
    body = await sent(options=SimpleStreamOptions(reasoning="medium"))
    assert body["max_tokens"] == 4096 + body["thinking"]["budget_tokens"]


async def test_no_room_for_the_least_budget_is_said_before_the_request_goes_out() -> None:
    with pytest.raises(ProviderError, match="max_tokens") as raised:
        await sent(options=SimpleStreamOptions(reasoning="low", max_tokens=1000))
    assert raised.value.kind == "invalid_request"


@pytest.mark.parametrize(
    ("level", "effort"),
    [("minimal", "low"), ("low", "low"), ("medium", "medium"), ("high", "high"), ("xhigh", "xhigh")],
)
async def test_an_effort(level: Any, effort: str) -> None:
    schema = {"type": "json_schema", "schema": {"type": "object"}}
    body = await sent(
        options=SimpleStreamOptions(reasoning=level, response_format=schema), model_id="claude-opus-5"
    )
    assert body["thinking"] == {"type": "adaptive"}
    assert body["output_config"] == {"effort": effort, "format": schema}
    assert body["max_tokens"] == 4096


async def test_a_budget_of_the_callers_own_beats_the_effort() -> None:
    options = SimpleStreamOptions(reasoning="high", thinking_budgets={"high": 5000})
    body = await sent(options=options, model_id="claude-opus-4-6")
    assert body["thinking"] == {"type": "enabled", "budget_tokens": 5000}
