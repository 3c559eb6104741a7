"""The functions without a call: one value, and messages for errors and logs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import openprogram_core.redaction.bare
from openprogram_core.providers import UserMessage
from openprogram_core.redaction import remove_secret_values, safe_message
from tests.redaction.support import BODY


def test_a_value_is_redacted_with_the_installed_plugins() -> None:
    assert remove_secret_values({"password": "hunter2"}) == {"password": "[secret removed]"}
    clean = {"a": ["fine"]}
    assert remove_secret_values(clean) is clean
    message = UserMessage(content="password: hunter2")
    assert remove_secret_values(message) == message.model_dump() | {"content": "password: [secret removed]"}


def test_a_message_is_redacted_and_bounded() -> None:
    assert safe_message("401: token=abc9def") == "401: token=[secret removed]"
    assert safe_message("x" * 1000, limit=20) == "x" * 19 + "…"
    assert BODY not in safe_message("x" * 500 + " ghp_" + BODY + "abcd")


def test_a_message_is_redacted_even_where_the_built_in_rules_are_disabled(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text('[plugins]\ndisabled = ["openprogram_redaction"]\n')
    code = "from openprogram_core.redaction import safe_message; print(safe_message('token=abc9def'))"
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
        env={**os.environ, "OPENPROGRAM_HOME": str(tmp_path)},
    )
    assert "abc9def" not in done.stdout


def test_a_message_that_cannot_be_redacted_is_withheld() -> None:
    class Unreadable(str):
        def __str__(self) -> str:
            raise RuntimeError("token=abc9def")

    assert safe_message(Unreadable("x")) == "[message withheld: redaction failed with RuntimeError]"


def test_rules_can_be_declared_without_loading_an_engine() -> None:
    code = (
        "import sys, openprogram_core.redaction\n"
        "print([name for name in ('re2', 'ahocorasick_rs', 'pluggy', 'structlog') if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.strip() == "[]"
    assert openprogram_core.redaction.bare is not None
