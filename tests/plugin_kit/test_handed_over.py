"""Plugins handed over in code: what is none is told with what to write instead, and never by an address."""

from __future__ import annotations

import pytest

import openprogram_core
from openprogram_core import PluginSet
from openprogram_core.errors import PluginError


class Team:
    @openprogram_core.hookimpl
    def field_skips(self) -> list[object]:
        return []


class Misspelled:
    @openprogram_core.hookimpl
    def secret_rule(self) -> list[object]:
        return []


class Greedy:
    @openprogram_core.hookimpl
    def secret_rules(self, everything: object) -> list[object]:
        return []


class Hookless:
    pass


@pytest.mark.parametrize(
    ("plugin", "said"),
    [
        (Team, "plugin 'Team': is the class Team; pass an instance: Team()"),
        (Misspelled(), "plugin 'Misspelled': unknown hook 'secret_rule'. The hooks are "),
        (Greedy(), "plugin 'Greedy': Plugin 'Greedy' for hook 'secret_rules' "),
        (Hookless(), "plugin 'Hookless': it has no hooks (it is "),
    ],
)
def test_what_is_no_plugin_is_named_and_mended(plugin: object, said: str) -> None:
    with pytest.raises(PluginError) as caught:
        PluginSet((), {}).with_plugins([plugin])
    assert str(caught.value).startswith(said)
    assert " at 0x" not in str(caught.value)


def test_an_instance_is_one() -> None:
    assert PluginSet((), {}).with_plugins([Team()]).names() == ("Team",)
