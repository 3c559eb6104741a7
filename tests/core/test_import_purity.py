from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.interpreter import run_python

WATCH = """
import builtins, os, sys
opened = []
def audit(event, arguments):
    if event in ("socket.connect", "socket.bind", "subprocess.Popen", "os.mkdir"):
        opened.append((event, arguments))
    if event == "open" and isinstance(arguments[0], (str, bytes)):
        path = os.fsdecode(arguments[0])
        if not path.endswith((".py", ".pyc", ".so", ".pth")) and "__pycache__" not in path:
            # Where the interpreter's own import system looks (directory listings, metadata) is no concern.
            if "openprogram" in path or path.startswith(os.environ["OPENPROGRAM_HOME"]):
                opened.append((event, path))
sys.addaudithook(audit)
"""


def test_importing_the_providers_defines_names_and_does_nothing_else(tmp_path: Path) -> None:
    code = (
        WATCH
        + """
import openprogram_core.providers as providers
loaded = {name.split(".")[0] for name in sys.modules}
unwanted = {"openai", "anthropic", "google", "structlog", "pluggy", "re2", "ahocorasick_rs", "click",
            "importlib_metadata", "asyncio", "tomlkit", "rich"}
print(sorted(loaded & unwanted))
print(sorted(name for name in loaded if name.startswith("openprogram_") and name != "openprogram_core"))
print(providers.api_registry.registry.known())
print([name for name in sys.modules if name in ("openprogram_core._runtime", "openprogram_core._config",
       "openprogram_core._plugins")])
print(opened)
"""
    )
    ran = run_python(code, home=tmp_path / "home")
    assert ran.stderr == ""
    assert ran.stdout.splitlines() == ["[]", "[]", "()", "[]", "[]"]
    assert not (tmp_path / "home").exists()


@pytest.mark.parametrize("name", ["openai", "anthropic", "google"])
def test_importing_a_vendor_plugin_imports_no_sdk(name: str, tmp_path: Path) -> None:
    code = f"""
    import sys
    import openprogram_{name}
    print(sorted({{"openai", "anthropic", "google.genai"}} & set(sys.modules)))
    """
    ran = run_python(code, home=tmp_path)
    assert (ran.stdout, ran.stderr) == ("[]\n", "")


def test_starting_the_runtime_imports_no_sdk_and_configures_no_logging(tmp_path: Path) -> None:
    code = """
    import sys
    import openprogram_core
    snapshot = openprogram_core.initialize_provider_runtime()
    print(snapshot.mode)
    print(sorted({"openai", "anthropic", "google.genai"} & set(sys.modules)))
    import structlog
    print(structlog.is_configured())
    """
    ran = run_python(code, home=tmp_path)
    assert ran.stderr == ""
    assert ran.stdout.splitlines() == ["off", "[]", "False"]


def test_the_public_door_refuses_a_name_it_does_not_have() -> None:
    import openprogram_core

    with pytest.raises(AttributeError, match="no attribute 'surprise'"):
        _ = openprogram_core.surprise
    assert all(hasattr(openprogram_core, name) for name in openprogram_core.__all__)
