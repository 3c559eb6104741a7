from __future__ import annotations

import doctest
import re

import pytest

from openprogram_core import hookspecs
from openprogram_core._plugins import PluginSet
from openprogram_core.hookspecs import HOOK_NAMES, HookSpecs


@pytest.mark.parametrize("name", HOOK_NAMES)
def test_the_example_in_a_hooks_contract_is_a_plugin_with_that_hook(name: str) -> None:
    text = getattr(HookSpecs, name).__doc__
    example = doctest.DocTestParser().get_doctest(text, {}, name, hookspecs.__file__, 0)
    assert example.examples
    runner = doctest.DocTestRunner(verbose=False)
    result = runner.run(example, clear_globs=False)
    assert result.failed == 0
    class_name = re.findall(r"class (\w+)", text)[-1]
    plugins = PluginSet([], {}).with_plugins([example.globs[class_name]()])
    assert [len(plugins.hooks(hook)) for hook in HOOK_NAMES] == [int(hook == name) for hook in HOOK_NAMES]


def test_the_list_of_hooks_is_complete() -> None:
    specs = [name for name in vars(HookSpecs) if not name.startswith("_")]
    assert sorted(specs) == sorted(HOOK_NAMES)
