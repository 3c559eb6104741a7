from __future__ import annotations

import doctest
import re

import pytest

from openprogram_core import hookspecs
from openprogram_core._plugins import PluginSet
from openprogram_core.errors import PluginError
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


@pytest.mark.parametrize("plugin", [None, "acme", {}, object(), pytest])
def test_what_has_no_hooks_is_refused_where_it_is_handed_over(plugin: object) -> None:
    with pytest.raises(PluginError, match=r"it has no hooks \(it is .*\); pass a module or an instance"):
        PluginSet([], {}).with_plugins([plugin])


def test_plugins_is_a_list() -> None:
    for given in ("acme", object()):
        with pytest.raises(PluginError, match=r"plugins=\[\.\.\.\]"):
            PluginSet([], {}).with_plugins(given)  # type: ignore[arg-type]  # that is what the test is about


def test_a_key_is_not_in_the_repr_that_tracebacks_show() -> None:
    from openprogram_core.providers import Model, StreamOptions

    secret = "a-key-" + "0123456789"
    options = StreamOptions(api_key=secret, headers={"Authorization": f"Bearer {secret}"})
    model = Model(id="m", api="a", provider="p", headers={"x-api-key": secret})
    assert secret not in f"{options!r} {options} {model!r}"
