"""Replay switched on by configuration, in processes of its own."""

from __future__ import annotations

from pathlib import Path
from subprocess import CompletedProcess

from tests.replay.sessions import Call, ask, say, write_recording
from tests.support.interpreter import run_python

_PROGRAM = """
    import asyncio
    from openprogram_core.providers import Context, Model, UserMessage, complete
    MODEL = Model(id="small-1", api="test-chat", provider="test")
    def call(text):
        return asyncio.run(complete(MODEL, Context(messages=[UserMessage(content=text)])))
"""


def _replay_by_configuration(folder: Path) -> Path:
    path = write_recording(folder / "run.jsonl", [Call(ask("a"), say("1")), Call(ask("b"), say("2"))])
    (folder / "config.toml").write_text(f'[record_replay]\nmode = "replay"\nfile = "{path}"\n')
    return path


def _run(text: str, home: Path) -> CompletedProcess[str]:
    return run_python(_PROGRAM + text, home=home)


def _ending(path: Path) -> str:
    return f"Replay is switched on by configuration, of {path}; 'openprogram recordings off' ends it"


def test_a_mismatch_carries_its_report_and_says_where_it_comes_from(tmp_path: Path) -> None:
    path = _replay_by_configuration(tmp_path)
    done = _run("    call('other')", tmp_path)
    assert done.returncode == 1
    assert "call 0 has 1 difference from this request:" in done.stderr
    traceback, _, at_exit = done.stderr.partition("\nopenprogram: ")
    assert traceback.endswith("\n" + _ending(path))
    assert "replaying(..., order" not in done.stderr
    assert "2 of 2 recorded calls were not made: 0, 1" in at_exit


def test_a_swallowed_mismatch_and_calls_not_made_are_told_at_exit(tmp_path: Path) -> None:
    path = _replay_by_configuration(tmp_path)
    done = _run(
        """
    call("a")
    for _ in range(3):
        try:
            call("other")
        except Exception:
            pass
    """,
        tmp_path,
    )
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr.splitlines() == [
        "openprogram: replay mismatch at call 1, field context.messages[0].content: "
        "recorded 'b', incoming 'other' (and 2 more)",
        "openprogram: 1 of 2 recorded calls was not made: 1",
        f"openprogram: {_ending(path)}",
    ]


def test_nothing_is_said_when_all_is_well(tmp_path: Path) -> None:
    _replay_by_configuration(tmp_path)
    done = _run("    call('a'); call('b')", tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_nothing_is_said_of_a_program_that_calls_no_model_or_replays_in_a_block(tmp_path: Path) -> None:
    path = _replay_by_configuration(tmp_path)
    for text in (
        "    import openprogram_core; openprogram_core.initialize_provider_runtime()",
        f"""
    from openprogram_replay import replaying
    with replaying({str(path)!r}):
        call("a")
        call("b")
    """,
    ):
        done = _run(text, tmp_path)
        assert (done.returncode, done.stderr) == (0, "")


def test_a_recording_that_is_gone_is_not_to_be_recorded_in_a_block(tmp_path: Path) -> None:
    _replay_by_configuration(tmp_path).unlink()
    done = _run("    call('a')", tmp_path)
    assert "there is no such file. Until then" in done.stderr


def test_the_first_reports_only(tmp_path: Path) -> None:
    path = _replay_by_configuration(tmp_path)
    done = _run(
        """
    from openprogram_replay import ReplayMismatch
    for number in range(20):
        try:
            call(str(number))
        except ReplayMismatch as mismatch:
            last = mismatch
    print("|".join(last.__notes__))
    """,
        tmp_path,
    )
    assert done.stdout.strip() == _ending(path)


def test_a_forked_child_says_nothing_of_calls_its_parent_makes(tmp_path: Path) -> None:
    _replay_by_configuration(tmp_path)
    done = _run(
        """
    import os, sys
    call("a")
    child = os.fork()
    if child == 0:
        sys.exit(0)
    os.waitpid(child, 0)
    call("b")
    """,
        tmp_path,
    )
    assert (done.returncode, done.stderr) == (0, "")
