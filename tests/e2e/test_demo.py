from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.e2e.sessions import chunk, tool_call_delta, usage_chunk
from tests.support.wire_bytes import sse
from tests.support.wire_server import Reply, WireServer


def run_demo(home: Path, *arguments: str, **env: str) -> subprocess.CompletedProcess[str]:
    variables = {name: value for name, value in os.environ.items() if not name.endswith("_API_KEY")}
    return subprocess.run(
        [sys.executable, "-m", "openprogram_core.cli", "demo", *arguments],
        capture_output=True,
        text=True,
        encoding="utf-8",
        env={**variables, "OPENPROGRAM_HOME": str(home), "PYTHONUTF8": "1", **env},
        timeout=60,
        check=False,
    )


def test_the_demo_records_replays_and_names_the_changed_field_without_key_or_network(
    tmp_path: Path,
) -> None:
    ran = run_demo(tmp_path / "home")
    assert (ran.returncode, ran.stderr) == (0, "")
    assert "redacted: options.api_key = '[secret removed]'" in ran.stdout
    assert "2 calls answered, 18 events, the same as recorded." in ran.stdout
    assert (
        "replay mismatch at call 1, field context.messages[2].content[0].text: "
        "recorded '4 °C and raining', incoming '4 °C and snowing'"
    ) in ran.stdout
    assert not (tmp_path / "home").exists()


def test_the_demo_keeps_its_recording_on_request_and_overwrites_nothing(tmp_path: Path) -> None:
    kept = tmp_path / "demo.jsonl"
    assert run_demo(tmp_path, "--keep", str(kept)).returncode == 0
    before = kept.read_bytes()
    assert before.startswith(b'{"type":"header","format_version":1')
    again = run_demo(tmp_path, "--keep", str(kept))
    assert again.returncode == 2
    assert "nothing is overwritten" in again.stderr
    assert kept.read_bytes() == before


def test_the_demo_runs_against_a_local_openai_compatible_server(tmp_path: Path) -> None:
    key = "an-unusual-key-" + "0123456789"
    first = sse(
        chunk({"role": "assistant", "content": None}),
        chunk({"tool_calls": [tool_call_delta(0, "call_1", "get_weather", '{"city": "Oslo"}')]}),
        chunk({}, "tool_calls"),
        usage_chunk(9, 4),
        end="[DONE]",
    )
    second = sse(
        chunk({"role": "assistant", "content": f"Rain. Your key is {key}."}), chunk({}, "stop"), end="[DONE]"
    )
    kept = tmp_path / "live.jsonl"
    with WireServer(Reply(first), Reply(second)) as server:
        ran = run_demo(
            tmp_path,
            *("--model", "m", "--base-url", f"{server.url}/v1", "--keep", str(kept)),
            OPENAI_API_KEY=key,
        )
        assert ran.returncode == 0, ran.stderr
        assert len(server.requests) == 2
        assert server.requests[0].headers["authorization"] == f"Bearer {key}"
    assert key not in ran.stdout.replace(f"Your key is {key}", "")
    assert key.encode() not in kept.read_bytes()
    assert "incoming '4 °C and snowing'" in ran.stdout


def test_the_demo_says_what_it_lacks(tmp_path: Path) -> None:
    no_key = run_demo(tmp_path, "--model", "m")
    assert no_key.returncode == 1
    assert "OPENAI_API_KEY" in no_key.stderr
    unknown = run_demo(tmp_path, "--model", "m", "--api", "smoke-signals")
    assert unknown.returncode == 1
    assert "smoke-signals" in unknown.stderr
    assert run_demo(tmp_path, "--base-url", "http://127.0.0.1:9").returncode == 2
    for ran in (no_key, unknown):
        assert "Traceback" not in ran.stderr
