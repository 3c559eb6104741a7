from __future__ import annotations

import copy
import json
from typing import Any, cast

from hypothesis import given, settings
from hypothesis import strategies as st

from openprogram_core import PluginSet, hookimpl
from openprogram_core.comparison import ComparisonPolicy, FieldVerdict, find_first_difference
from openprogram_core.recordings import RecordedCall
from openprogram_replay.checking import RequestChecker

TEXTS = st.sampled_from(["", "a", "b", '"messages":[', "]", "é\ud800", "x" * 50])
MESSAGES = st.fixed_dictionaries(
    {"role": st.just("user"), "content": TEXTS, "timestamp": st.integers(0, 2)},
    optional={"id": st.integers(0, 12)},
)
REQUESTS = st.fixed_dictionaries(
    {
        "model": st.fixed_dictionaries({"id": TEXTS, "compat": st.fixed_dictionaries({"model": TEXTS})}),
        "context": st.fixed_dictionaries(
            {
                "system_prompt": st.none() | TEXTS,
                "messages": st.lists(MESSAGES, max_size=4),
                "tools": st.lists(st.fixed_dictionaries({"name": TEXTS}), max_size=2),
            }
        ),
        "options": st.just({}) | st.fixed_dictionaries({"seed": st.sampled_from([1, 12, 1.0, None])}),
    }
)


class WrittenCall:
    """A recorded call whose line is as the recorder writes it, or laid out otherwise."""

    def __init__(self, request: dict[str, Any], spaced: bool) -> None:
        self._request = request
        separators = (", ", ": ") if spaced else (",", ":")
        row = {"type": "request", "call_index": 0, "lane": '"model":', **request}
        self._line = json.dumps(row, separators=separators).encode()

    def request_line(self) -> bytes:
        return self._line

    def request(self) -> dict[str, Any]:
        return copy.deepcopy(self._request)


class SkipIds:
    """Takes part only from the top down, as hooks do."""

    @hookimpl
    def compare_field(self, field_path: str, recorded: Any, incoming: Any) -> FieldVerdict | None:
        if field_path.endswith(".id"):
            return FieldVerdict.SKIP
        if field_path == "context.tools" and isinstance(recorded, list):
            return FieldVerdict.DIFFERENT
        return None


@given(st.lists(st.tuples(REQUESTS, REQUESTS, st.booleans(), st.booleans()), max_size=6), st.booleans())
@settings(deadline=None, max_examples=200)
def test_the_same_answer_as_comparing_the_whole(
    rounds: list[tuple[dict[str, Any], dict[str, Any], bool, bool]], with_hooks: bool
) -> None:
    plugins = PluginSet((), {}).with_plugins([SkipIds()] if with_hooks else [])
    policy = ComparisonPolicy.from_plugins(plugins, skip=["timestamp", "context.messages[1].content"])
    checker = RequestChecker(policy)
    before: dict[str, Any] | None = None
    for recorded, other, equal, spaced in rounds:
        incoming = copy.deepcopy(recorded) if equal else other
        if before is not None:
            # As a redactor's memory does: the same part is the same object.
            for index, message in enumerate(incoming["context"]["messages"]):
                earlier = before["context"]["messages"][index : index + 1]
                if earlier == [message]:
                    incoming["context"]["messages"][index] = earlier[0]
        before = incoming
        call = WrittenCall(recorded, spaced)
        expected = find_first_difference(recorded, incoming, policy=policy)
        assert checker.difference(cast(RecordedCall, call), incoming) == expected
