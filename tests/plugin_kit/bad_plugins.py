"""Plugins that break the contract, each in its own way; modules of one package with an entry point each."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from openprogram_core.hookspecs import HOOK_NAMES

_ARGUMENTS = {
    "wrap_provider": "settings",
    "redact_value": "field_path, value",
    "compare_field": "field_path, recorded, incoming",
}
_HEAD = """
from openprogram_core import hookimpl
from openprogram_core.comparison import FieldSkip, FieldVerdict
from openprogram_core.providers import ProviderWrapper
from openprogram_core.redaction import FieldRule, ValueRule
"""


def _hook(name: str, body: str) -> str:
    return f"{_HEAD}\n@hookimpl\ndef {name}({_ARGUMENTS.get(name, '')}):\n    {body}\n"


_WRONG = {
    "wrap_provider": "return 'a wrapper'",
    "redact_value": "return 7 if value else None",
    "compare_field": "return True",
    "secret_rules": "return ['a rule']",
    "field_skips": "return 'timestamp'",
    "api_providers": "return {'echo': object()}",
}

MODULES: dict[str, str] = {
    "bad_import": "raise RuntimeError('no licence for ' + 'sk-' + 'proj-' + 'Abcd1234' * 6)",
    "bad_exit": "raise SystemExit(3)",
    "bad_signature": f"{_HEAD}\n@hookimpl\ndef secret_rules(everything):\n    return []\n",
    "bad_hook": f"{_HEAD}\n@hookimpl\ndef secret_rule():\n    return []\n",
    "bad_unmarked": f"{_HEAD}\ndef secret_rules():\n    return []\n",
    "bad_async": f"{_HEAD}\n@hookimpl\nasync def secret_rules():\n    return []\n",
    "bad_first": f"{_HEAD}\n@hookimpl(tryfirst=True)\ndef secret_rules():\n    return []\n",
    "bad_class": (
        f"{_HEAD}\nclass bad_class:\n    @hookimpl\n    def secret_rules(self):\n        return []\n"
        "\nimport sys\nsys.modules[__name__] = bad_class\n"
    ),
    "bad_empty": _HEAD,
    **{f"raises_{name}": _hook(name, "raise RuntimeError('out of order')") for name in HOOK_NAMES},
    **{f"exits_{name}": _hook(name, "raise SystemExit(0)") for name in ("redact_value", "compare_field")},
    **{f"wrong_{name}": _hook(name, body) for name, body in _WRONG.items()},
    "wrong_wrapped": _hook(
        "wrap_provider", "return ProviderWrapper('w', 'observer', lambda api, provider: None)"
    ),
    "wrong_generator": _hook("secret_rules", "yield from [1 / 0]"),
    "wrong_pattern": _hook(
        "secret_rules",
        "return [ValueRule(name='wp-look', literals=('wp_',), pattern='wp_(?=x)', matches=('wp_x',))]",
    ),
    "wrong_example": _hook(
        "secret_rules",
        "return [ValueRule(name='we-short', literals=('we_',), pattern='we_[0-9]{9}', matches=('we_12',))]",
    ),
    "slow_redact": _hook("redact_value", "import time; time.sleep(0.001)"),
    "slow_compare": _hook("compare_field", "import time; time.sleep(0.001)"),
    "slow_rule": _hook(
        "secret_rules",
        "return [ValueRule(name='sr-any', literals=(), pattern='[^x]{1,1000}x[0-9]', matches=('ax1',))]",
    ),
    "greedy_rule": _hook(
        "secret_rules",
        "return [ValueRule(name='gr-word', literals=('the',), pattern='the [a-z]+', matches=('the cat',))]",
    ),
    "broad_rule": _hook(
        "secret_rules",
        "return [ValueRule(name='br-path', literals=('example.com/a',), pattern='example.com/a[^ ]+', "
        "matches=('https://example.com/ab',))]",
    ),
    "mutates": _hook("compare_field", "isinstance(recorded, dict) and recorded.clear()"),
    "skips_all": _hook("compare_field", "return FieldVerdict.SKIP"),
    "impure": (
        f"{_HEAD}\nimport openai\nimport structlog\nimport tempfile, threading\n"
        "from openprogram_core.providers import register_api_provider\n"
        "from openprogram_core.testing import ScriptedProvider\n"
        "open(tempfile.gettempdir() + '/impure-' + str(threading.get_ident()), 'w').close()\n"
        "structlog.configure()\nregister_api_provider('impure', ScriptedProvider(['hi']))\n"
        "print('hello')\n\n@hookimpl\ndef field_skips():\n    return []\n"
    ),
    "claims_rule": _hook("secret_rules", "return [FieldRule(name='token', names=('cr',), matches=('cr',))]"),
    "claims_api": (
        f"{_HEAD}\nfrom openprogram_core.testing import ScriptedProvider\n\n@hookimpl\n"
        "def api_providers():\n    return {'anthropic-messages': ScriptedProvider(['mine']), "
        "'echo': ScriptedProvider(['echo'])}\n"
    ),
}


def write_bad_plugins(folder: Path) -> Path:
    """Write the package with all of them; returns its folder."""
    folder.mkdir()
    points = "\n".join(f'{name} = "{name}"' for name in MODULES)
    files = ", ".join(f'"{name}.py"' for name in MODULES)
    (folder / "pyproject.toml").write_text(
        f"""
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"
[project]
name = "bad-plugins"
version = "1.0"
[project.entry-points."openprogram.plugins"]
{points}
[tool.hatch.build.targets.wheel]
include = [{files}]
""",
        encoding="utf-8",
    )
    for name, code in MODULES.items():
        (folder / f"{name}.py").write_text(code, encoding="utf-8")
    return folder


def disable_others(home: Path, *names: str) -> None:
    """Configure a home in which only these of the bad plugins are enabled."""
    home.mkdir(exist_ok=True)
    (home / "config.toml").write_text(_configuration(name for name in MODULES if name not in names))


def _configuration(disabled: Iterable[str]) -> str:
    listed = ", ".join(f'"{name}"' for name in disabled)
    return f"[plugins]\ndisabled = [{listed}]\n"
