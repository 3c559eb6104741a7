"""Figures of redaction, as ratios within one run: ``python -m tests.benchmarks.bench_redaction``."""

from __future__ import annotations

import json
import os
import random
import re
import time
from collections.abc import Callable, Sequence
from typing import Any

from openprogram_core._plugins import Contribution, PluginSet
from openprogram_core.providers import (
    AssistantMessage,
    Context,
    Model,
    StreamAssembler,
    StreamOptions,
    TextContent,
    Tool,
    ToolCall,
    ToolResultMessage,
    UserMessage,
)
from openprogram_core.redaction import FieldRule, Redactor, ValueRule
from openprogram_core.redaction.edits import apply_edits, merge_edits
from openprogram_core.redaction.scanner import Scanner

_WORDS = (
    "the", "of", "and", "to", "in", "is", "you", "that", "it", "he",
    "was", "for", "on", "are", "as", "with", "his", "they", "at", "be",
    "this", "have", "from", "or", "one", "had", "by", "word", "but", "not",
    "what", "all", "were", "we", "when", "your", "can", "said", "there", "use",
    "an", "each", "which", "she", "do", "how", "their", "if", "will", "up",
    "other", "about", "out", "many", "then", "them", "these", "so", "some", "her",
    "would", "make", "like", "him", "into", "time", "has", "look", "two", "more",
    "write", "go", "see", "number", "no", "way", "could", "people", "my", "than",
    "first", "water", "been", "call", "who", "oil", "its", "now", "find", "long",
    "down", "day", "did", "get", "come", "made", "may", "part", "function", "return",
    "value", "string", "request", "response", "message", "model", "agent", "tool", "result", "parse",
    "error", "file", "line", "test", "user", "assistant",
)  # fmt: skip
_ALPHABET = "abcdefghijklmnopqrstuvwxyz0123456789"


def best(function: Callable[[], object], repeat: int = 7) -> float:
    """Return the shortest of several runs, in seconds."""
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return min(times)


def prompts(size: int, rng: random.Random) -> str:
    """Return clean text like prompts: words, punctuation, a line break here and there."""
    pieces: list[str] = []
    length = 0
    while length < size:
        word = rng.choice(_WORDS) + rng.choice(("", "", "", "", ",", ".", ":", "\n"))
        pieces.append(word)
        length += len(word) + 1
    return " ".join(pieces)[:size]


def synthetic_rules(count: int, rng: random.Random) -> list[ValueRule]:
    """Return rules of the kind vendors have: an own prefix and a run of letters and digits."""
    rules = []
    for number in range(count):
        prefix = "".join(rng.choice(_ALPHABET) for _ in range(rng.randint(3, 6))) + "_"
        rules.append(
            ValueRule(
                name=f"rule-{number}",
                literals=(prefix,),
                pattern=rf"\b{prefix}[a-z0-9]{{20,40}}\b",
                matches=(prefix + "0123456789abcdefghij",),
            )
        )
    return rules


def _laden(clean: str, rules: Sequence[ValueRule], rng: random.Random) -> str:
    step = 1000
    pieces = []
    for start in range(0, len(clean), step):
        pieces += [clean[start : start + step], " ", rng.choice(rules).matches[0], " "]
    return "".join(pieces)


def _redact(scanner: Scanner, text: str) -> str:
    data = text.encode("utf-8", "surrogatepass")
    hits = scanner.hits(data)
    return apply_edits(text, merge_edits(scanner.edits(text, data, hits), text)) if hits else text


def bench_rules() -> None:
    """MB/s by number of rules, against one literal, ``re.sub`` in sequence and detect-secrets."""
    import ahocorasick_rs

    rng = random.Random(7)
    clean = prompts(200_000, rng)
    data = clean.encode()
    megabytes = len(data) / 1e6
    single = ahocorasick_rs.BytesAhoCorasick([b"sk-proj-"], implementation=ahocorasick_rs.Implementation.DFA)
    floor = best(lambda: single.find_matches_as_indexes(data))
    print(f"one literal, one scan           {megabytes / floor:8.0f} MB/s")
    every = synthetic_rules(1000, rng)
    ten = 0.0
    for count in (10, 50, 250, 1000):
        rules = every[:count]
        scanner = Scanner([Contribution("bench", rule) for rule in rules])
        laden = _laden(clean, rules, rng)
        clean_s = best(lambda scanner=scanner: _redact(scanner, clean))  # type: ignore[misc]  # mypy cannot type it
        laden_s = best(lambda scanner=scanner, laden=laden: _redact(scanner, laden), 3)  # type: ignore[misc]  # same
        patterns = [re.compile(rule.pattern) for rule in rules]

        def in_sequence(patterns: list[re.Pattern[str]] = patterns) -> None:
            text = clean
            for pattern in patterns:
                text = pattern.sub("[secret removed]", text)

        sequence_s = best(in_sequence, 1)
        ten = ten or clean_s
        print(
            f"{count:5} rules: clean {megabytes / clean_s:6.0f} MB/s ({clean_s / floor:4.1f} x one literal, "
            f"{clean_s / ten:4.2f} x ten rules), laden {len(laden) / 1e6 / laden_s:6.1f} MB/s, "
            f"re.sub {megabytes / sequence_s:7.3f} MB/s ({sequence_s / clean_s:7.0f} x ours)"
        )
    scanner = built_in().scanner
    ours = best(lambda: _redact(scanner, clean))
    print(
        f"{len(scanner.sources)} built-in rules: clean {megabytes / ours:6.0f} MB/s "
        f"({ours / ten:4.2f} x ten rules)"
    )
    bench_detect_secrets(clean[:50_000], ours / megabytes)


def bench_detect_secrets(text: str, ours_per_megabyte: float) -> None:
    """Say how many times slower detect-secrets reads the same text, where it is installed."""
    try:
        from detect_secrets.core.scan import scan_line
        from detect_secrets.settings import default_settings
    except ImportError:
        print("detect-secrets is not installed: not compared")
        return

    def scan() -> None:
        with default_settings():
            for line in text.splitlines():
                list(scan_line(line))

    theirs = best(scan, 1) / (len(text) / 1e6)
    print(f"detect-secrets: {1 / theirs:6.2f} MB/s ({theirs / ours_per_megabyte:6.0f} x ours)")


def built_in() -> Redactor:
    """Return a redactor with the installed plugins' rules."""
    return Redactor.from_plugins(PluginSet.load())


def _plain_walk(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain_walk(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain_walk(item) for item in value]
    return value


def bench_request() -> None:
    """Milliseconds for a request of 2,200 strings that was never seen, against a walk that rebuilds it."""
    rng = random.Random(11)
    redactor = built_in()
    tree = {
        "items": [
            {"role": "user", "text": prompts(90, rng), "id": f"msg_{index}", "kind": "note"}
            for index in range(550)
        ]
    }
    walk = best(lambda: _plain_walk(tree))
    dump = best(lambda: json.dumps(tree))
    ours = best(lambda: redactor.remove_secret_values(tree))
    print(
        f"2,200 strings: {ours * 1e3:5.2f} ms ({ours / walk:4.2f} x walk and rebuild, "
        f"{ours / dump:4.2f} x json.dumps)"
    )


def _stream_events(count: int) -> list[Any]:
    rng = random.Random(3)
    assembler = StreamAssembler(Model(id="m", api="bench", provider="bench"))
    events = list(assembler.start())
    for _ in range(count):
        events += assembler.text(0, " " + rng.choice(_WORDS))
    return events + assembler.done("stop")


def bench_stream() -> None:
    """Cost of one event of a 10,000-event stream: dumped alone, and redacted and dumped."""
    from openprogram_core._json import dump_model

    redactor = built_in()
    events = _stream_events(10_000)

    def without() -> None:
        for event in events:
            dump_model(event)

    def with_redaction() -> None:
        call = redactor.open_call(["sk-" + "proj-0123456789abcdef"])
        for event in events:
            for payload in call.event(event):
                dump_model(payload)  # type: ignore[arg-type]  # the stream is clean: every payload is an event

    rows = [
        {"type": "event", "call_index": 0, "event_index": index, "event": event.model_dump(mode="json")}
        for index, event in enumerate(events)
    ]
    sink = os.open(os.devnull, os.O_WRONLY)

    def floor() -> None:
        for row in rows:
            os.write(sink, json.dumps(row).encode())

    bare, redacted, least = best(without, 5), best(with_redaction, 5), best(floor, 5)
    os.close(sink)
    print(
        f"10,000 events: dumped {bare / 1e4 * 1e6:5.2f} us each, redacted and dumped "
        f"{redacted / 1e4 * 1e6:5.2f} us each ({redacted / bare:4.2f} x); redaction alone is "
        f"{(redacted - bare) / least:4.2f} x of json.dumps and os.write of the same rows"
    )


def _loop(turns: int, size: int) -> Context:
    rng = random.Random(5)
    messages: list[Any] = [UserMessage(content=prompts(500, rng))]
    each = size // turns
    for turn in range(turns):
        call = ToolCall(
            id=f"call_{turn}", name="read", arguments={"path": f"src/file_{turn}.py", "limit": 40}
        )
        messages.append(
            AssistantMessage(
                api="bench",
                provider="bench",
                model="m",
                content=[TextContent(text=prompts(each // 4, rng)), call],
            )
        )
        messages.append(
            ToolResultMessage(
                tool_call_id=f"call_{turn}",
                tool_name="read",
                content=[TextContent(text=prompts(each * 3 // 4, rng))],
            )
        )
    tool = Tool(name="read", parameters={"type": "object", "properties": {"path": {"type": "string"}}})
    return Context(system_prompt=prompts(2000, rng), messages=messages, tools=[tool])


def bench_loop() -> None:
    """The 100th turn of a loop with 400 KB of history, recorded and compared, against ``json.dumps``."""
    redactor = built_in()
    model = Model(id="m", api="bench", provider="bench")
    options = StreamOptions(api_key="sk-" + "proj-0123456789abcdefghij")
    context = _loop(99, 400_000)
    earlier = context.model_copy(update={"messages": context.messages[:-2]})
    redactor.open_call().request(model, earlier, options).tree()
    tree = {
        "model": model.model_dump(mode="json"),
        "context": context.model_dump(mode="json"),
        "options": options.model_dump(mode="json"),
    }
    floor = best(lambda: json.dumps(tree))
    start = time.perf_counter()
    redactor.open_call().request(model, context, options).dump()
    first = time.perf_counter() - start
    start = time.perf_counter()
    redactor.open_call().request(model, context, options).tree()
    compared_first = time.perf_counter() - start
    recorded = best(lambda: redactor.open_call().request(model, context, options).dump())
    compared = best(lambda: redactor.open_call().request(model, context, options).tree())
    print(
        f"100th turn, {len(json.dumps(tree)) / 1e3:.0f} KB: json.dumps {floor * 1e3:5.2f} ms, "
        f"recorded {first * 1e3:5.2f} ms the first time ({first / floor:4.2f} x), "
        f"again {recorded / floor:4.2f} x; "
        f"as a tree {compared_first / floor:4.2f} x, again {compared / floor:4.2f} x"
    )


def bench_field_rules() -> None:
    """A thousand field rules against ten, on names seen before and on new ones."""
    text = "\n".join(f"setting_{index} = value {index}" for index in range(5000))
    for count in (10, 1000):
        rules = [
            FieldRule(
                name=f"field-{index}", endings=(f"vault{index}_pin",), matches=(f"my_vault{index}_pin",)
            )
            for index in range(count)
        ]
        scanner = Scanner([Contribution("bench", rule) for rule in rules])
        names = [f"some_name_{index}" for index in range(2000)]
        start = time.perf_counter()
        for name in names:
            scanner.field_source(name)
        fresh = (time.perf_counter() - start) / len(names)
        seconds = best(lambda scanner=scanner: _redact(scanner, text))  # type: ignore[misc]  # mypy cannot type it
        print(
            f"{count:5} field rules: {len(text) / 1e6 / seconds:6.0f} MB/s, a new name {fresh * 1e6:6.2f} us"
        )


def main() -> None:
    """Run all of them."""
    bench_rules()
    bench_field_rules()
    bench_request()
    bench_stream()
    bench_loop()


if __name__ == "__main__":
    main()
