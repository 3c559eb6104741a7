from __future__ import annotations

from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest

from openprogram_core.providers import ApiProvider, Context, TextDeltaEvent
from openprogram_core.recordings import read_recording_file
from openprogram_core.testing import scripted_model
from openprogram_record import RecordingProvider, RecordingSink, RecordingWriteError


class Yields(ApiProvider):
    requires_credentials = False

    def __init__(self, thing: Any) -> None:
        self._thing = thing

    async def stream(self, *arguments: Any) -> AsyncGenerator[Any, None]:
        yield self._thing


@pytest.mark.parametrize(
    ("thing", "kind"),
    [
        ({"type": "text_delta"}, "dict"),
        (None, "NoneType"),
        ("text", "str"),
        (TextDeltaEvent.model_construct(content_index=0, delta=7), "TextDeltaEvent"),  # type: ignore[arg-type]  # wrong on purpose
    ],
)
async def test_what_is_no_event_fails_the_call_and_is_named(thing: Any, kind: str, tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    with RecordingSink(path) as sink:
        provider = RecordingProvider(Yields(thing), sink)
        with pytest.raises(RecordingWriteError, match=f"yielded a {kind} that cannot be written") as caught:
            _ = [event async for event in provider.stream(scripted_model(), Context())]
        assert caught.value.call_index == 0
    with read_recording_file(path) as recording:
        assert [(call.outcome, call.event_count) for call in recording.calls] == [("error", 0)]
