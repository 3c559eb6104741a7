"""What counts as a difference: the declared skips, the plugins' verdicts, and how placeholders are read."""

from __future__ import annotations

import marshal
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from openprogram_core.comparison.digest import fingerprint
from openprogram_core.comparison.given import as_field_skips, check_request_skips
from openprogram_core.comparison.paths import FieldPathError
from openprogram_core.comparison.placeholders import nothing_begins
from openprogram_core.comparison.skips import Skips
from openprogram_core.comparison.verdicts import FieldSkip, FieldVerdict
from openprogram_core.errors import PluginError

if TYPE_CHECKING:
    from openprogram_core._plugins import PluginSet
    from openprogram_core.redaction import Redactor

MAY_LACK_SECRETS = frozenset({"model", "options"})
"""Parts of a request in which a removed secret may be absent: keys and headers, never what is said."""

SHORTEST_PIECE = 4
"""Characters of a known value from which on a stream holds it back; a rule's literal is held once whole."""

SKIP_ARGUMENT = "skip argument"
"""Stands in a report in the place of a plugin's name for what was given as ``skip=[...]``."""


class _CompareHook(NamedTuple):
    plugin: str
    call: Callable[..., Any]


@dataclass(frozen=True)
class ComparisonPolicy:
    """Immutable and thread-safe. Made by `exact`, `from_plugins` or `for_replay`."""

    skips: Skips = field(default_factory=Skips)
    hooks: tuple[_CompareHook, ...] = ()
    placeholder: str | None = None
    secret_field: Callable[[str], bool] | None = None
    begins_secret: Callable[[str], bool] = nothing_begins

    @classmethod
    def exact(cls, skip: Iterable[str | FieldSkip] = ()) -> ComparisonPolicy:
        """No plugin takes part; only ``skip`` is skipped. Raises `FieldPathError`."""
        return cls(Skips(given=_given(skip)))

    @classmethod
    def from_plugins(cls, plugins: PluginSet, skip: Iterable[str | FieldSkip] = ()) -> ComparisonPolicy:
        """Take the plugins' ``field_skips`` and ``compare_field``, and ``skip`` for this use alone.

        Raises PluginError for a skip that cannot be read or is none, `FieldPathError` for one in ``skip``.
        """
        policy = plugins.remember("comparison.policy", lambda: cls._compile(plugins))
        given = _given(skip)
        if not given:
            return policy
        return replace(policy, skips=Skips(_declared_once(plugins), given))

    @classmethod
    def for_replay(
        cls, plugins: PluginSet, redactor: Redactor, skip: Iterable[str | FieldSkip] = ()
    ) -> ComparisonPolicy:
        """Like `from_plugins`, and read the placeholder of redaction for what it is.

        In a recorded text it stands for a placeholder, before which may stand what a stream shows of a secret
        before it is known for one, or for eight characters and more without whitespace. A field
        with a secret name below ``model`` or ``options`` that holds it on one side and is absent on the other
        is no difference. Raises `FieldPathError` also for a path in ``skip`` that leads into no request.
        """
        from openprogram_core.redaction import PLACEHOLDER

        @lru_cache(maxsize=1024)
        def secret_field(key: str) -> bool:
            probe = redactor.remove_secret_values({key: "x"})
            return isinstance(probe, dict) and probe.get(key) == PLACEHOLDER

        policy = cls.from_plugins(plugins, check_request_skips(skip))
        return replace(
            policy,
            placeholder=PLACEHOLDER,
            secret_field=secret_field,
            begins_secret=plugins.remember("comparison.beginnings", lambda: _beginnings(redactor.literals)),
        )

    @classmethod
    def _compile(cls, plugins: PluginSet) -> ComparisonPolicy:
        hooks = tuple(_CompareHook(hook.plugin, hook) for hook in plugins.hooks("compare_field"))
        return cls(Skips(_declared_once(plugins)), hooks)

    def fingerprint(self, value: Any) -> bytes:
        """Return 16 bytes; when they are the same, the values are equal under this policy.

        The value stands at the root. Not the other way round: values that are equal by a hook's word, or
        where a placeholder stands for text, have other bytes.
        """
        return fingerprint(value, self.skips, self.skips.paths, self.may_be_absent, MAY_LACK_SECRETS)

    def may_be_absent(self, key: object, value: Any) -> bool:
        """Whether a field is a removed secret, which a side that needs no key may lack."""
        if self.placeholder is None or self.secret_field is None or type(key) is not str:
            return False
        return type(value) is str and value == self.placeholder and self.secret_field(key)

    def compares(self, path: str) -> bool:
        """Whether no declared skip covers a place."""
        return self.skips.at(path)[1] is None

    def compares_length(self, path: str) -> bool:
        """Whether two lists at a place must have as many items; not when single items are skipped."""
        state, origin = self.skips.at(path)
        return origin is None and not (state is not None and state.skips_items())

    def verdict(self, path: str, recorded: Any, incoming: Any) -> tuple[FieldVerdict | None, str]:
        """Ask the plugins about two values that differ; the first answer and whose it is.

        Raises PluginError when a hook raised, returned what is no verdict, or changed what it was given.
        """
        before = _image(recorded, incoming) if self.hooks else []
        for hook in self.hooks:
            try:
                answer = hook.call(field_path=path, recorded=recorded, incoming=incoming)
            except (Exception, SystemExit) as error:
                # Not its message: that may quote a value.
                raise PluginError(
                    hook.plugin, "compare_field", f"raised {type(error).__name__} at field {path or '(root)'}"
                ) from error
            if _image(recorded, incoming) != before:
                # They belong to others: what is read from them afterwards would be the plugin's.
                raise PluginError(
                    hook.plugin,
                    "compare_field",
                    f"changed the values it was given at field {path or '(root)'}; let it copy them first",
                )
            if answer is None:
                continue
            if not isinstance(answer, FieldVerdict):
                raise PluginError(
                    hook.plugin,
                    "compare_field",
                    f"returned {type(answer).__name__} at field {path or '(root)'}; "
                    "return FieldVerdict.SKIP, FieldVerdict.DIFFERENT or None",
                )
            return answer, hook.plugin
        return None, ""


def _beginnings(literals: Iterable[str]) -> Callable[[str], bool]:
    """Return what says whether a stream may have shown a text of a secret before that was known for one."""
    beginnings = {literal[:end].lower() for literal in literals for end in range(1, len(literal))}

    def begins_secret(text: str) -> bool:
        return len(text) < SHORTEST_PIECE or text.lower() in beginnings

    return begins_secret


def _image(*values: Any) -> list[bytes]:
    try:
        # The fastest way to write down a tree; version 2 writes equal values the same.
        return [marshal.dumps(value, 2) for value in values if isinstance(value, dict | list)]
    except ValueError:
        # No JSON value, or too deep a one: nothing that is recorded.
        return []


def _declared_once(plugins: PluginSet) -> Sequence[tuple[str, FieldSkip]]:
    return plugins.remember("comparison.skips", lambda: _declared(plugins))


def _declared(plugins: PluginSet) -> Sequence[tuple[str, FieldSkip]]:
    declared = plugins.field_skips()
    for plugin, skip in declared:
        try:
            Skips([(plugin, skip)])
        except FieldPathError as error:
            raise PluginError(plugin, "field_skips", str(error)) from error
    return [(plugin, skip) for plugin, skip in declared]


def _given(skip: Iterable[str | FieldSkip]) -> list[tuple[str, FieldSkip]]:
    return [(SKIP_ARGUMENT, one) for one in as_field_skips(skip)]
