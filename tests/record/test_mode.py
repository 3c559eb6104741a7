"""Recording by configuration, in processes of its own."""

from __future__ import annotations

from pathlib import Path

from openprogram_core.recordings import read_recording_file
from tests.support.interpreter import run_python

_CALL = """
    import asyncio
    from openprogram_core import initialize_provider_runtime
    from openprogram_core.providers import UserMessage, Context, complete, register_api_provider
    from openprogram_core.testing import ScriptedProvider, scripted_model
    register_api_provider("scripted", ScriptedProvider(["hello"]))
    print(initialize_provider_runtime().mode)
    asyncio.run(complete(scripted_model(), Context(messages=[UserMessage(content="hi")])))
"""


def _record_into(home: Path, recording_id: str) -> Path:
    folder = home / "recordings"
    folder.mkdir(mode=0o700)
    (home / "config.toml").write_text(f'[record_replay]\nmode = "record"\nfile = "{recording_id}"\n')
    return folder / f"{recording_id}.jsonl"


def test_it_goes_on_from_one_process_to_the_next(tmp_path: Path) -> None:
    path = _record_into(tmp_path, "mine")
    for _ in range(3):
        done = run_python(_CALL, home=tmp_path)
        assert done.returncode == 0, done.stderr
        assert done.stdout == "record\n"
    with read_recording_file(path) as recording:
        assert [call.outcome for call in recording.calls] == ["complete"] * 3


def test_a_file_that_is_no_recording_blocks_every_call(tmp_path: Path) -> None:
    path = _record_into(tmp_path, "mine")
    path.write_text("hello\n")
    done = run_python(_CALL, home=tmp_path)
    assert done.stdout == "blocked\n"
    assert "is no recording" in done.stderr
    assert "openprogram recordings off" in done.stderr
    assert path.read_text() == "hello\n"
