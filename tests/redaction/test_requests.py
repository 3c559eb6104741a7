"""Whole requests: dump and tree agree, the history is redacted once, threads may share a redactor."""

from __future__ import annotations

import json
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from openprogram_core.providers import (
    AssistantMessage,
    Context,
    Model,
    SimpleStreamOptions,
    StreamOptions,
    TextContent,
    Tool,
    UserMessage,
)
from openprogram_core.redaction import PLACEHOLDER, Redactor
from openprogram_core.redaction.memo import Memo
from tests.redaction.support import BODY, MODEL, as_text, built_in

KEY = "sk-" + "proj-" + BODY


def context_of(*texts: str) -> Context:
    return Context(
        system_prompt="be brief",
        messages=[UserMessage(content=text) for text in texts],
        tools=[Tool(name="read", description="reads")],
    )


def test_dump_and_tree_say_the_same_and_are_the_models_own_dump_when_clean() -> None:
    context, options = (
        context_of("é \ud800 \u2028 \x00", "plain"),
        SimpleStreamOptions(api_key=KEY, top_p=float("nan")),
    )
    request = built_in().open_call().request(MODEL, context, options)
    assert json.dumps(json.loads(request.dump())) == json.dumps(request.tree())
    tree = request.tree()
    assert tree["model"] == MODEL.model_dump(mode="json")
    assert tree["context"] == context.model_dump(mode="json")
    expected = options.model_dump(mode="json") | {"api_key": PLACEHOLDER}
    assert json.dumps(tree["options"]) == json.dumps(expected)
    assert list(tree) == ["model", "context", "options"]


def test_without_options_the_options_are_empty() -> None:
    request = built_in().open_call().request(MODEL, context_of("x"), None)
    assert request.tree()["options"] == {}


def test_a_request_without_a_key_is_recorded_like_one_with_a_key() -> None:
    def dump(options: StreamOptions) -> bytes:
        return built_in().open_call().request(MODEL, context_of("x"), options).dump()

    assert (
        dump(StreamOptions())
        == dump(StreamOptions(api_key=KEY))
        == dump(StreamOptions(api_key="another-key-1"))
    )


def test_the_models_headers_and_address_are_redacted() -> None:
    model = Model(
        id="m",
        api="a",
        provider="p",
        base_url="https://user:pw-1234@example.org/v1?api_key=zz9",
        headers={"X-Api-Key": "zzz", "accept": "json"},
    )
    tree = built_in().open_call().request(model, context_of("x"), None).tree()
    assert tree["model"]["headers"] == {"X-Api-Key": PLACEHOLDER, "accept": "json"}
    assert tree["model"]["base_url"] == f"https://user:{PLACEHOLDER}@example.org/v1?api_key={PLACEHOLDER}"
    assert tree["model"]["max_tokens"] is None


def test_a_value_learned_late_is_removed_from_the_history_too() -> None:
    redactor = built_in()
    early = (
        redactor.open_call().request(MODEL, context_of("the word is late-value-9"), StreamOptions()).dump()
    )
    options = StreamOptions(extra_body={"password": "late-value-9"})
    late = redactor.open_call().request(MODEL, context_of("the word is late-value-9"), options).dump()
    assert b"late-value-9" in early
    assert b"late-value-9" not in late


def test_a_message_the_history_repeats_is_redacted_once() -> None:
    redactor = built_in()
    context = context_of(f"first {KEY}", "second")
    first = redactor.open_call().request(MODEL, context, StreamOptions(api_key=KEY)).tree()
    again = context_of(f"first {KEY}", "second", "third")
    second = redactor.open_call().request(MODEL, again, StreamOptions(api_key=KEY)).tree()
    for index in (0, 1):
        assert second["context"]["messages"][index] is first["context"]["messages"][index]


def test_messages_that_are_changed_in_place_are_seen_anew() -> None:
    message = UserMessage(content="fine")
    context = Context(messages=[message])
    redactor = built_in()
    redactor.open_call().request(MODEL, context, None)
    message.content = f"now {KEY}"
    tree = redactor.open_call().request(MODEL, context, None).tree()
    assert tree["context"]["messages"][0]["content"] == f"now {PLACEHOLDER}"


def test_threads_share_a_redactor() -> None:
    redactor = built_in()
    start = threading.Barrier(8)

    def work(number: int) -> None:
        start.wait()
        for turn in range(20):
            known = f"value-of-{number:04}"
            context = context_of(*(f"{index} {known} {KEY}" for index in range(turn)))
            request = redactor.open_call([known]).request(MODEL, context, StreamOptions(api_key=KEY))
            assert known not in as_text(request.tree())
            assert BODY.encode() not in request.dump()

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(8)))


def test_the_memory_of_parts_is_bounded() -> None:
    memo: Memo[Any] = Memo(100)
    for number in range(1000):
        memo.put(number, number, 30)
    assert [number for number in range(1000) if memo.get(number) is not None] == [997, 998, 999]
    memo.put("large", 1, 101)
    assert memo.get("large") is None


def test_the_header_names_plugins_and_rules() -> None:
    header = built_in().header()
    assert set(header) == {"plugins", "rules"}
    assert list(header["plugins"]) == ["openprogram_redaction"]
    assert len(header["rules"]) == 16


def test_explain_names_rule_and_plugin_and_never_the_value() -> None:
    value = {"list": [f"see {KEY}"], "password": "hunter2"}
    found = built_in().explain(value)
    assert [(one.field_path, one.start, one.end, one.kind, one.rule) for one in found] == [
        ("list[0]", 4, 4 + len(KEY), "shape", "openai-key"),
        ("password", 0, 7, "field", "password"),
    ]
    assert {one.plugin for one in found} == {"openprogram_redaction"}
    assert BODY not in repr(found)


def test_replies_that_were_redacted_are_redacted_alike_in_later_histories() -> None:
    # The agent under replay sees the placeholder and sends it back; recorded was the same text, redacted.
    redactor: Redactor = built_in()

    def history(reply: str) -> Any:
        message = AssistantMessage(api="a", provider="p", model="m", content=[TextContent(text=reply)])
        return redactor.open_call().request(MODEL, Context(messages=[message]), None).tree()

    assert history(f"use {KEY} now") == history(f"use {PLACEHOLDER} now")
