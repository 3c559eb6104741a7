from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from openprogram_core.providers import (
    AssistantMessageEvent,
    StreamOptions,
    check_event_protocol,
    register_api_provider,
    unregister_api_provider,
)
from openprogram_openai import OpenAICompletionsProvider
from openprogram_record import RecordingProvider, recording
from openprogram_replay import ReplayMismatch, ReplayProvider, replaying
from tests.e2e.agent import API, chat_model, run_loop
from tests.e2e.sessions import SESSIONS, LoopSession
from tests.support.interpreter import run_python
from tests.support.wire_bytes import Cut, bytewise, inside_characters, whole
from tests.support.wire_server import Reply, WireServer

CUTS: dict[str, Cut] = {"whole": whole, "bytewise": bytewise, "inside-characters": inside_characters}
OPTIONS = StreamOptions(api_key="not-a-real-key-1")


@pytest.fixture(params=list(SESSIONS))
def session(request: pytest.FixtureRequest) -> LoopSession:
    return SESSIONS[request.param]()


def without_clock(calls: list[list[AssistantMessageEvent]]) -> list[Any]:
    """The events as JSON with the moments taken out, which differ from run to run."""
    dumped = [[event.model_dump(mode="json") for event in events] for events in calls]
    for events in dumped:
        for event in events:
            for message in (event.get("message"), event.get("error")):
                if message is not None:
                    message["timestamp"] = 0
    return dumped


def record(session: LoopSession, path: Path, cut: Cut = whole) -> list[list[AssistantMessageEvent]]:
    with WireServer(*[Reply(body, cut=cut) for body in session.responses]) as server, recording(path):
        model = chat_model(f"{server.url}/v1").model_copy()
        calls, _ = asyncio.run(run_loop(model, session.prompt, session.tool_answers, options=OPTIONS))
    return calls


def recorded_base_url(path: Path) -> str:
    """The server had a free port; replaying asks for the model as it was recorded."""
    rows = [json.loads(line) for line in path.read_bytes().splitlines()]
    url: str = next(row["model"]["base_url"] for row in rows if row["type"] == "request")
    return url


def test_a_loop_through_the_real_client_replays_with_equal_events(
    session: LoopSession, tmp_path: Path
) -> None:
    path = tmp_path / "loop.jsonl"
    recorded = record(session, path)
    assert len(recorded) == 3
    assert [check_event_protocol(events) for events in recorded] == [[], [], []]
    model = chat_model(recorded_base_url(path))
    with replaying(path) as replay:
        replayed, _ = asyncio.run(run_loop(model, session.prompt, session.tool_answers, options=OPTIONS))
        assert replay.calls_used == 3
    assert replayed == recorded


def test_however_the_bytes_are_cut_the_recorded_events_are_the_same(
    session: LoopSession, tmp_path: Path
) -> None:
    seen = {
        name: without_clock(record(session, tmp_path / f"{name}.jsonl", cut)) for name, cut in CUTS.items()
    }
    assert seen["bytewise"] == seen["whole"]
    assert seen["inside-characters"] == seen["whole"]


REPLAY_WITHOUT_SDK = """
import asyncio, json, sys
for package in ("openai", "anthropic", "google.genai", "httpx", "httpx2"):
    sys.modules[package] = None
def refuse(event, arguments):
    if event in ("socket.connect", "socket.getaddrinfo", "socket.bind"):
        raise OSError(f"{event} refused")
sys.addaudithook(refuse)
sys.path.insert(0, sys.argv[1] if len(sys.argv) > 1 else ".")
from tests.e2e.agent import chat_model, run_loop
from openprogram_core.providers import register_api_provider
from openprogram_replay import ReplayProvider
asked = json.loads(INPUT)
provider = ReplayProvider(asked["path"])
register_api_provider("openai-completions", provider)
calls, _ = asyncio.run(run_loop(chat_model(asked["url"]), asked["prompt"], asked["answers"]))
provider.assert_consumed()
print(json.dumps([[event.model_dump(mode="json") for event in events] for events in calls]))
"""


def test_replay_needs_neither_a_socket_nor_a_key_nor_a_vendors_package(
    session: LoopSession, tmp_path: Path
) -> None:
    path = tmp_path / "loop.jsonl"
    recorded = record(session, path)
    given = {
        "path": str(path),
        "url": recorded_base_url(path),
        "prompt": session.prompt,
        "answers": session.tool_answers,
    }
    root = str(Path(__file__).resolve().parents[2])
    code = f"INPUT = {json.dumps(given)!r}\nimport sys\nsys.argv[1:] = [{root!r}]\n" + REPLAY_WITHOUT_SDK
    ran = run_python(code, home=tmp_path)
    assert ran.returncode == 0, ran.stderr
    expected = [[event.model_dump(mode="json") for event in events] for events in recorded]
    assert json.loads(ran.stdout) == expected


def test_one_changed_word_of_a_tool_result_is_named_by_its_field(
    session: LoopSession, tmp_path: Path
) -> None:
    path = tmp_path / "loop.jsonl"
    record(session, path)
    model = chat_model(recorded_base_url(path))
    answer = session.tool_answers["get_country"]
    changed = session.tool_answers | {"get_country": answer + " d'en haut"}

    async def scenario() -> None:
        with pytest.raises(ReplayMismatch) as caught:
            await run_loop(model, session.prompt, changed, options=OPTIONS)
        mismatch = caught.value
        assert (mismatch.call_index, mismatch.field_path) == (1, "context.messages[2].content[0].text")
        assert (mismatch.recorded, mismatch.incoming) == (answer, answer + " d'en haut")
        assert str(mismatch) == (
            "replay mismatch at call 1, field context.messages[2].content[0].text: "
            f"recorded {answer!r}, incoming {answer + ' d' + chr(39) + 'en haut'!r}"
        )

    provider = ReplayProvider(path)
    register_api_provider(API, provider)
    try:
        asyncio.run(scenario())
        # Call 0 was answered; the mismatch used up nothing, and it is not forgotten.
        assert provider.calls_used == 1
        with pytest.raises(ReplayMismatch):
            provider.assert_consumed()
    finally:
        unregister_api_provider(API)


def test_the_constructors_record_and_replay_without_any_scope(tmp_path: Path) -> None:
    session = SESSIONS["own"]()
    path = tmp_path / "loop.jsonl"
    with WireServer(*[Reply(body) for body in session.responses]) as server:
        model = chat_model(f"{server.url}/v1")
        register_api_provider(API, RecordingProvider(OpenAICompletionsProvider(), path))
        try:
            recorded, _ = asyncio.run(run_loop(model, session.prompt, session.tool_answers, options=OPTIONS))
            register_api_provider(API, ReplayProvider(path))
            replayed, _ = asyncio.run(run_loop(model, session.prompt, session.tool_answers))
        finally:
            unregister_api_provider(API)
    assert replayed == recorded


def test_a_key_in_four_places_is_nowhere_in_the_file_and_another_key_matches(tmp_path: Path) -> None:
    session = SESSIONS["own"]()
    path = tmp_path / "loop.jsonl"

    def secrets(mark: str) -> dict[str, str]:
        return {
            "api_key": "sk-" + "proj-" + f"Synthetic0{mark}Value1Only2Test3Synthetic0Value1",
            "header": f"Opaque{mark}HeaderCredential0001",
            "query": f"SYNTHETIC{mark}NOPREFIX0001",
            "prompt": "sk-" + "ant-api03-" + f"Synthetic0{mark}Value1Only2Test3Synthetic0Value1Only2Te",
        }

    def ask(given: dict[str, str]) -> tuple[str, StreamOptions]:
        prompt = (
            f"{session.prompt} My key: {given['prompt']}; see https://x.test/cb?api_key={given['query']}&z=1"
        )
        options = StreamOptions(
            api_key=given["api_key"], headers={"Authorization": f"Bearer {given['header']}"}
        )
        return prompt, options

    first, second = secrets("A"), secrets("B")
    with WireServer(*[Reply(body) for body in session.responses]) as server, recording(path):
        model = chat_model(f"{server.url}/v1")
        prompt, options = ask(first)
        recorded, _ = asyncio.run(run_loop(model, prompt, session.tool_answers, options=options))
    raw = path.read_bytes()
    for name, secret in first.items():
        assert secret.encode() not in raw, name
        assert secret[10:].encode() not in raw, name
    assert b"z=1" in raw
    with replaying(path):
        prompt, options = ask(second)
        replayed, _ = asyncio.run(run_loop(model, prompt, session.tool_answers, options=options))
    assert replayed == recorded


def test_while_recording_the_consumer_gets_the_very_objects_each_on_file_first(tmp_path: Path) -> None:
    from openprogram_core.providers import Context
    from openprogram_core.testing import CallTool, Say, ScriptedProvider, scripted_model

    yielded: list[AssistantMessageEvent] = []

    class Watched(ScriptedProvider):
        async def _run(self, *arguments: Any) -> Any:
            async for event in super()._run(*arguments):
                yielded.append(event)
                yield event

    path = tmp_path / "one.jsonl"

    async def consume() -> None:
        provider = RecordingProvider(Watched([[Say("hello there"), CallTool("f", {"a": 1})]]), path)
        got = []
        async for event in provider.stream(scripted_model(), Context()):
            got.append(event)
            rows = [json.loads(line) for line in path.read_bytes().splitlines()]
            assert rows[-1]["event"] == event.model_dump(mode="json")
        assert len(got) == len(yielded)
        assert all(one is other for one, other in zip(got, yielded, strict=True))

    asyncio.run(consume())


async def test_no_options_and_default_options_are_one_request(tmp_path: Path) -> None:
    from openprogram_core.providers import Context, complete
    from openprogram_core.testing import ScriptedProvider, scripted_model

    path = tmp_path / "plain.jsonl"
    recorder = RecordingProvider(ScriptedProvider(["hi"]), path)
    assert [event.type async for event in recorder.stream(scripted_model(), Context())][-1] == "done"
    recorder.close()
    with replaying(path):
        assert (await complete(scripted_model(), Context())).stop_reason == "stop"
    with replaying(path) as replay:
        events = replay.provider.stream(scripted_model(), Context())
        assert [event.type async for event in events][-1] == "done"
