"""Realistic changes of a recorded agent run: the path that is named, and the report a person wants."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from openprogram_core.providers import SimpleStreamOptions, Tool, ToolCall, UserMessage
from openprogram_replay import ReplayMismatch, ReplayProvider
from tests.replay.sessions import Call, agent_run, write_recording


@dataclass
class Change:
    """A change of one call of the run, and what replay must say about it."""

    name: str
    call: int
    change: Callable[[Call], None]
    path: str
    line: str
    report: list[str]


def word_in_system_prompt(call: Call) -> None:
    assert call.context.system_prompt is not None
    call.context.system_prompt = call.context.system_prompt.replace("Use the tools", "Use the TOOLS")


def word_deep_in_system_prompt(call: Call) -> None:
    prompt = call.context.system_prompt
    assert prompt is not None
    call.context.system_prompt = prompt[:10_004] + "brief" + prompt[10_009:][:-1] + "?"


def argument_type(call: Call) -> None:
    tool_call = call.context.messages[1].content[0]
    assert isinstance(tool_call, ToolCall)
    tool_call.arguments["days"] = "1"


def swap_results(call: Call) -> None:
    messages: Any = call.context.messages
    messages[2].content, messages[3].content = messages[3].content, messages[2].content


def swap_result_messages(call: Call) -> None:
    messages = call.context.messages
    messages[2], messages[3] = messages[3], messages[2]


def result_word(call: Call) -> None:
    messages: Any = call.context.messages
    messages[3].content[0].text = "22 degrees, sun"


def to_call(number: int) -> Callable[[Call], None]:
    def change(call: Call) -> None:
        other = agent_run()[number]
        call.context, call.options, call.model = other.context, other.options, other.model

    return change


def drop_message(call: Call) -> None:
    del call.context.messages[3]


def set_option(**values: Any) -> Callable[[Call], None]:
    def change(call: Call) -> None:
        assert call.options is not None
        call.options = SimpleStreamOptions(**{**call.options.model_dump(), **values})

    return change


CHANGES = [
    Change(
        "a word in the system prompt",
        0,
        word_in_system_prompt,
        "context.system_prompt",
        "Use the TOOLS. Be brief",
        ["at character 38 of 20044:", "^^^^^"],
    ),
    Change(
        "the end of a long system prompt",
        2,
        word_deep_in_system_prompt,
        "context.system_prompt",
        "brief",
        ["at character 20044 of 20044:", "Be brief and exact.?"],
    ),
    Change(
        "a tool added",
        0,
        lambda call: call.context.tools.append(Tool(name="clock")),
        "context.tools[1]",
        "recorded missing, incoming {'description': '',",
        ["context.tools[1] inserted: tool 'clock'"],
    ),
    Change(
        "a tool taken away",
        1,
        lambda call: call.context.tools.clear(),
        "context.tools[0]",
        "incoming missing",
        ["context.tools[0] removed: tool 'weather'"],
    ),
    Change(
        "a tool's description",
        0,
        lambda call: setattr(call.context.tools[0], "description", "Weather of a town"),
        "context.tools[0].description",
        "recorded 'Weather of a city', incoming 'Weather of a town'",
        ["context.tools[0].description", "recorded 'Weather of a city'"],
    ),
    Change(
        "a schema's required reordered",
        0,
        lambda call: call.context.tools[0].parameters["required"].reverse(),
        "context.tools[0].parameters.required[0]",
        "recorded 'city', incoming 'days'",
        ["context.tools[0].parameters.required[1] moved to context.tools[0].parameters.required[0]: 'days'"],
    ),
    Change(
        "an argument's type in a schema",
        0,
        lambda call: call.context.tools[0].parameters["properties"]["days"].update(type="number"),
        "context.tools[0].parameters.properties.days.type",
        "recorded 'integer', incoming 'number'",
        ["1 difference"],
    ),
    Change(
        "an argument's type in the history",
        1,
        argument_type,
        "context.messages[1].content[0].arguments.days",
        "recorded 1, incoming '1'",
        ["recorded 1 (integer)", "incoming '1' (string)"],
    ),
    Change(
        "another temperature",
        0,
        set_option(temperature=0.5),
        "options.temperature",
        "recorded 0.0, incoming 0.5",
        ["1 difference"],
    ),
    Change(
        "no temperature",
        0,
        set_option(temperature=None),
        "options.temperature",
        "recorded 0.0, incoming None",
        ["recorded 0.0 (float)", "incoming None (null)"],
    ),
    Change(
        "an extra header",
        1,
        set_option(headers={"x-team": "blue", "x-trace": "1"}),
        'options.headers["x-trace"]',
        "recorded missing, incoming '1'",
        ["options.headers[\"x-trace\"] added: '1'"],
    ),
    Change(
        "a model renamed",
        0,
        lambda call: setattr(call, "model", call.model.model_copy(update={"id": "small-2"})),
        "model.id",
        "recorded 'small-1', incoming 'small-2'",
        ["1 difference"],
    ),
    Change(
        "a message dropped",
        2,
        drop_message,
        "context.messages[3].api",
        "recorded missing, incoming 'test-chat'",
        ["call 2 has 1 difference", "context.messages[3] removed: toolResult message '21 degrees, sun'"],
    ),
    Change(
        "a message inserted before all that it shifts",
        3,
        lambda call: call.context.messages.insert(0, UserMessage(content="Hello?")),
        "context.messages[0].content",
        "recorded 'Where is it warmer?', incoming 'Hello?'",
        ["call 3 has 1 difference", "context.messages[0] inserted: user message 'Hello?'"],
    ),
    Change(
        "two tool results swapped",
        1,
        swap_results,
        "context.messages[2].content[0].text",
        "recorded '4 degrees, rain', incoming '21 degrees, sun'",
        ["context.messages[2].content[0].text and context.messages[3].content[0].text changed places"],
    ),
    Change(
        "two tool results in another order",
        1,
        swap_result_messages,
        "context.messages[2].content[0].text",
        "recorded '4 degrees, rain', incoming '21 degrees, sun'",
        ["1 difference", "context.messages[3] moved to context.messages[2]: toolResult message"],
    ),
    Change(
        "history changed three turns back",
        3,
        result_word,
        "context.messages[3].content[0].text",
        "recorded '21 degrees, sun', incoming '22 degrees, sun'",
        ["call 3 has 1 difference", "no recorded call is equal"],
    ),
    Change(
        "a call skipped",
        1,
        to_call(2),
        "context.messages[4]",
        "recorded missing, incoming {'api': 'test-chat',",
        ["equal to call 2: call 1 was not made", "context.messages[4] inserted: assistant message 'weather'"],
    ),
    Change(
        "two calls skipped",
        1,
        to_call(3),
        "context.messages[4]",
        "recorded missing",
        ["equal to call 3: calls 1 and 2 were not made"],
    ),
    Change(
        "a call made twice",
        1,
        to_call(0),
        "context.messages[1]",
        "incoming missing",
        ["equal to call 0: recorded once, used once, this is the second time"],
    ),
    Change(
        "another kind of options",
        0,
        set_option(reasoning="high"),
        "options.reasoning",
        "recorded None, incoming 'high'",
        ["1 difference"],
    ),
]


async def replay_with(provider: ReplayProvider, change: Change) -> None:
    for number, call in enumerate(agent_run()):
        if number == change.call:
            call = copy.deepcopy(call)
            change.change(call)
        async for _ in provider.stream(call.model, call.context, call.options):
            pass


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.name)
async def test_what_changed_is_named(tmp_path: Path, change: Change) -> None:
    provider = ReplayProvider(write_recording(tmp_path / "run.jsonl", agent_run()))
    with pytest.raises(ReplayMismatch) as caught:
        await replay_with(provider, change)
    mismatch = caught.value
    assert mismatch.call_index == change.call
    assert mismatch.field_path == change.path
    assert str(mismatch).startswith(f"replay mismatch at call {change.call}, field {change.path}: recorded ")
    assert change.line in str(mismatch)
    assert len(str(mismatch)) <= 512
    assert "\n" not in str(mismatch)
    for line in change.report:
        assert line in mismatch.report()
    assert mismatch.report().splitlines()[0] == str(mismatch)
    assert provider.calls_used == change.call


async def test_temperature_0_is_not_0_0(tmp_path: Path) -> None:
    path = write_recording(tmp_path / "run.jsonl", agent_run())
    path.write_text(path.read_text().replace('"temperature":0.0', '"temperature":0'))
    provider = ReplayProvider(path)
    unchanged = Change("nothing", 0, lambda call: None, "", "", [])
    with pytest.raises(
        ReplayMismatch, match=r"field options\.temperature: recorded 0, incoming 0\.0"
    ) as caught:
        await replay_with(provider, unchanged)
    assert "recorded 0 (integer)" in caught.value.report()


async def test_the_run_itself_replays_whatever_the_layout_of_the_file(tmp_path: Path) -> None:
    unchanged = Change("nothing", 0, lambda call: None, "", "", [])
    path = write_recording(tmp_path / "run.jsonl", agent_run())
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    spaced = tmp_path / "spaced.jsonl"
    spaced.write_text("".join(json.dumps(row) + "\n" for row in rows))
    for row in rows:
        if row["type"] == "request":
            row["context"] = dict(reversed(row["context"].items()))
    other_order = tmp_path / "order.jsonl"
    other_order.write_text("".join(json.dumps(row, separators=(",", ":")) + "\n" for row in rows))
    for file in (path, spaced, other_order):
        provider = ReplayProvider(file)
        await replay_with(provider, unchanged)
        provider.assert_consumed()
