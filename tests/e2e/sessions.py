"""Tool-loop sessions in the wire form of openai-completions: one of our own, and the real one beside us."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.support.shared import shared_path
from tests.support.wire_bytes import sse


@dataclass(frozen=True)
class LoopSession:
    """The user's prompt, the bodies the service answers with, and what each tool returns."""

    prompt: str
    responses: tuple[bytes, ...]
    tool_answers: dict[str, str]


def chunk(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
    return {
        "id": "chatcmpl-own",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "m",
        "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
    }


def tool_call_delta(index: int, id: str | None, name: str | None, arguments: str) -> dict[str, Any]:
    function = {"arguments": arguments} if name is None else {"name": name, "arguments": arguments}
    call: dict[str, Any] = {"index": index, "function": function}
    if id is not None:
        call |= {"id": id, "type": "function"}
    return call


def usage_chunk(prompt: int, completion: int) -> dict[str, Any]:
    usage = {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion}
    return {"id": "chatcmpl-own", "object": "chat.completion.chunk", "created": 1, "model": "m",
            "choices": [], "usage": usage}  # fmt: skip


def own_session() -> LoopSession:
    """Two parallel calls, then one more, then a text beyond ASCII."""
    first = sse(
        chunk({"role": "assistant", "content": None}),
        chunk({"tool_calls": [tool_call_delta(0, "call_a", "get_country", "")]}),
        chunk({"tool_calls": [tool_call_delta(0, None, None, "{}")]}),
        chunk({"tool_calls": [tool_call_delta(1, "call_b", "get_product", "")]}),
        chunk({"tool_calls": [tool_call_delta(1, None, None, '{"na')]}),
        chunk({"tool_calls": [tool_call_delta(1, None, None, 'me": "Ünï"}')]}),
        chunk({}, "tool_calls"),
        usage_chunk(20, 9),
        end="[DONE]",
    )
    second = sse(
        chunk({"role": "assistant", "content": "Let me "}),
        chunk({"content": "see 🌦"}),
        chunk({"tool_calls": [tool_call_delta(0, "call_c", "get_weather", '{"city": "Genève"}')]}),
        chunk({}, "tool_calls"),
        usage_chunk(41, 12),
        end="[DONE]",
    )
    third = sse(
        chunk({"role": "assistant", "content": ""}),
        *[chunk({"content": piece}) for piece in ("À ", "Genève", " il ", "pleut ☔", ".")],
        chunk({}, "stop"),
        usage_chunk(60, 7),
        end="[DONE]",
    )
    answers = {"get_country": "Suisse", "get_product": "Käse 🧀", "get_weather": "pluie"}
    return LoopSession("Le temps qu'il fait dans la capitale ?", (first, second, third), answers)


def shared_session() -> LoopSession:
    """The three-call agent run a real service answered; skips where it is missing."""
    folder = shared_path("streams/chat-agent-run")
    responses = tuple((folder / f"{index}.response.sse").read_bytes() for index in range(3))
    last = json.loads((folder / "2.request.json").read_text())
    names = {
        call["id"]: call["function"]["name"]
        for message in last["messages"]
        for call in message.get("tool_calls", [])
    }
    answers = {
        names[message["tool_call_id"]]: message["content"]
        for message in last["messages"]
        if message["role"] == "tool"
    }
    return LoopSession(last["messages"][0]["content"], responses, answers)


SESSIONS: dict[str, Callable[[], LoopSession]] = {"own": own_session, "shared": shared_session}
