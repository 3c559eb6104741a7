"""``recordings scan`` and ``redact``: old recordings under today's rules, and texts to try rules on."""

from __future__ import annotations

import base64
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from openprogram_core._json import dump_json
from openprogram_core.redaction.recorded import environment_keys, scan_recording
from tests.redaction.support import BODY, built_in, stream_events

KEY = "sk-" + "proj-" + BODY


def write_recording(path: Path, *, text: list[str], options: dict[str, Any] | None = None) -> Path:
    """A recording of one call as a careless recorder would have written it."""
    rows: list[dict[str, Any]] = [
        {"type": "header", "format_version": 1},
        {
            "type": "request",
            "call_index": 0,
            "model": {"id": "m", "api": "a", "provider": "p"},
            "context": {"system_prompt": None, "messages": [{"role": "user", "content": "hi"}], "tools": []},
            "options": options or {},
        },
    ]
    events = [event.model_dump(mode="json") for event in stream_events(text)]
    rows += [
        {"type": "event", "call_index": 0, "event_index": index, "event": event}
        for index, event in enumerate(events)
    ]
    rows.append({"type": "call_end", "call_index": 0, "event_count": len(events)})
    path.write_bytes(b"".join(dump_json(row) + b"\n" for row in rows))
    return path


def run(
    *arguments: str, stdin: bytes = b"", home: Path, **environment: str
) -> subprocess.CompletedProcess[bytes]:
    """Run the command line in its own process."""
    return subprocess.run(
        [sys.executable, "-m", "openprogram_core.cli", *arguments],
        input=stdin,
        capture_output=True,
        env={**os.environ, "OPENPROGRAM_HOME": str(home), **environment},
        check=False,
        timeout=60,
    )


def test_a_clean_recording_has_no_findings(tmp_path: Path) -> None:
    path = write_recording(
        tmp_path / "a.jsonl", text=["all ", "fine"], options={"api_key": "[secret removed]"}
    )
    assert list(scan_recording(path, built_in(), {"HOME": "/home/me"})) == []


def test_old_secrets_are_found_where_they_stand(tmp_path: Path) -> None:
    path = write_recording(
        tmp_path / "a.jsonl", text=["is ", KEY[:12], KEY[12:]], options={"headers": {"cookie": "a=b"}}
    )
    found = list(scan_recording(path, built_in(), {}))
    places = {(one.line, one.call_index, one.finding.field_path, one.finding.rule) for one in found}
    assert (2, 0, "options.headers.cookie", "cookie") in places
    assert any(path == "event.content[0] joined" and rule == "openai-key" for _, _, path, rule in places)
    assert any(path == "event.content.text" for _, _, path, _ in places)
    assert BODY not in repr(found)


def test_keys_of_this_environment_are_found_in_every_spelling(tmp_path: Path) -> None:
    value = "Odd key/9+="
    for spelling in (
        value,
        quote(value, safe=""),
        base64.b64encode(b"xy" + value.encode()).decode(),
        json.dumps(value),
    ):
        path = write_recording(tmp_path / "a.jsonl", text=["the ", spelling[:5], spelling[5:], " end"])
        found = list(scan_recording(path, built_in(), {"ACME_API_KEY": value}))
        assert {one.finding.rule for one in found if one.finding.kind == "environment"} == {"ACME_API_KEY"}, (
            spelling
        )


def test_only_variables_that_hold_keys_count() -> None:
    variables = {
        "ACME_API_KEY": "12345678",
        "GITHUB_TOKEN": "12345678",
        "DB_PASSWORD": "12345678",
        "SHORT_KEY": "1234567",
        "SSH_AUTH_SOCK": "12345678",
        "MY_KEYBOARD": "12345678",
        "GOOGLE_CREDENTIALS": "/home/me/key.json",
    }
    assert set(environment_keys(variables)) == {"ACME_API_KEY", "GITHUB_TOKEN", "DB_PASSWORD"}


def test_a_row_that_is_no_json_is_scanned_as_text(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(f'{{"type": "event", "x": "{KEY}')
    assert [one.line for one in scan_recording(path, built_in(), {})] == [1]


@pytest.mark.parametrize(("text", "code"), [(["fine"], 0), ([KEY], 1)])
def test_the_scan_command_speaks_like_diff(tmp_path: Path, text: list[str], code: int) -> None:
    path = write_recording(tmp_path / "a.jsonl", text=text)
    done = run("recordings", "scan", str(path), home=tmp_path)
    assert done.returncode == code, done.stderr
    assert BODY.encode() not in done.stdout + done.stderr
    assert (b"openai-key of openprogram_redaction" in done.stdout) == bool(code)
    done = run("recordings", "scan", str(path), "--json", home=tmp_path)
    assert done.returncode == code
    assert bool(json.loads(done.stdout)["findings"]) == bool(code)


def test_the_scan_command_knows_the_environments_keys(tmp_path: Path) -> None:
    path = write_recording(tmp_path / "a.jsonl", text=["odd-value-77"])
    done = run("recordings", "scan", str(path), home=tmp_path, ACME_API_KEY="odd-value-77")
    assert done.returncode == 1
    assert b"ACME_API_KEY" in done.stdout
    assert b"odd-value-77" not in done.stdout + done.stderr


@pytest.mark.parametrize("text", ["nothing in here\n", f"a = {KEY}\n", '{"type": "header"}\n', ""])
def test_what_is_no_recording_is_searched_as_text_and_called_so(tmp_path: Path, text: str) -> None:
    path = tmp_path / "notes.txt"
    path.write_text(text)
    done = run("recordings", "scan", str(path), home=tmp_path)
    assert done.returncode == 2
    assert b"is no sound recording (" in done.stderr
    assert b"searched as text" in done.stderr
    assert (b"openai-key" in done.stdout) == (KEY in text)
    told = json.loads(run("recordings", "scan", str(path), "--json", home=tmp_path).stdout)
    assert told["problem"]
    assert bool(told["findings"]) == (KEY in text)


def test_a_recording_that_is_still_written_is_one(tmp_path: Path) -> None:
    path = write_recording(tmp_path / "a.jsonl", text=["fine"])
    path.write_bytes(path.read_bytes()[:-9])
    assert run("recordings", "scan", str(path), home=tmp_path).returncode == 0


def test_the_scan_command_in_trouble(tmp_path: Path) -> None:
    assert run("recordings", "scan", str(tmp_path / "none.jsonl"), home=tmp_path).returncode == 2


def test_the_redact_command_writes_the_text_and_says_whose_rule_it_was(tmp_path: Path) -> None:
    text = f"one\ntwo {KEY}\n".encode() + b"\xff\n"
    done = run("redact", stdin=text, home=tmp_path)
    assert done.returncode == 0
    assert done.stdout == b"one\ntwo [secret removed]\n\xff\n"
    assert (
        done.stderr.strip()
        == f"line 2, column 5: {len(KEY)} characters, rule openai-key of openprogram_redaction".encode()
    )
    file = tmp_path / "a.json"
    file.write_text('{ "token": null }')
    assert run("redact", str(file), home=tmp_path).stdout == b'{ "token": "[secret removed]" }'
    found = json.loads(run("redact", str(file), "--json", home=tmp_path).stdout)["findings"]
    assert found == [
        {
            "line": 1,
            "column": 12,
            "length": 4,
            "kind": "field",
            "plugin": "openprogram_redaction",
            "rule": "token",
        }
    ]
    assert run("redact", stdin=b"fine", home=tmp_path).stderr.strip() == b"Nothing was removed."
