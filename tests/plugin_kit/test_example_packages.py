"""Two packages as a team and a vendor would write them, installed by pip, found through entry points."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.plugin_kit.environment import Environment, build_wheels, write_package
from tests.support.shared import PROJECT_ROOT

EXAMPLES = PROJECT_ROOT / "tests" / "example_packages"

RECORD_AND_REPLAY = """
import asyncio, json, sys, threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from openprogram_core.providers import Context, Model, StreamOptions, UserMessage, complete
from openprogram_record import recording
from openprogram_replay import ReplayMismatch, replaying

class Orbit(BaseHTTPRequestHandler):
    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.end_headers()
        for piece in ({"say": "Hel"}, {"say": "lo, %(staff)s."}, {"end": {"in": 7, "out": 3}}):
            self.wfile.write(json.dumps(piece).encode() + b"\\n")
    def log_message(self, *arguments):
        pass

server = HTTPServer(("127.0.0.1", 0), Orbit)
threading.Thread(target=server.serve_forever, daemon=True).start()

def call(nonce, model_id="orbit-1", prompt="the token is %(token)s", pin="4711"):
    url = "http://127.0.0.1:%%d" %% server.server_port
    model = Model(id=model_id, api="orbit-chat", provider="orbit", base_url=url)
    options = StreamOptions(extra_body={"orbit_nonce": nonce}, metadata={"acme_vault_pin": pin})
    context = Context(messages=[UserMessage(content=prompt)])
    return asyncio.run(complete(model, context, options))

with recording("run.jsonl"):
    live = call(1)
server.shutdown()
with replaying("run.jsonl"):
    again = call(2, "orbit-1-latest", pin="0000")
print(json.dumps({
    "live": live.content[0].text, "again": again.content[0].text, "tokens": again.usage.total_tokens,
    "file": open("run.jsonl", encoding="utf-8").read(),
}))
try:
    with replaying("run.jsonl"):
        call(3, prompt="another prompt")
except ReplayMismatch as mismatch:
    print(mismatch)
"""


@pytest.fixture(scope="module")
def with_examples(environment: Environment, tmp_path_factory: pytest.TempPathFactory) -> Environment:
    folder = tmp_path_factory.mktemp("examples")
    site = folder / "site"
    for name in ("acme-secrets", "orbit-ai"):
        # As a user would: pip builds the folder it is given. A copy, for builds leave things behind.
        source = shutil.copytree(EXAMPLES / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        environment.pip("install", "--no-build-isolation", "--no-compile", "--target", str(site), str(source))
    return Environment(environment.python, (site,))


def test_secrets_of_a_team_and_fields_and_wire_api_of_a_vendor_take_effect(
    with_examples: Environment, home: Path
) -> None:
    token = "acme_live_" + "0123456789abcdefWXYZ"
    staff = "E-" + "123456"
    printed = with_examples.code(RECORD_AND_REPLAY % {"token": token, "staff": staff}, home).splitlines()
    result = json.loads(printed[0])
    assert result["live"] == f"Hello, {staff}."
    assert result["again"] == "Hello, [secret removed]."
    assert result["tokens"] == 10
    for secret in (token, staff, "4711"):
        assert secret not in result["file"]
    header = json.loads(result["file"].splitlines()[0])
    assert header["redaction"]["plugins"]["acme_secrets"] == "1.2.0"
    assert "context.messages[0].content" in printed[1]


def test_the_examples_are_listed_with_what_they_bring(with_examples: Environment, home: Path) -> None:
    done = with_examples.openprogram("plugins", "list", "--json", home=home)
    assert (done.returncode, done.stderr) == (0, "")
    plugins = {plugin["name"]: plugin for plugin in json.loads(done.stdout)["plugins"]}
    acme, orbit = plugins["acme_secrets"], plugins["orbit_ai"]
    assert (acme["distribution"], acme["version"], acme["state"]) == ("acme-secrets", "1.2.0", "loaded")
    assert acme["hooks"] == ["redact_value", "secret_rules"]
    assert acme["secret_rules"] == ["acme-token", "acme-queue-url", "acme-vault-pin"]
    assert orbit["api_providers"] == ["orbit-chat"]
    assert orbit["field_skips"] == ["options.extra_body.orbit_nonce"]
    assert not acme["built_in"]
    text = with_examples.openprogram("plugins", "list", home=home).stdout
    assert "3 rules" in text
    assert "1 skip, 1 API" in text


def test_the_examples_pass_every_check(with_examples: Environment, home: Path) -> None:
    done = with_examples.openprogram("plugins", "check", "acme-secrets", "orbit-ai-openprogram", home=home)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "acme_secrets: ok" in done.stdout
    assert "orbit_ai: ok" in done.stdout
    assert "redact_value: takes" in done.stdout


def test_a_second_package_that_fails_to_import_leaves_off_working_and_blocks_record(
    with_examples: Environment, home: Path, tmp_path: Path
) -> None:
    source = write_package(tmp_path / "source", "broken-secrets", "import acme_vault_client_nobody_has\n")
    (tmp_path / "wheels").mkdir()
    environment = with_examples.with_packages(tmp_path / "site", *build_wheels(tmp_path / "wheels", source))
    listed = environment.openprogram("plugins", "list", home=home)
    assert listed.returncode == 0
    assert "broken_secrets: importing broken_secrets raised ModuleNotFoundError" in listed.stderr
    assert "acme_vault_client_nobody_has" in listed.stderr
    code = "import openprogram_core; print(openprogram_core.initialize_provider_runtime().mode)"
    assert environment.code(code, home).strip() == "off"
    assert environment.openprogram("recordings", "record", home=home).returncode == 0
    assert environment.code(code, home).strip() == "blocked"
    assert environment.openprogram("recordings", "off", home=home).returncode == 0
    assert environment.code(code, home).strip() == "off"
