"""``openprogram plugins new``: what it writes installs, passes its own tests, and is clean by every check."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from openprogram_core.plugin_kit.scaffold import ScaffoldError, write_plugin
from tests.plugin_kit.environment import Environment

OWN = {
    'literals=("team_vault_key_",)': 'literals=("ck-",)',
    'pattern=r"team_vault_key_[A-Za-z0-9]{24}"': 'pattern=r"ck-[0-9]{4}-[0-9]{4}"',
    '"team_vault_key_" + "0123456789abcdefABCDEF01"': '"ck-" + "1234-5678"',
    '("team_vault_key_name", "the team_vault_key_ prefix")': '("ck-one", "ck-12-34")',
    "options.metadata.team_vault_request_id": "options.metadata.trace",
}


def test_a_new_plugin_installs_and_passes_as_written(environment: Environment, tmp_path: Path) -> None:
    home = tmp_path / "home"
    made = environment.openprogram("plugins", "new", "team-vault", home=home)
    assert made.returncode == 0, made.stderr
    package = tmp_path / "team-vault"
    assert str(Path("team-vault", "pyproject.toml")) in made.stdout
    assert "pip install -e" in made.stderr
    assert "into src/team_vault/__init__.py\n(tests/test_team_vault.py takes the key from" in made.stderr

    site = tmp_path / "site"
    environment.pip("install", "--no-build-isolation", "--no-compile", "--target", str(site), str(package))
    installed = Environment(environment.python, (site,))
    tested = installed.run(
        ["-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:asyncio", str(package)], home
    )
    assert tested.returncode == 0, tested.stdout + tested.stderr
    assert "5 passed" in tested.stdout
    checked = installed.openprogram("plugins", "check", "team-vault", home=home)
    assert (checked.returncode, checked.stdout) == (0, "team_vault: ok\n"), checked.stdout + checked.stderr

    # The next step of a user, and the only file that is touched.
    module = site / "team_vault" / "__init__.py"
    code = module.read_text(encoding="utf-8")
    for old, new in OWN.items():
        assert old in code
        code = code.replace(old, new)
    module.write_text(code, encoding="utf-8")
    tested = installed.run(
        ["-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:asyncio", str(package)], home
    )
    assert tested.returncode == 0, tested.stdout + tested.stderr
    assert "5 passed" in tested.stdout

    again = environment.openprogram("plugins", "new", "team-vault", home=home)
    assert again.returncode == 1
    assert "is there already" in again.stderr


def test_what_is_written_is_typed_and_tidy(tmp_path: Path) -> None:
    write_plugin("Team.Vault", tmp_path)
    package = tmp_path / "team-vault"
    for arguments in (
        ["mypy", "--strict", "--cache-dir", str(tmp_path / "cache"), "src", "tests"],
        ["ruff", "check", "--isolated", "--no-cache", "--line-length", "110", "."],
        ["ruff", "format", "--check", "--isolated", "--no-cache", "--line-length", "110", "."],
    ):
        done = subprocess.run(
            [sys.executable, "-m", *arguments], cwd=package, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    "name",
    ["", "../up", "a b", "-x", "x-", "1st", "json", "class", "openprogram-x", "a" * 61, "x--y", "é"],
)
def test_a_name_that_is_none_is_refused_and_nothing_is_written(name: str, tmp_path: Path) -> None:
    with pytest.raises(ScaffoldError):
        write_plugin(name, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_missing_or_in_use_is_left_alone(tmp_path: Path) -> None:
    with pytest.raises(ScaffoldError, match="no folder"):
        write_plugin("team-vault", tmp_path / "nowhere")
    (tmp_path / "team-vault").write_text("mine", encoding="utf-8")
    with pytest.raises(ScaffoldError, match="is there already"):
        write_plugin("team-vault", tmp_path)
    assert (tmp_path / "team-vault").read_text(encoding="utf-8") == "mine"
    assert len(list(tmp_path.iterdir())) == 1
