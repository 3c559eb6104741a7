"""A conversation that moves from one vendor to another, and back."""

from __future__ import annotations

import itertools

import pytest

from openprogram_core.providers import (
    AssistantMessage,
    Context,
    InvalidToolCall,
    Message,
    OpaqueContent,
    TextContent,
    ThinkingContent,
    ToolCall,
    ToolResultMessage,
    UserMessage,
)
from tests.support.wire_calls import calls_of, collect, final
from tests.support.wire_server import Reply, WireServer
from tests.wire_cross.vendors import ARGUMENTS, BOUND, RESULTS, SAID, VENDORS, Said

PAIRS = [pytest.param(a, b, id=f"{a} to {b}") for a, b in itertools.permutations(VENDORS, 2)]
QUESTION = UserMessage(content="What is the weather?")


async def begun(api: str) -> list[Message]:
    """A question, the answer of ``api`` with two calls, and their results."""
    vendor = VENDORS[api]
    with WireServer(Reply(vendor.calling)) as server:
        message = final(await collect(vendor.provider, vendor.model(server), Context(messages=[QUESTION])))
    results = [
        ToolResultMessage(tool_call_id=call.id, tool_name=call.name, content=[TextContent(text=text)])
        for call, text in zip(calls_of(message), RESULTS, strict=True)
    ]
    return [QUESTION, message, *results]


async def told(api: str, messages: list[Message]) -> tuple[Message, str, Said]:
    """Continue on ``api``: its answer, and its request as text and as what it says."""
    vendor = VENDORS[api]
    with WireServer(Reply(vendor.talking)) as server:
        events = await collect(vendor.provider, vendor.model(server), Context(messages=messages))
        request = server.requests[0]
    return final(events), request.body.decode(), vendor.read(request.json())


@pytest.mark.parametrize(("first", "second"), PAIRS)
async def test_text_calls_and_results_go_on_and_what_is_bound_stays_behind(first: str, second: str) -> None:
    _, body, said = await told(second, await begun(first))
    assert said.texts == [QUESTION.content, SAID]
    assert [(name, arguments) for _, name, arguments in said.calls] == [("weather", ARGUMENTS), ("news", {})]
    assert [text for _, text in said.results] == list(RESULTS)
    assert [call_id for call_id, _, _ in said.calls] == [call_id for call_id, _ in said.results]
    assert [one for one in BOUND if one in body] == []


@pytest.mark.parametrize(("first", "second"), PAIRS)
async def test_back_where_it_began_everything_bound_is_there_again(first: str, second: str) -> None:
    messages = await begun(first)
    answer, _, _ = await told(second, messages)
    _, body, _ = await told(first, [*messages, answer, UserMessage(content="And tomorrow?")])
    assert [one for one in BOUND if one in body] == list(VENDORS[first].bound)
    assert "Done. " in body


@pytest.mark.parametrize("second", VENDORS)
async def test_ids_that_look_alike_or_fit_nowhere_stay_apart(second: str) -> None:
    ids = ["call_0", "functions.f:0", "call_0|fc_" + "x" * 90, "käse"]
    messages: list[Message] = [QUESTION]
    for number in range(2):
        calls = [ToolCall(id=one, name="f", arguments={"n": number}) for one in ids]
        messages.append(AssistantMessage(content=list(calls), api="other", provider="other", model="other"))
        messages += [
            ToolResultMessage(
                tool_call_id=one, tool_name="f", content=[TextContent(text=f"{number} {place}")]
            )
            for place, one in enumerate(ids)
        ]
    vendor = VENDORS[second]
    with WireServer(*[Reply(vendor.talking)] * 2) as server:
        for _ in range(2):
            await collect(vendor.provider, vendor.model(server), Context(messages=messages))
        assert server.requests[0].body == server.requests[1].body
        said = vendor.read(server.requests[0].json())
    assert [call_id for call_id, _, _ in said.calls] == [call_id for call_id, _ in said.results]
    assert [text for _, text in said.results] == [
        f"{turn} {place}" for turn in range(2) for place in range(4)
    ]
    for turn in (said.calls[:4], said.calls[4:]):
        assert len({call_id for call_id, _, _ in turn}) == 4


@pytest.mark.parametrize("second", VENDORS)
async def test_a_turn_that_was_broken_off_elsewhere_can_be_continued(second: str) -> None:
    broken = AssistantMessage(
        content=[
            ThinkingContent(thinking=BOUND[2]),
            TextContent(text="I will"),
            ToolCall(id="c1", name="f", arguments={}),
            InvalidToolCall(id="c2", name="rm", arguments_text='{"path": "/', reason="incomplete"),
            OpaqueContent(kind="server_tool_use", data={"id": BOUND[3]}),
        ],
        api="other",
        provider="other",
        model="other",
        stop_reason="aborted",
    )
    vendor = VENDORS[second]
    with WireServer(Reply(vendor.talking)) as server:
        context = Context(messages=[QUESTION, broken, UserMessage(content="go on")])
        await collect(vendor.provider, vendor.model(server), context)
        request = server.requests[0]
        said = vendor.read(request.json())
    assert said.texts == [QUESTION.content, "I will", "go on"]
    assert [name for _, name, _ in said.calls] == ["f"]
    assert [call_id for call_id, _ in said.results] == [said.calls[0][0]]
    assert "rm" not in [name for _, name, _ in said.calls]
    assert [one for one in BOUND if one in request.body.decode()] == []
