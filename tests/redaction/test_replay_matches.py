"""A recording made with one key is replayed with another, or none, wherever the key's own text stands."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from pathlib import Path

import pytest

from openprogram_core.providers import (
    ApiProvider,
    AssistantMessage,
    AssistantMessageEvent,
    Context,
    DoneEvent,
    Message,
    Model,
    StreamOptions,
    UserMessage,
)
from openprogram_record import RecordingProvider
from openprogram_replay import ReplayProvider
from tests.redaction.support import BODY, MODEL, stream_events

SHAPED = "sk-" + "proj-" + BODY
ODD = "opaque/Value=77+more"
CUT_IN_THEIR_LITERAL = (
    SHAPED,
    "github_pat_" + BODY + BODY,
    "AKIA" + "A2B3C4D5E6F7G2H3",
    "eyJ" + BODY + ".eyJ" + BODY,
    ODD,
)


class Parrot(ApiProvider):
    """Says the last message back, or what it is told to say, in small pieces."""

    def __init__(self, size: int = 4, says: str = "") -> None:
        self.size = size
        self.says = says

    async def stream(
        self, model: Model, context: Context, options: StreamOptions | None = None
    ) -> AsyncGenerator[AssistantMessageEvent, None]:
        last = context.messages[-1]
        text = last.content if isinstance(last, UserMessage) and isinstance(last.content, str) else ""
        said = self.says or f"You said: {text} Anything else?"
        pieces = [said[start : start + self.size] for start in range(0, len(said), self.size)]
        for event in stream_events(pieces):
            yield event


async def converse(provider: ApiProvider, prompt: str, key: str | None) -> str:
    """Two turns of an agent whose history carries what was said."""
    history: list[Message] = []
    answer = AssistantMessage(api="fake-chat", provider="fake", model="m")
    for text in (prompt, "And again?"):
        history.append(UserMessage(content=text))
        context = Context(messages=history)
        async with aclosing(provider.stream(MODEL, context, StreamOptions(api_key=key))) as events:
            async for event in events:
                if isinstance(event, DoneEvent):
                    answer = event.message
        history.append(answer)
    return "".join(getattr(content, "text", "") for content in answer.content)


@pytest.mark.parametrize("key", [SHAPED, ODD])
@pytest.mark.parametrize("live_key", ["the same", "another-key-12345", None])
async def test_the_recording_matches_and_holds_no_part_of_the_key(
    key: str, live_key: str | None, tmp_path: Path
) -> None:
    path = tmp_path / "a.jsonl"
    prompt = f"my key is {key} and the weather is fine."
    recorder = RecordingProvider(Parrot(), path)
    live = await converse(recorder, prompt, key)
    recorder.close()
    assert "And again?" in live
    file = path.read_text("utf-8")
    for piece in (key, key[-12:], key[8:16]):
        assert piece not in file
    replay = ReplayProvider(path)
    assert await converse(replay, prompt, key if live_key == "the same" else live_key) == live
    replay.assert_consumed()


@pytest.mark.parametrize("size", [1, 2, 3, 5, 7, 11])
@pytest.mark.parametrize("secret", CUT_IN_THEIR_LITERAL, ids=lambda text: text[:6])
async def test_a_reply_cut_anywhere_reads_alike_in_the_history(
    secret: str, size: int, tmp_path: Path
) -> None:
    # The stream may have written the beginning of a literal; the recorded history was redacted whole.
    path = tmp_path / "a.jsonl"
    recorder = RecordingProvider(Parrot(size, f"The key is {secret}, so."), path)
    await converse(recorder, "Say it.", ODD)
    recorder.close()
    replay = ReplayProvider(path)
    await converse(replay, "Say it.", None)
    replay.assert_consumed()
