from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from openprogram_core.cli import main
from openprogram_core.providers import AssistantMessageEvent, StreamOptions, ToolCall, UserMessage
from tests.replay.sessions import Call, agent_run, ask, say, use_tools, write_recording


def diff(*arguments: object) -> int:
    return main(["recordings", "diff", *map(str, arguments)])


def test_equal_recordings_exit_0(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    calls = agent_run()
    a = write_recording(tmp_path / "a.jsonl", calls)
    for call in calls:
        call.context.messages[0].timestamp += 1000
    b = write_recording(tmp_path / "b.jsonl", calls)
    assert diff(a, b) == 0
    assert capsys.readouterr() == ("", "No differences in 4 calls.\n")


def test_requests_texts_events_and_endings(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    long = "It is warm in Rome and cold in Oslo, as it was yesterday and will be tomorrow."
    firsts = [
        Call(ask("a"), say("same")),
        Call(ask("b"), say(long)),
        Call(ask("c"), say("same, cut otherwise", 2)),
        Call(ask("d"), say("x")),
        Call(ask("only here"), say("x")),
    ]
    seconds = [
        Call(ask("a"), say("same")),
        Call(ask("b"), say(long.replace("warm", "cool")), options=StreamOptions(temperature=0.5)),
        Call(ask("c"), say("same, cut otherwise", 3)),
        Call(ask("d"), say("x")[:3], outcome="error", error={"type": "E", "message": "lost"}),
    ]
    a, b = write_recording(tmp_path / "a.jsonl", firsts), write_recording(tmp_path / "b.jsonl", seconds)
    assert diff(a, b) == 1
    out, err = capsys.readouterr()
    lines = out.splitlines()
    assert "call 0" not in lines
    assert lines[:12] == [
        f"A: {a}",
        f"B: {b}",
        "call 1",
        "  options.temperature",
        "    A None (null)",
        "    B 0.5 (float)",
        "  message.content[0].text",
        "    at character 7 of 78:",
        "      A It is warm in Rome and cold in Oslo, as …",
        "              ^^^^",
        "      B It is cool in Rome and cold in Oslo, as …",
        "              ^^^^",
    ]
    assert "  events: 6 in A, 7 in B, the first that differs is 2 (the message is the same)" in lines
    assert "  outcome" in lines
    assert "    B 'error'" in lines
    assert lines[-1] == "call 4: only in A"
    assert err == "4 of 5 calls differ.\n"


def test_an_inserted_call_is_one_difference(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    calls = [Call(ask(f"question {number}"), say("x"), lane="main") for number in range(20)]
    a = write_recording(tmp_path / "a.jsonl", calls)
    b = write_recording(
        tmp_path / "b.jsonl", [*calls[:5], Call(ask("new"), say("y"), lane="main"), *calls[5:]]
    )
    assert diff(a, b) == 1
    assert capsys.readouterr().out == f"A: {a}\nB: {b}\ncall 5, lane main: only in B\n"


def test_calls_in_another_order_are_paired(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    calls = [Call(ask(f"question {number}"), say(f"{number}")) for number in range(5)]
    a = write_recording(tmp_path / "a.jsonl", calls)
    b = write_recording(tmp_path / "b.jsonl", [*calls[1:], calls[0]])
    assert diff(a, b) == 0
    assert capsys.readouterr().err == "No differences in 5 calls.\n"


def test_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    changed = ask("a")
    changed.messages.append(UserMessage(content="more"))
    a = write_recording(tmp_path / "a.jsonl", [Call(ask("a"), say("x")), Call(ask("b"), say("x"))])
    b = write_recording(tmp_path / "b.jsonl", [Call(changed, say("x"))])
    assert diff(a, b, "--json") == 1
    document: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert (document["equal"], document["a"], document["b"]) == (False, str(a), str(b))
    first, second = document["calls"]
    assert (first["a"], first["b"], first["equal"]) == (0, 0, False)
    assert (second["a"], second["b"]) == (1, None)
    (difference,) = first["request"]["differences"]
    assert (difference["kind"], difference["field_path"]) == ("inserted", "context.messages[1]")
    assert "a" not in difference
    assert difference["b"]["content"] == "more"
    assert first["events"] == {"a": 5, "b": 5, "first_difference": None}
    assert diff(a, a, "--json") == 0
    assert json.loads(capsys.readouterr().out)["equal"] is True


def test_skip(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    a = write_recording(tmp_path / "a.jsonl", [Call(ask("a"), say("x"), options=StreamOptions(seed=1))])
    b = write_recording(tmp_path / "b.jsonl", [Call(ask("a"), say("x"), options=StreamOptions(seed=2))])
    assert diff(a, b) == 1
    assert diff(a, b, "--skip", "options.seed") == 0
    assert diff(a, b, "--skip", "options[") == 2
    assert "not understood" in capsys.readouterr().err


def test_streams_that_make_no_message_are_compared_by_their_events(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    events: list[AssistantMessageEvent] = say("hello")
    a = write_recording(tmp_path / "a.jsonl", [Call(ask("a"), events[2:3])])
    b = write_recording(tmp_path / "b.jsonl", [Call(ask("a"), events[3:4])])
    assert diff(a, b) == 1
    assert "  events: 1 in A, 1 in B, the first that differs is 0" in capsys.readouterr().out


def test_trouble_is_exit_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    a = write_recording(tmp_path / "a.jsonl", [Call(ask("a"), say("x"))])
    (tmp_path / "broken.jsonl").write_text("{}\n")
    assert diff(a, tmp_path / "none.jsonl") == 2
    assert diff(a, tmp_path / "broken.jsonl") == 2
    assert diff(a) == 2
    assert capsys.readouterr().out == ""


def test_on_a_terminal_it_is_coloured_and_nothing_in_it_is_obeyed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    a = write_recording(tmp_path / "a.jsonl", [Call(ask("[red]\x1b[2Jone"), say("x"))])
    b = write_recording(tmp_path / "b.jsonl", [Call(ask("[red]\x1b[2Jtwo"), say("x"))])
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setattr("openprogram_core.cli.recordings_diff.is_terminal", lambda stream: True)
    assert diff(a, b) == 1
    out = capsys.readouterr().out
    assert "[red]\\x1b[2J" in out
    assert "\x1b[31m" in out
    assert "\x1b[2J" not in out


@pytest.mark.parametrize(
    ("first", "second"),
    [({"n": 1}, {"n": True}), ({"n": 0.0}, {"n": -0.0}), ({"timestamp": 1}, {"timestamp": 2})],
)
def test_an_answer_that_differs_in_an_argument_only(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], first: dict[str, Any], second: dict[str, Any]
) -> None:
    files = [
        write_recording(
            tmp_path / f"{name}.jsonl",
            [Call(ask("a"), use_tools(ToolCall(id="1", name="t", arguments=some)))],
        )
        for name, some in (("a", first), ("b", second))
    ]
    assert diff(*files) == 1
    assert f"message.content[0].arguments.{next(iter(first))}" in capsys.readouterr().out
