"""Real sessions through the real SDK from a real server, under every way of cutting the bytes."""

from __future__ import annotations

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from openprogram_core.providers import AssistantMessage, ThinkingContent
from tests.support.adapter_runs import calls_of, comparable, final, run, text_of, thinking_of
from tests.support.shared import PROJECT_ROOT, shared_path
from tests.support.wire_bytes import CUTS, pieces_of, whole
from tests.support.wire_server import Reply, WireServer
from tests.wire_openai.bodies import (
    call_item,
    call_piece,
    chat,
    chunk,
    created,
    done,
    ended,
    responses,
    text_delta,
)
from tests.wire_openai.models import PROVIDERS, model_at
from tests.wire_openai.raw_reading import RawMessage, read_chat, read_response

STREAMS = PROJECT_ROOT.parent / "shared" / "streams"
SESSIONS = sorted(
    f"{path.parent.name}/{path.name}"
    for name in ("chat-*", "responses-*")
    for path in STREAMS.glob(f"{name}/*.response.sse")
)

_USAGE = {"prompt_tokens": 9, "completion_tokens": 4, "total_tokens": 13}
OWN: dict[str, bytes] = {
    "chat-text": chat(
        chunk({"role": "assistant", "content": ""}),
        *(chunk({"content": piece}) for piece in ("Grüße", " aus ", "東京 🗼", "\u2028 \r\n end")),
        chunk(finish="stop"),
        {"id": "chatcmpl-7", "object": "chat.completion.chunk", "choices": [], "usage": _USAGE},
    ),
    "chat-calls": chat(
        chunk({"reasoning": "two "}),
        chunk({"reasoning": "cities"}),
        chunk({"tool_calls": [call_piece(0, "", id="call_a", name="weather")]}),
        chunk({"tool_calls": [call_piece(0, '{"city":')]}),
        chunk({"tool_calls": [call_piece(1, "", id="call_b", name="weather")]}),
        chunk({"tool_calls": [call_piece(1, '{"city":"Zür'), call_piece(0, '"São Paulo"}')]}),
        chunk({"tool_calls": [call_piece(1, 'ich"}')]}),
        chunk(finish="tool_calls", usage=_USAGE),
    ),
    "chat-crlf": chat(chunk({"content": "a é"}), chunk({"content": "😀"}), chunk(finish="length")).replace(
        b"\n", b"\r\n"
    ),
    "responses-mixed": responses(
        created(),
        text_delta(0, "Ça "),
        text_delta(0, "va 🙂"),
        {
            "type": "response.function_call_arguments.delta",
            "output_index": 1,
            "item_id": "fc_1",
            "delta": '{"q":',
        },
        {
            "type": "response.function_call_arguments.delta",
            "output_index": 1,
            "item_id": "fc_1",
            "delta": '"ü"}',
        },
        done(1, call_item('{"q":"ü"}')),
        ended(usage={"input_tokens": 5, "output_tokens": 3, "total_tokens": 8}),
    ),
}


def _body(name: str) -> bytes:
    return OWN[name] if name in OWN else (shared_path("streams") / name).read_bytes()


def _api(name: str) -> str:
    return "openai-completions" if name.startswith("chat") else "openai-responses"


def _says(message: AssistantMessage, raw: RawMessage) -> None:
    assert text_of(message) == raw.text
    assert thinking_of(message) == raw.thinking
    assert [(call.id, call.name, call.arguments) for call in calls_of(message)] == [
        (call_id, name, json.loads(arguments or "{}")) for call_id, name, arguments in raw.calls
    ]
    usage = raw.usage or {}
    assert message.usage.total_tokens == usage.get("total_tokens", 0)
    assert message.usage.output == usage.get("completion_tokens", usage.get("output_tokens", 0))
    assert message.usage.input == usage.get("prompt_tokens", usage.get("input_tokens", 0))
    details = usage.get("completion_tokens_details") or usage.get("output_tokens_details") or {}
    assert message.usage.reasoning == details.get("reasoning_tokens", 0)
    signatures = [
        b.signature or "" for b in message.content if isinstance(b, ThinkingContent) and b.signature
    ]
    assert [json.loads(signature)["encrypted_content"] for signature in signatures] == raw.encrypted
    if raw.error is not None:
        assert message.stop_reason == "error"
        assert message.error_message == raw.error["message"]
    else:
        reasons = {"tool_calls": "toolUse", "length": "length", "stop": "stop"}
        assert message.stop_reason == reasons.get(raw.finish or "", "toolUse" if raw.calls else "stop")
        assert message.service_stop_reason == raw.finish


def test_the_real_sessions_are_there() -> None:
    shared_path("streams")
    assert len(SESSIONS) == 9


@pytest.mark.parametrize("cut", CUTS)
@pytest.mark.parametrize("name", [*OWN, *SESSIONS])
async def test_a_session_is_what_its_bytes_say_however_they_are_cut(name: str, cut: str) -> None:
    body, api = _body(name), _api(name)
    with WireServer(Reply(body, cut=whole), Reply(body, cut=CUTS[cut])) as server:
        model = model_at(server, api)
        events = await run(PROVIDERS[api], model)
        again = await run(PROVIDERS[api], model)
    assert comparable(events) == comparable(again)
    read = read_chat if api == "openai-completions" else read_response
    _says(final(events), read(body))


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(name=st.sampled_from(sorted(OWN)), size=st.integers(1, 200))
async def test_any_size_of_pieces(name: str, size: int) -> None:
    with WireServer(Reply(OWN[name]), Reply(OWN[name], cut=pieces_of(size))) as server:
        model = model_at(server, _api(name))
        events = await run(PROVIDERS[_api(name)], model)
        assert comparable(events) == comparable(await run(PROVIDERS[_api(name)], model))
