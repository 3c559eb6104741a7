"""The name of a lane is written beside the request; a secret does not get in there either."""

from __future__ import annotations

from pathlib import Path

import pytest

from openprogram_core.errors import RecordingWriteError
from openprogram_core.providers import Context, StreamOptions, UserMessage
from openprogram_core.recordings import call_lane
from openprogram_core.testing import ScriptedProvider
from openprogram_record import RecordingProvider
from tests.redaction.support import BODY, MODEL

CONTEXT = Context(messages=[UserMessage(content="hi")])


@pytest.mark.parametrize("name", ["lane opaque-value-1", "ghp_" + BODY + "abcd", "%6Fpaque-value-1"])
async def test_a_lane_named_after_a_secret_is_refused_without_naming_it(tmp_path: Path, name: str) -> None:
    path = tmp_path / "a.jsonl"
    provider = RecordingProvider(ScriptedProvider(["hello"]), path)
    with call_lane(name), pytest.raises(RecordingWriteError, match="call_lane") as caught:
        async for _ in provider.stream(MODEL, CONTEXT, StreamOptions(api_key="opaque-value-1")):
            pass
    provider.close()
    assert name not in str(caught.value)
    assert name not in path.read_text()


async def test_other_lanes_are_written_as_they_are(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    provider = RecordingProvider(ScriptedProvider(["hello"]), path)
    with call_lane("password checker"):
        async for _ in provider.stream(MODEL, CONTEXT, StreamOptions(api_key="opaque-value-1")):
            pass
    provider.close()
    assert '"lane":"password checker"' in path.read_text()
