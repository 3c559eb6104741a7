"""The four wire APIs side by side: each with an answer that uses what only its own service understands."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from openprogram_core.providers import ApiProvider, Model
from tests.support.wire_bytes import sse
from tests.support.wire_server import WireServer
from tests.wire_anthropic import wire as claude
from tests.wire_google import wire as gemini
from tests.wire_openai import bodies as openai
from tests.wire_openai.models import PROVIDERS, model_at

SIGNATURE = "S1GN" + "x" * 40
HIDDEN = "H1DDEN" + "y" * 40
THOUGHT = "a secret plan"
SERVER_SIDE = "SERVERSIDE"
BOUND = (SIGNATURE, HIDDEN, THOUGHT, SERVER_SIDE)
"""What may go back to the model that said it and to nobody else."""

SAID = "Let me look. "
ARGUMENTS = {"city": "Zürich", "days": [1, 2]}
RESULTS = ("sunny <1>", "rain <2>")

Json = dict[str, Any]


@dataclass(frozen=True)
class Vendor:
    """A wire API.

    ``calling`` is an answer with thinking, text and two calls, ``talking`` one with text. ``bound`` are those
    of `BOUND` its service sends and wants back. ``read`` gives what a request says: texts in order, calls as
    (id, name, arguments), results as (id, text).
    """

    provider: ApiProvider
    model: Callable[[WireServer], Model]
    calling: bytes
    talking: bytes
    bound: tuple[str, ...]
    read: Callable[[Json], Said]


@dataclass
class Said:
    """What a request says, whatever its wire calls it."""

    texts: list[str]
    calls: list[tuple[str, str, Any]]
    results: list[tuple[str, str]]


def read_anthropic(body: Json) -> Said:
    said = Said([], [], [])
    for block in (block for message in body["messages"] for block in message["content"]):
        if block["type"] == "text":
            said.texts.append(block["text"])
        elif block["type"] == "tool_use":
            said.calls.append((block["id"], block["name"], block["input"]))
        elif block["type"] == "tool_result":
            said.results.append((block["tool_use_id"], "".join(part["text"] for part in block["content"])))
    return said


def read_google(body: Json) -> Said:
    said = Said([], [], [])
    for part in (part for content in body["contents"] for part in content["parts"]):
        if part.get("text") and not part.get("thought"):
            said.texts.append(part["text"])
        elif call := part.get("functionCall"):
            said.calls.append((call["id"], call["name"], call["args"]))
        elif result := part.get("functionResponse"):
            said.results.append((result["id"], "".join(result["response"].values())))
    return said


def text_in_parts(content: Any) -> str:
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content or [])


def read_chat(body: Json) -> Said:
    said = Said([], [], [])
    for message in body["messages"]:
        text = text_in_parts(message.get("content"))
        if message["role"] == "tool":
            said.results.append((message["tool_call_id"], text))
        elif text:
            said.texts.append(text)
        for call in message.get("tool_calls", []):
            arguments = json.loads(call["function"]["arguments"])
            said.calls.append((call["id"], call["function"]["name"], arguments))
    return said


def read_responses(body: Json) -> Said:
    said = Said([], [], [])
    for item in body["input"]:
        if item.get("type") == "function_call":
            said.calls.append((item["call_id"], item["name"], json.loads(item["arguments"])))
        elif item.get("type") == "function_call_output":
            said.results.append((item["call_id"], text_in_parts(item["output"])))
        elif "role" in item:
            said.texts.append(text_in_parts(item["content"]))
    return said


def as_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


VENDORS: dict[str, Vendor] = {
    "anthropic-messages": Vendor(
        provider=claude.PROVIDER,
        model=claude.claude,
        calling=sse(
            claude.begin(),
            *claude.block(0, {"type": "thinking", "thinking": THOUGHT, "signature": SIGNATURE}),
            *claude.block(1, {"type": "redacted_thinking", "data": HIDDEN}),
            *claude.block(
                2, {"type": "server_tool_use", "id": SERVER_SIDE, "name": "web_search", "input": {}}
            ),
            *claude.text(3, SAID),
            *claude.tool(4, as_json(ARGUMENTS), name="weather", call_id="toolu_1"),
            *claude.tool(5, name="news", call_id="toolu_2"),
            *claude.end("tool_use"),
            named=True,
        ),
        talking=sse(claude.begin(), *claude.text(0, "Done. "), *claude.end(), named=True),
        bound=BOUND,
        read=read_anthropic,
    ),
    "google-generative-ai": Vendor(
        provider=gemini.PROVIDER,
        model=gemini.gemini,
        calling=sse(
            gemini.chunk({"text": THOUGHT, "thought": True}, {"executableCode": {"code": SERVER_SIDE}}),
            gemini.chunk({"text": SAID}),
            gemini.chunk(gemini.call("weather", args=ARGUMENTS, signature=SIGNATURE), gemini.call("news")),
            gemini.stop(),
        ),
        talking=sse(gemini.chunk({"text": "Done. "}), gemini.stop()),
        bound=(SIGNATURE, THOUGHT, SERVER_SIDE),
        read=read_google,
    ),
    "openai-completions": Vendor(
        provider=PROVIDERS["openai-completions"],
        model=lambda server: model_at(server, "openai-completions"),
        calling=openai.chat(
            openai.chunk({"content": SAID}),
            openai.chunk(
                {
                    "tool_calls": [
                        openai.call_piece(0, as_json(ARGUMENTS), id="call_1", name="weather"),
                        openai.call_piece(1, "{}", id="call_2", name="news"),
                    ]
                }
            ),
            openai.chunk(finish="tool_calls"),
        ),
        talking=openai.chat_text("Done. "),
        bound=(),
        read=read_chat,
    ),
    "openai-responses": Vendor(
        provider=PROVIDERS["openai-responses"],
        model=lambda server: model_at(server, "openai-responses", reasoning=True),
        calling=openai.responses(
            openai.created(),
            openai.done(0, {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": HIDDEN}),
            openai.done(1, openai.message_item(SAID)),
            openai.done(2, openai.call_item(as_json(ARGUMENTS), name="weather")),
            openai.done(3, openai.call_item("{}", id="fc_2", call_id="call_2", name="news")),
            openai.ended(),
        ),
        talking=openai.response_text("Done. "),
        bound=(HIDDEN,),
        read=read_responses,
    ),
}
