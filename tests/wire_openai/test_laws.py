"""What holds for every stream: cuts do not matter, and no payload breaks the event protocol."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterable, Sequence
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from openprogram_core.providers import (
    AssistantMessage,
    AssistantMessageEvent,
    Model,
    StreamAssembler,
    check_event_protocol,
)
from openprogram_core.providers.adapter import WireCall, run_wire_call
from openprogram_openai.completions_reader import CompletionsReader
from openprogram_openai.responses_reader import ResponsesReader
from tests.support.adapter_runs import calls_of, final, text_of
from tests.wire_openai.bodies import (
    Json,
    added,
    call_item,
    call_piece,
    chunk,
    created,
    done,
    ended,
    message_item,
    text_delta,
)


class PayloadCall(WireCall):
    """A call whose answer is a list of payloads."""

    def __init__(self, api: str, payloads: Sequence[Any]) -> None:
        super().__init__(StreamAssembler(Model(id="m", api=api, provider="local"), timestamp=0), None)
        self._payloads = payloads
        self._reader: Any = (
            CompletionsReader(self.assembler)
            if api == "openai-completions"
            else ResponsesReader(self.assembler)
        )

    async def open(self) -> AsyncIterator[Any]:
        async def payloads() -> AsyncIterator[Any]:
            for payload in self._payloads:
                yield payload

        return payloads()

    def feed(self, payload: Any) -> Iterable[AssistantMessageEvent]:
        events: Iterable[AssistantMessageEvent] = self._reader.feed(payload)
        return events

    def finish(self) -> Iterable[AssistantMessageEvent]:
        events: Iterable[AssistantMessageEvent] = getattr(self._reader, "finish", tuple)()
        return events


async def read(api: str, payloads: Sequence[Any]) -> AssistantMessage:
    """Return the message; the events keep the protocol."""
    events = [event async for event in run_wire_call(PayloadCall(api, payloads))]
    assert check_event_protocol(events) == []
    return final(events)


VALUES = st.recursive(
    st.none() | st.integers() | st.text(max_size=8), lambda inner: st.lists(inner, max_size=3)
)
ARGUMENTS = st.dictionaries(st.text(max_size=5), VALUES, min_size=1, max_size=3)


@st.composite
def interleaved(draw: st.DrawFn, texts: Sequence[str]) -> list[tuple[int, str]]:
    """Cut each text into pieces and mix the pieces, each text's own in their order."""
    queues = []
    for number, text in enumerate(texts):
        places = sorted(draw(st.lists(st.integers(0, len(text)), max_size=5)))
        edges = [0, *places, len(text)]
        queues.append([(number, text[a:b]) for a, b in pairwise(edges)])
    mixed = []
    while any(queues):
        queue = draw(st.sampled_from([queue for queue in queues if queue]))
        mixed.append(queue.pop(0))
    return mixed


@settings(deadline=None, max_examples=60)
@given(data=st.data(), arguments=st.lists(ARGUMENTS, min_size=1, max_size=4))
async def test_chat_calls_survive_every_cut_and_mix(data: st.DataObject, arguments: list[Json]) -> None:
    pieces = data.draw(interleaved([json.dumps(value) for value in arguments]))
    heads = [call_piece(n, "", id=f"call_{n}", name=f"f{n}") for n in range(len(arguments))]
    chunks = [chunk({"tool_calls": [head]}) for head in heads]
    chunks += [chunk({"tool_calls": [call_piece(number, text)]}) for number, text in pieces]
    message = await read("openai-completions", [*chunks, chunk(finish="tool_calls")])
    assert [call.arguments for call in calls_of(message)] == arguments
    assert [call.id for call in calls_of(message)] == [f"call_{n}" for n in range(len(arguments))]


@settings(deadline=None, max_examples=60)
@given(data=st.data(), arguments=st.lists(ARGUMENTS, min_size=1, max_size=4), text=st.text(max_size=20))
async def test_response_items_survive_every_cut_and_mix(
    data: st.DataObject, arguments: list[Json], text: str
) -> None:
    texts = [text, *(json.dumps(value) for value in arguments)]
    items = [message_item(text)]
    items += [
        call_item(argument, id=f"fc_{n}", call_id=f"call_{n}") for n, argument in enumerate(texts[1:], 1)
    ]
    events: list[Json] = [created()]
    events += [added(n, {**item, "arguments": "", "content": []}) for n, item in enumerate(items)]
    for number, piece in data.draw(interleaved(texts)):
        kind = "response.function_call_arguments.delta"
        call = {"type": kind, "output_index": number, "delta": piece}
        events.append(call if number else text_delta(0, piece))
    order = data.draw(st.permutations(range(len(items))))
    events += [done(number, items[number]) for number in order]
    message = await read("openai-responses", [*events, ended(output=items)])
    assert text_of(message) == text
    assert {call.id: call.arguments for call in calls_of(message)} == {
        f"call_{n}": argument for n, argument in enumerate(arguments, 1)
    }


GOOD_CHAT = [
    chunk({"role": "assistant", "content": ""}),
    chunk({"content": "x", "reasoning": "y"}),
    chunk({"reasoning_content": "z", "reasoning_details": [{"type": "reasoning.text", "signature": "S"}]}),
    chunk({"refusal": "no", "annotations": [{"type": "url_citation"}]}),
    chunk({"tool_calls": [call_piece(0, '{"a":', id="a", name="f"), call_piece(None, "1}")]}),
    chunk({"function_call": {"name": "g", "arguments": "{}"}}),
    chunk(finish="stop"),
    chunk(finish="length"),
    chunk(finish="content_filter", usage={"prompt_tokens": 1}),
    {"error": {"message": "x"}},
]
REASONING = {"type": "reasoning", "id": "r", "summary": [{"type": "summary_text", "text": "s"}]}
GOOD_RESPONSES = [
    created(),
    added(0, REASONING),
    {"type": "response.reasoning_summary_text.delta", "output_index": 0, "summary_index": 1, "delta": "s"},
    {"type": "response.reasoning_text.done", "output_index": 0, "content_index": 0, "text": "t"},
    done(0, REASONING),
    text_delta(1, "x"),
    text_delta(0, "y", 2),
    {"type": "response.output_text.annotation.added", "output_index": 1, "annotation": {"a": 1}},
    done(1, message_item("xyz")),
    {"type": "response.function_call_arguments.delta", "output_index": 1, "delta": '{"a'},
    {"type": "response.function_call_arguments.done", "output_index": 1, "arguments": "{}", "name": "f"},
    done(2, call_item("{}")),
    done(2, {"type": "web_search_call", "id": "w"}),
    ended(),
    ended("incomplete", output=[message_item("late")]),
    ended("failed", error={"code": "x", "message": "m"}),
    {"type": "error", "message": "m"},
]
GOOD = {"openai-completions": GOOD_CHAT, "openai-responses": GOOD_RESPONSES}
ODD = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-2, 3)
    | st.sampled_from(["", "x", "stop", "message", "reasoning"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "type",
                    "choices",
                    "delta",
                    "content",
                    "item",
                    "part",
                    "response",
                    "output",
                    "error",
                    "usage",
                    "tool_calls",
                    "function",
                    "index",
                    "output_index",
                    "text",
                    "id",
                    "finish_reason",
                ]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=8,
)


@st.composite
def damaged(draw: st.DrawFn, payload: Json) -> Any:
    """A good payload of which one field, at some depth, is something else."""
    whole = json.loads(json.dumps(payload))
    place: Any = whole
    for _ in range(draw(st.integers(0, 4))):
        keys = list(place) if isinstance(place, dict) else list(range(len(place)))
        inner = [key for key in keys if isinstance(place[key], dict | list) and place[key]]
        if not inner:
            break
        place = place[draw(st.sampled_from(inner))]
    keys = list(place) if isinstance(place, dict) else list(range(len(place)))
    place[draw(st.sampled_from(keys))] = draw(ODD)
    return whole


@pytest.mark.parametrize("api", GOOD)
@settings(deadline=None, max_examples=150)
@given(data=st.data())
async def test_no_payload_breaks_the_protocol(api: str, data: st.DataObject) -> None:
    good = st.sampled_from(GOOD[api])
    payloads = data.draw(st.lists(good | good.flatmap(damaged) | ODD, max_size=8))
    message = await read(api, payloads)
    assert message.stop_reason in ("stop", "length", "toolUse", "error")
