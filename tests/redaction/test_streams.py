"""Streams: recorded as they come unless something secret is under way, and sound in any case."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from openprogram_core.providers import (
    EVENT_ADAPTER,
    AssistantMessage,
    AssistantMessageEvent,
    DoneEvent,
    ErrorEvent,
    OpaqueContent,
    OpaqueEvent,
    ProviderError,
    StreamAssembler,
    TextContent,
    TextDeltaEvent,
    TextEndEvent,
    TextStartEvent,
    ToolCallEndEvent,
    check_event_protocol,
)
from openprogram_core.redaction import PLACEHOLDER
from tests.redaction.support import (
    BODY,
    MODEL,
    RecordedStream,
    built_in,
    cut,
    recorded,
    redact,
    stream_events,
)
from tests.redaction.test_texts import GONE, STAYS
from tests.support.shared import shared_path

KEY = "sk-" + "proj-" + BODY


@pytest.mark.parametrize("kind", ["text", "thinking", "arguments"])
def test_a_clean_stream_passes_as_the_very_same_objects(kind: Any) -> None:
    pieces = [
        "Hello",
        " world, ",
        "see https://example.org/a?b=1",
        " and ask-",
        "someone: ",
        "the token count is 5",
        "",
    ]
    if kind == "arguments":
        pieces = ['{"max_tokens": 5, "pa', 'th": "a/b", "text": "the tok', 'en count"', "}"]
    events = stream_events(pieces, kind)
    stream = RecordedStream(events)
    assert all(payload is event for payload, event in zip(stream.payloads, events, strict=True))


def test_words_that_begin_like_a_secret_are_held_only_until_that_is_decided() -> None:
    pieces = [
        "Basic ",
        "under",
        "standing of the ",
        "password",
        ": field, a ",
        "sk-",
        "etch, and https://x",
        ".test/",
    ]
    stream = recorded([*pieces, " then ", "more"])
    assert stream.joined == "".join(pieces) + " then more"
    assert stream.deltas[-2:] == [" then ", "more"]
    assert len(stream.deltas) == len(pieces) + 2


def test_a_secret_is_left_out_and_the_stream_goes_on() -> None:
    stream = recorded(["use ", KEY[:9], KEY[9:], " now", ", then", " rest"])
    assert stream.joined == f"use {PLACEHOLDER} now, then rest"
    assert stream.deltas == ["use ", "", "", f"{PLACEHOLDER} now", ", then", " rest"]
    assert isinstance(stream.events[-1], DoneEvent)
    assert stream.events[-1].message.content == [TextContent(text=stream.joined)]
    assert not stream.violations()


def test_a_placeholder_in_pieces_stays_one() -> None:
    text = f"Authorization: Bearer {PLACEHOLDER} and password={PLACEHOLDER}, token: {PLACEHOLDER}."
    for size in (1, 2, 3, 5, 8, 13):
        stream = recorded([text[start : start + size] for start in range(0, len(text), size)])
        assert stream.joined == text


def test_what_is_held_at_the_end_comes_in_one_row_of_its_own() -> None:
    events = stream_events(["use ", KEY])
    stream = RecordedStream(events)
    assert len(stream.rows) == len(events) + 1
    assert stream.deltas == ["use ", "", PLACEHOLDER]


def test_tool_arguments_join_to_json_that_agrees_with_the_redacted_call() -> None:
    arguments = {"user": "kim", "password": ["a1", "b2"], "n": 1.5, "note": f'{KEY} in "text"'}
    text = json.dumps(arguments, indent=1)
    rng = random.Random(4)
    for _ in range(50):
        pieces = cut(text, [rng.randrange(len(text)) for _ in range(rng.randrange(12))])
        stream = recorded(pieces, "arguments")
        end = next(event for event in stream.events if isinstance(event, ToolCallEndEvent))
        assert end.tool_call.type == "toolCall"
        assert end.tool_call.arguments == json.loads(stream.joined)
        assert end.tool_call.arguments == {
            "user": "kim",
            "password": PLACEHOLDER,
            "n": 1.5,
            "note": f'{PLACEHOLDER} in "text"',
        }
        assert not stream.violations()


def test_a_value_that_comes_before_its_name_in_json_is_not_written() -> None:
    stream = recorded(['{"headers": [{"name": "x-api-', 'key", "value": "zzz9"}]}'], "arguments")
    assert "zzz9" not in stream.file.decode()


def test_arguments_that_are_no_json_are_redacted_as_text() -> None:
    stream = recorded(['{"password": "hun', 'ter2", "b": '], "arguments")
    assert "hunter2" not in stream.file.decode()
    assert stream.joined == f'{{"password": "{PLACEHOLDER}", "b": '
    assert not stream.violations()


def test_an_end_that_brings_more_than_its_deltas_is_redacted_by_itself() -> None:
    message = AssistantMessage(api="a", provider="p", model="m", content=[TextContent(text=f"is {KEY}")])
    events: list[AssistantMessageEvent] = [
        TextStartEvent(content_index=0),
        TextDeltaEvent(content_index=0, delta="is "),
        TextEndEvent(content_index=0, content=TextContent(text=f"is {KEY}")),
        DoneEvent(reason="stop", message=message),
    ]
    stream = RecordedStream(events)
    assert BODY not in stream.file.decode()


def test_citations_and_opaque_blocks_are_redacted_and_their_opaque_data_is_not() -> None:
    content = TextContent(text="fine", citations=[{"quote": KEY, "encrypted_index": KEY}])
    opaque = OpaqueContent(kind="search", data={"encrypted_content": KEY, "query": KEY})
    assembler = StreamAssembler(MODEL)
    events = [*assembler.start(), *assembler.text(0, "fine")]
    assembler.cite(0, {"quote": KEY, "encrypted_index": KEY})
    events += [*assembler.end(0), *assembler.opaque(opaque.kind, opaque.data), *assembler.done("stop")]
    stream = RecordedStream(events)
    kept = stream.events[-1]
    assert isinstance(kept, DoneEvent)
    assert kept.message.content == [
        content.model_copy(update={"citations": [{"quote": PLACEHOLDER, "encrypted_index": KEY}]}),
        OpaqueContent(kind="search", data={"encrypted_content": KEY, "query": PLACEHOLDER}),
    ]
    assert isinstance(next(event for event in stream.events if event.type == "opaque"), OpaqueEvent)
    assert not stream.violations()


def test_the_error_a_service_echoed_is_redacted() -> None:
    assembler = StreamAssembler(MODEL)
    events = [*assembler.start(), *assembler.text(0, "a")]
    events += assembler.fail(ProviderError("auth", f"Incorrect API key provided: {KEY}"))
    stream = RecordedStream(events)
    last = stream.events[-1]
    assert isinstance(last, ErrorEvent)
    assert last.error.error_message == f"Incorrect API key provided: {PLACEHOLDER}"
    assert not stream.violations()


def test_blocks_that_overlap_are_kept_apart() -> None:
    assembler = StreamAssembler(MODEL)
    events = list(assembler.start())
    for first, second in (("a " + KEY[:10], "b"), (KEY[10:], "c " + KEY[:5]), (" d", KEY[5:] + " e")):
        events += [*assembler.text("x", first), *assembler.thinking("y", second)]
    stream = RecordedStream(events + assembler.done("stop"))
    last = stream.events[-1]
    assert isinstance(last, DoneEvent)
    assert [getattr(content, content.type) for content in last.message.content] == [
        f"a {PLACEHOLDER} d",
        f"bc {PLACEHOLDER} e",
    ]
    assert not stream.violations()


@pytest.mark.parametrize("ends_with", [KEY[:20], "Bearer " + BODY[:5], "password: hun", "ghp_" + BODY[:12]])
def test_a_stream_that_breaks_off_within_a_secret_keeps_no_part_of_it(ends_with: str) -> None:
    stream = RecordedStream(stream_events(["see ", ends_with])[:-2])
    assert ends_with[-3:] not in stream.joined
    assert stream.joined.startswith("see ")


def test_a_long_block_that_is_held_costs_the_same_per_piece() -> None:
    body = ("A" * 64 + "\n") * 300
    text = "-----BEGIN PRIVATE " + f"KEY-----\n{body}-----END PRIVATE KEY----- done"
    stream = recorded([text[start : start + 5] for start in range(0, len(text), 5)])
    assert "AAAA" not in stream.joined
    assert stream.joined.endswith("done")
    assert not stream.violations()


def test_the_collected_real_streams_pass_unchanged() -> None:
    folder = shared_path("streams")
    texts = [
        path.read_text("utf-8")
        for path in sorted(folder.rglob("*"))
        if path.suffix in (".sse", ".jsonl", ".txt")
    ]
    for text in texts:
        if built_in().remove_secret_values(text) != text:
            continue
        events = stream_events([text[start : start + 11] for start in range(0, len(text), 11)])
        stream = RecordedStream(events)
        assert [EVENT_ADAPTER.validate_python(row) for row in stream.rows] == stream.events
        assert stream.joined == text
        assert not check_event_protocol(stream.events)


# A value that comes before its name is written before anybody can know.
_TOO_LATE = ("yaml named, turned", "attribute before its name")


@pytest.mark.parametrize("size", [1, 2, 5, 9])
def test_what_goes_from_a_text_goes_from_a_stream_and_what_stays_stays(size: int) -> None:
    for name, (text, secret) in GONE.items():
        whole = f"see {text} there. And more words follow,\nto the end </x> of it."
        if name not in _TOO_LATE and secret not in redact(whole):
            stream = recorded([whole[at : at + size] for at in range(0, len(whole), size)])
            assert secret not in stream.joined, name
            assert not stream.violations()
    for text in STAYS:
        whole = f"see {text} there"
        if redact(whole) == whole:
            stream = recorded([whole[at : at + size] for at in range(0, len(whole), size)])
            assert stream.joined == whole
