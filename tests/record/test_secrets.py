"""A key given in any way is in no byte of the file, and the consumer sees everything as it was."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

import openprogram_core
from openprogram_core import PluginSet
from openprogram_core.errors import OpenProgramError, ProviderError
from openprogram_core.providers import (
    AssistantMessageEvent,
    Context,
    Model,
    StreamOptions,
    TextContent,
    TextDeltaEvent,
    TextEndEvent,
    TextStartEvent,
)
from openprogram_core.recordings import read_recording_file
from openprogram_record import RecordingProvider, RecordingSink
from tests.record.recorded import DONE, MODEL, START, FunctionProvider, Stream, asking, drain

KEYS = {
    "option": "sk-" + "proj-" + "Aa1Bb2Cc3Dd4Ee5Ff6Gg7Hh8",
    "header": "hdr" + "Zz9Yy8Xx7Ww6Vv5Uu4",
    "query": "qry" + "Mm1Nn2Oo3Pp4Qq5",
    "prompt": "sk-" + "ant-api03-" + "Rr1Ss2Tt3Uu4Vv5Ww6Xx7",
    "environment": "env" + "Kk1Ll2Mm3Nn4Oo5Pp6",
}


def _answer(text: str, error: Exception | None = None) -> FunctionProvider:
    async def source() -> Stream:
        yield START
        yield TextStartEvent(content_index=0)
        for letter in text:
            yield TextDeltaEvent(content_index=0, delta=letter)
        if error is not None:
            raise error
        yield TextEndEvent(content_index=0, content=TextContent(text=text))
        yield DONE

    return FunctionProvider(source)


async def test_no_key_is_in_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_API_KEY", KEYS["environment"])
    model = MODEL.model_copy(
        update={
            "base_url": f"https://host.example/v1?api_key={KEYS['query']}&page=2",
            "headers": {"X-Request-Source": "tests"},
        }
    )
    options = StreamOptions(
        api_key=KEYS["option"], headers={"Authorization": f"Bearer {KEYS['header']}"}, temperature=0.5
    )
    context = asking(f"my key is {KEYS['prompt']}, and max_tokens is 10")
    path = tmp_path / "a.jsonl"
    echoed = [KEYS["option"], KEYS["header"], KEYS["prompt"], KEYS["environment"]]
    answer = "You sent " + ", ".join(echoed) + ". Goodbye."
    with RecordingSink(path) as sink:
        live = await drain(RecordingProvider(_answer(answer), sink).stream(model, context, options))
        failing = RecordingProvider(
            _answer("", ProviderError("auth", f"bad key {KEYS['option']}, {KEYS['environment']}")), sink
        )
        with pytest.raises(ProviderError, match=KEYS["option"]):
            await drain(failing.stream(model, context, options))
    assert "".join(getattr(event, "delta", "") for event in live) == answer
    content = path.read_text()
    for key in KEYS.values():
        assert key not in content
        assert key[:12] not in content
        assert key[-8:] not in content
    with read_recording_file(path) as recording:
        request = recording.calls[0].request()
        assert request["options"]["temperature"] == 0.5
        assert request["model"]["headers"] == {"X-Request-Source": "tests"}
        assert "max_tokens is 10" in request["context"]["messages"][0]["content"]
        assert recording.calls[0].outcome == "complete"
        recorded = "".join(getattr(event, "delta", "") for event in recording.calls[0].events())
        assert recorded.startswith("You sent ")
        assert recorded.endswith(". Goodbye.")
        error = recording.calls[1].error
        assert error is not None
        assert error["kind"] == "auth"


class _Staff:
    """Redacts what no pattern can describe, and fails on demand."""

    failing = False

    @openprogram_core.hookimpl
    def redact_value(self, value: str) -> str | None:
        if self.failing and "boom" in value:
            raise RuntimeError(value)
        return value.replace("E-1234", "[secret removed]") if "E-1234" in value else None


async def test_a_plugin_given_by_hand_counts(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    with RecordingSink(path, plugins=[_Staff()]) as sink:
        await drain(RecordingProvider(_answer("ask E-1234 now"), sink).stream(MODEL, asking("I am E-1234")))
    assert "E-1234" not in path.read_text()
    with read_recording_file(path) as recording:
        assert recording.calls[0].outcome == "complete"


async def test_a_rule_that_raises_fails_the_call_and_says_nothing_of_the_value(tmp_path: Path) -> None:
    staff = _Staff()
    path = tmp_path / "a.jsonl"
    closed: list[bool] = []

    class Closing(FunctionProvider):
        def stream(
            self, model: Model, context: Context, options: StreamOptions | None = None
        ) -> AsyncGenerator[AssistantMessageEvent, None]:
            return self._closing()

        async def _closing(self) -> Stream:
            try:
                async for event in self._function():
                    yield event
            finally:
                closed.append(True)

    with RecordingSink(path, plugins=[staff]) as sink:
        provider = RecordingProvider(Closing(_answer("boom")._function), sink)
        await drain(provider.stream(MODEL, asking("fine")))
        staff.failing = True
        with pytest.raises(OpenProgramError) as raised:
            await drain(provider.stream(MODEL, asking("still fine")))
        assert "boom" not in str(raised.value)
        with pytest.raises(OpenProgramError):
            await drain(provider.stream(MODEL, asking("boom in the request")))
        staff.failing = False
        await drain(provider.stream(MODEL, asking("fine again")))
    # The request that could not be redacted reached neither the file nor the provider.
    assert len(closed) == 3
    with read_recording_file(path) as recording:
        assert [call.outcome for call in recording.calls] == ["complete", "error", "complete"]


def test_without_the_redaction_plugin_nothing_is_recorded(tmp_path: Path) -> None:
    plugins = PluginSet.load(disabled=["openprogram_redaction"])
    with pytest.raises(OpenProgramError, match="openprogram_redaction"):
        RecordingSink(tmp_path / "a.jsonl", plugins=plugins)
    with pytest.raises(OpenProgramError, match="openprogram_redaction"):
        RecordingProvider(_answer("x"), tmp_path / "a.jsonl", plugins=plugins)
    assert list(tmp_path.iterdir()) == []
