"""Recorded with a key and replayed without it: what was removed is no difference, and all else is."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any, Literal
from urllib.parse import quote

import pytest

from openprogram_core.providers import (
    AssistantMessage,
    Context,
    Message,
    StreamOptions,
    TextContent,
    Tool,
    ToolCall,
    ToolResultMessage,
    UserMessage,
)
from openprogram_core.testing import ScriptedProvider
from openprogram_record import RecordingProvider
from openprogram_replay import ReplayMismatch, ReplayProvider
from tests.replay.sessions import MODEL

ORDERS: tuple[Literal["ordered", "any-order"], ...] = ("ordered", "any-order")
# Of no shape that a rule knows: it is removed for being this call's key.
KEY = "Ab3dEf6hIj9k" + "/mN0pQ"
OTHER_KEY = "Zy9xWv8uTs7r" + "-qP6oN"
SHAPED = "sk-" + "proj-" + "Ab3xY9kQ7mZ2wR5tL8vN4pS6"
PEM = "-----BEGIN PRIVATE KEY-----\n" + "MIIEvQIBADANBgkqhkiG9w0BAQ" * 3 + "\n-----END PRIVATE KEY-----"


def ask(text: str) -> Context:
    return Context(messages=[UserMessage(content=text)])


def argued(arguments: dict[str, Any]) -> Context:
    call = ToolCall(id="1", name="t", arguments=arguments)
    said = AssistantMessage(api=MODEL.api, provider=MODEL.provider, model=MODEL.id, content=[call])
    result = ToolResultMessage(tool_call_id="1", tool_name="t", content=[TextContent(text="ok")])
    return Context(messages=[UserMessage(content="x"), said, result])


def schema(properties: dict[str, Any]) -> Context:
    tool = Tool(name="t", parameters={"type": "object", "properties": properties})
    return Context(messages=[UserMessage(content="x")], tools=[tool])


async def record(
    path: Path, context: Context, key: str | None = None, reply: str = "fine", chunking: int = 5
) -> None:
    recorder = RecordingProvider(ScriptedProvider([reply], chunking=chunking), path)
    async for _ in recorder.stream(MODEL, context, StreamOptions(api_key=key)):
        pass
    recorder.close()


async def replayed(
    path: Path, context: Context, key: str | None, order: Literal["ordered", "any-order"]
) -> Message:
    provider = ReplayProvider(path, order=order)
    events = [event async for event in provider.stream(MODEL, context, StreamOptions(api_key=key))]
    provider.assert_consumed()
    provider.close()
    assert events[-1].type == "done"
    return events[-1].message


SPELLINGS = {
    "plain": KEY,
    "sentence": f"Is it {KEY}?",
    "often": f"{KEY}, {KEY}{KEY}\n{KEY}",
    "url": f"https://host.example/x?u={quote(KEY, safe='')}&v=1",
    "base64": base64.b64encode(f"user:{KEY}".encode()).decode(),
    "json": json.dumps({"command": f"run --with {KEY}"}),
    "field": f'{{"api_key": "{KEY}"}}',
    "bearer": f"curl -H 'Authorization: Bearer {KEY}'",
    "shaped": f"{SHAPED} and {KEY}",
    "literal": f"it is {'github_' + 'pat_11'}{SHAPED[8:]}_{SHAPED[8:] * 2}{SHAPED[8:19]}, keep it",
    "pem": f"{KEY}\n{PEM}\nend",
    "words": 'password="correct horse battery staple 77" ' + KEY,
}


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("chunking", [1, 2, 7, 1000])
@pytest.mark.parametrize("spelling", SPELLINGS)
async def test_the_key_in_prompt_reply_and_history_is_no_difference(
    tmp_path: Path, spelling: str, order: Literal["ordered", "any-order"], chunking: int
) -> None:
    text = SPELLINGS[spelling]
    await record(tmp_path / "one.jsonl", ask(text), KEY, text, chunking)
    for key in (None, OTHER_KEY, KEY):
        said = await replayed(tmp_path / "one.jsonl", ask(text), key, order)
        live = AssistantMessage(
            api=MODEL.api, provider=MODEL.provider, model=MODEL.id, content=[TextContent(text=text)]
        )
        following = [*ask(text).messages, live, UserMessage(content="go on")]
        path = tmp_path / f"two-{key is None}-{key == KEY}.jsonl"
        await record(path, Context(messages=following), KEY)
        # The live reply at recording, the recorded one at replay.
        following[1] = live.model_copy(update={"content": getattr(said, "content", None)})
        await replayed(path, Context(messages=following), key, order)


CHANGES: dict[str, tuple[Context, Context]] = {
    "after a secret": (ask(f"key: {SHAPED}"), ask(f"key: {SHAPED}\nNow delete all files")),
    "before a secret": (ask(f"{SHAPED} is the key"), ask(f"Ignore all. {SHAPED} is the key")),
    "between secrets": (ask(f"a {SHAPED} b"), ask(f"a {SHAPED} b and more {SHAPED} b")),
    "another text": (ask(SHAPED), ask("quite something else")),
    "after the key": (ask(f"key: {KEY}"), ask(f"key: {KEY}\nNow delete all files")),
    "argument": (argued({"timestamp": 1}), argued({"timestamp": 999})),
    "argument gone": (argued({"timestamp": 1}), argued({})),
    "secret argument gone": (argued({"password": "aaaa"}), argued({})),
    "secret argument more": (argued({}), argued({"password": "aaaa"})),
    "schema": (
        schema({"timestamp": {"type": "string"}}),
        schema({"timestamp": {"type": "integer", "description": "when to delete"}}),
    ),
    "schema gone": (schema({"timestamp": {"type": "string"}}), schema({})),
}


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("name", CHANGES)
async def test_a_change_is_one_whatever_stands_beside_it(
    tmp_path: Path, name: str, order: Literal["ordered", "any-order"]
) -> None:
    recorded, incoming = CHANGES[name]
    await record(tmp_path / "run.jsonl", recorded, KEY)
    for key in (None, OTHER_KEY, KEY):
        with pytest.raises(ReplayMismatch, match="replay mismatch at call 0, field context"):
            await replayed(tmp_path / "run.jsonl", incoming, key, order)


async def test_the_report_says_why_a_timestamp_was_not_skipped(tmp_path: Path) -> None:
    await record(tmp_path / "run.jsonl", argued({"timestamp": 1}))
    with pytest.raises(ReplayMismatch) as caught:
        await replayed(tmp_path / "run.jsonl", argued({"timestamp": 2}), None, "ordered")
    assert (
        "timestamp (openprogram_field_skips) is not skipped at "
        "context.messages[1].content[0].arguments.timestamp" in caught.value.report()
    )
