"""What the plugin is to those who do not use it, and beside other plugins."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

from tests.plugin_kit.environment import shared_environment
from tests.pytest_plugin.project import Project
from tests.support.shared import PROJECT_ROOT

pytest_plugins = ["pytester"]

PLUGINS = sorted(path.parent.name for path in (PROJECT_ROOT / "plugins").glob("*/__init__.py"))

UNMARKED = """
import sys

def test_one():
    loaded = [name for name in sys.modules if name.startswith("openprogram")]
    assert all(name.startswith("openprogram_pytest") for name in loaded), loaded
    assert not {"pydantic", "structlog", "pluggy_openprogram", "re2"} & set(sys.modules)
"""


def test_a_project_that_does_not_use_it_loads_none_of_it(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(UNMARKED)
    result = pytester.runpytest_subprocess("-p", "no:cacheprovider")
    result.assert_outcomes(passed=1)


def test_installed_from_the_wheel_it_draws_no_warning_when_the_core_is_there_already(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    environment = shared_environment(tmp_path_factory)
    (tmp_path / "test_a.py").write_text(
        "import openprogram_core, openprogram_record, openprogram_redaction\n\ndef test_one(pytestconfig):\n"
        "    assert pytestconfig.pluginmanager.has_plugin('openprogram_pytest')\n"
        "    assert 'site-packages' in openprogram_core.__file__\n",
        encoding="utf-8",
    )
    early = f"import sys, openprogram_core, {', '.join(PLUGINS)}; "
    arguments = ["-W", "error", "-p", "no:cacheprovider", "-p", "no:asyncio", str(tmp_path / "test_a.py")]
    done = environment.run(
        ["-c", f"{early}import pytest; sys.exit(pytest.main({arguments!r}))"], tmp_path / "home"
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 passed" in done.stdout


def test_switched_off_it_is_gone_and_the_marker_is_an_error(project: Project) -> None:
    project.write(
        test_a="import pytest\n@pytest.mark.openprogram_recording\ndef test_one(ask):\n    ask('hi')\n"
    )
    result = project.run_apart("-p", "no:openprogram_pytest")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*'openprogram_recording' not found in `markers` configuration option*"])


def test_it_is_found_by_name_where_entry_points_are_not_read(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    project.pytester.makeini("[pytest]\nfilterwarnings = error\n")
    project.write(test_a="def test_one(ask, openprogram_recording):\n    ask('hi')\n")
    result = project.run_apart("-p", "openprogram_pytest", "--openprogram-record=once")
    result.assert_outcomes(passed=1)


BESIDE = """
import urllib.request
import pytest

@pytest.mark.vcr
@pytest.mark.openprogram_recording
def test_both(ask, http_address):
    assert ask("hi") == "echo: hi"
    assert urllib.request.urlopen(http_address).read() == b"from the server"

@pytest.mark.vcr
def test_theirs(http_address):
    assert urllib.request.urlopen(http_address).read() == b"from the server"

@pytest.mark.block_network
@pytest.mark.openprogram_recording
async def test_ours(ask_later):
    assert await ask_later("hi") == "echo: hi"
"""
HTTP = """
import http.server, threading

class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"from the server")

    def log_message(self, *arguments):
        pass

@pytest.fixture
def http_address(request):
    if request.config.getoption("--record-mode") is None:
        yield "http://127.0.0.1:45999/x"
        return
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 45999), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield "http://127.0.0.1:45999/x"
    server.shutdown()
    server.server_close()
"""


def test_beside_pytest_recording_and_pytest_asyncio_each_does_its_own(project: Project) -> None:
    pytest.importorskip("pytest_recording", reason="needs pytest-recording beside it")
    project.extend_conftest(HTTP)
    project.write(test_a=BESIDE)
    lenient = ("-W", "ignore::ResourceWarning", "-W", "ignore::pytest.PytestUnraisableExceptionWarning")
    result = project.run_apart(
        "--openprogram-record=once", "--record-mode=once", "--assert=plain", *lenient, beside_others=True
    )
    result.assert_outcomes(passed=3)
    assert len(list(project.path.rglob("cassettes/**/*.yaml"))) == 2
    assert len(project.recordings()) == 2
    # Now there is no server, and no model.
    project.live_answers("!", HTTP)
    result = project.run_apart(*lenient, "--assert=plain", beside_others=True)
    result.assert_outcomes(passed=3)
    result.stdout.fnmatch_lines(["2 recordings used, 2 calls replayed, 0 live calls*"])


def test_every_package_of_the_distribution_is_exempt_from_rewriting() -> None:
    for name in ["openprogram_core", *PLUGINS]:
        assert "PYTEST_DONT_REWRITE" in (importlib.import_module(name).__doc__ or ""), name
