"""Recording changes nothing that the consumer or the provider sees."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from openprogram_core.providers import (
    AssistantMessageEvent,
    Context,
    MessageBuilder,
    Model,
    SimpleStreamOptions,
    StreamOptions,
    complete,
    register_api_provider,
    unregister_api_provider,
)
from openprogram_core.recordings import call_lane, is_being_written, read_recording_file
from openprogram_core.testing import CallTool, Say, ScriptedProvider, Step, Think, scripted_model
from openprogram_record import RecordingProvider, RecordingSink, recording
from tests.record.recorded import DONE, MODEL, START, FunctionProvider, Stream, asking, delta, drain, rows

EVENTS: list[AssistantMessageEvent] = [START, delta("a"), delta("b"), DONE]


async def _stream() -> Stream:
    for event in EVENTS:
        yield event


async def test_the_events_are_the_very_objects_of_the_provider_each_on_file_first(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    provider = RecordingProvider(FunctionProvider(_stream), path)
    seen = 0
    async for event in provider.stream(MODEL, asking("hi")):
        assert event is EVENTS[seen]
        on_file = [row for row in rows(path) if row["type"] == "event"]
        assert on_file[-1]["event"] == event.model_dump(mode="json")
        assert len(on_file) == seen + 1
        seen += 1
    assert seen == len(EVENTS)
    provider.close()
    with read_recording_file(path) as read:
        assert list(read.calls[0].events()) == EVENTS
        assert read.calls[0].request()["context"] == asking("hi").model_dump(mode="json")


async def test_nothing_happens_before_the_first_event_is_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    with RecordingSink(path) as sink:
        provider = RecordingProvider(FunctionProvider(_stream), sink)
        first, second = provider.stream(MODEL, asking("1")), provider.stream(MODEL, asking("2"))
        assert [row["type"] for row in rows(path)] == ["header"]
        await second.__anext__()
        await first.__anext__()
        await drain(second)
        await drain(first)
    with read_recording_file(path) as read:
        assert [call.request()["context"]["messages"][0]["content"] for call in read.calls] == ["2", "1"]


async def test_a_tool_call_with_thinking_reads_back_as_the_same_message(tmp_path: Path) -> None:
    steps: list[Step] = [
        Think("hm", signature="sig"),
        Say("Let me see."),
        CallTool("add", {"a": 1, "b": [1.0, None]}),
    ]
    provider = ScriptedProvider([steps, "done"])
    with RecordingSink(tmp_path / "a.jsonl") as sink:
        recorder = RecordingProvider(provider, sink)
        live = [await drain(recorder.stream(scripted_model(), asking("hi"))) for _ in range(2)]
    with read_recording_file(tmp_path / "a.jsonl") as read:
        assert [list(call.events()) for call in read.calls] == live
        builder = MessageBuilder()
        for event in read.calls[0].events():
            builder.add(event)
        assert [content.type for content in builder.message.content] == ["thinking", "text", "toolCall"]


async def test_stream_simple_goes_to_stream_simple(tmp_path: Path) -> None:
    asked: list[str] = []

    class TwoDoors(FunctionProvider):
        def stream(self, model: Model, context: Context, options: StreamOptions | None = None) -> Stream:
            asked.append("stream")
            return super().stream(model, context, options)

        def stream_simple(
            self, model: Model, context: Context, options: SimpleStreamOptions | None = None
        ) -> Stream:
            asked.append("stream_simple")
            return _stream()

    with RecordingSink(tmp_path / "a.jsonl") as sink:
        recorder = RecordingProvider(TwoDoors(_stream), sink)
        await drain(recorder.stream_simple(MODEL, asking("hi"), SimpleStreamOptions(reasoning="high")))
        await drain(recorder.stream(MODEL, asking("hi")))
    assert asked == ["stream_simple", "stream"]
    with read_recording_file(tmp_path / "a.jsonl") as read:
        assert read.calls[0].request()["options"]["reasoning"] == "high"
        # No options are the default ones, also for a later call through the stream door.
        plain = StreamOptions().model_dump(mode="json") | {"api_key": "[secret removed]"}
        assert read.calls[1].request()["options"] == plain


def test_it_says_of_itself_what_its_provider_says(tmp_path: Path) -> None:
    with RecordingSink(tmp_path / "a.jsonl") as sink:
        inner = FunctionProvider(_stream)
        recorder = RecordingProvider(inner, sink)
        assert recorder.requires_credentials is False
        assert recorder.wrappable is False
        assert recorder.api_key_variables(MODEL) == inner.api_key_variables(MODEL)


async def test_the_header_says_who_wrote_it(tmp_path: Path) -> None:
    with RecordingSink(tmp_path / "a.jsonl", facts={"test": "x", "type": "no"}):
        pass
    with read_recording_file(tmp_path / "a.jsonl") as read:
        header = read.header
    assert header["type"] == "header"
    assert header["generator"].startswith("openprogram-core ")
    assert header["created_at"].endswith("Z")
    assert len(header["recording_id"]) == 32
    assert header["test"] == "x"
    assert header["redaction"]


async def test_lanes(tmp_path: Path) -> None:
    with RecordingSink(tmp_path / "a.jsonl") as sink:
        recorder = RecordingProvider(FunctionProvider(_stream), sink)
        await drain(recorder.stream(MODEL, asking("1")))
        with call_lane("outer"):
            with call_lane("ré\ud800"):
                await drain(recorder.stream(MODEL, asking("2")))
            await drain(recorder.stream(MODEL, asking("3")))
    with read_recording_file(tmp_path / "a.jsonl") as read:
        assert [call.lane for call in read.calls] == [None, "ré\ud800", "outer"]


async def test_recording_counts_for_every_provider_while_the_block_runs(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    register_api_provider("scripted", ScriptedProvider(["one", "two", "three", "four"]))
    try:
        with recording(path) as sink:
            await complete(scripted_model(), asking("1"))
            with recording(tmp_path / "inner.jsonl"):
                await complete(scripted_model(), asking("2"))
            await complete(scripted_model(), asking("3"))
            assert is_being_written(path)
            assert sink.path == path
        await complete(scripted_model(), asking("4"))
    finally:
        unregister_api_provider("scripted")
    assert not is_being_written(path)
    for name, asked in (("a.jsonl", ["1", "3"]), ("inner.jsonl", ["2"])):
        with read_recording_file(tmp_path / name) as read:
            assert [call.request()["context"]["messages"][0]["content"] for call in read.calls] == asked


def test_the_block_is_undone_when_it_raises(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), recording(tmp_path / "a.jsonl"):
        raise ZeroDivisionError
    with read_recording_file(tmp_path / "a.jsonl") as read:
        assert len(read.calls) == 0


@pytest.mark.skipif(os.name != "posix", reason="modes are POSIX")
def test_nobody_else_may_read_the_file(tmp_path: Path) -> None:
    with RecordingSink(tmp_path / "a.jsonl"):
        assert stat.S_IMODE((tmp_path / "a.jsonl").stat().st_mode) == 0o600
