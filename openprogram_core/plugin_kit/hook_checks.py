"""Calls every hook of one plugin with made-up values and checks what comes back against its contract."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import TYPE_CHECKING

from openprogram_core.errors import OpenProgramError, PluginError
from openprogram_core.plugin_kit.findings import Finding
from openprogram_core.plugin_kit.samples import STRINGS, differing_values

if TYPE_CHECKING:
    from openprogram_core._plugin_hooks import Hook
    from openprogram_core._plugins import PluginSet

_SEE_CONTRACT = "The hook's contract is in openprogram_core.hookspecs"
_WIDE_FIELDS = frozenset(
    ("", "context", "context.messages", "context.messages[*]", "messages", "content", "text", "model")
)


def check_hooks(name: str, alone: PluginSet) -> Iterator[Finding]:
    """Yield what is wrong with the hooks of ``name``. ``alone`` holds that one plugin."""
    for hook in alone.hooks("redact_value"):
        yield from _check_redact_value(hook)
    for hook in alone.hooks("compare_field"):
        yield from _check_compare_field(hook)
    yield from _check_declarations(name, alone)
    if not any(info.hooks for info in alone.report):
        yield Finding(
            "warning", name, None, "it has no hooks", "Mark its functions with @openprogram_core.hookimpl"
        )


def _raised(hook: Hook, hook_name: str, error: BaseException, with_what: str) -> Finding:
    return Finding(
        "error",
        hook.plugin,
        hook_name,
        f"raised {type(error).__name__} for {with_what}",
        "Return None for what it does not know; raising fails the call that is recorded or replayed",
    )


def _check_redact_value(hook: Hook) -> Iterator[Finding]:
    from openprogram_core.redaction import PLACEHOLDER

    for field_path, value in STRINGS:
        try:
            once = hook(field_path=field_path, value=value)
            twice = hook(field_path=field_path, value=once) if isinstance(once, str) else None
        except (Exception, SystemExit) as error:
            yield _raised(hook, "redact_value", error, f"the value {value!r} at {field_path or 'the root'}")
            return
        if once is not None and not isinstance(once, str):
            yield Finding(
                "error",
                hook.plugin,
                "redact_value",
                f"returned a {type(once).__name__}, not a string or None",
                "Return the whole string with the secret replaced, or None to leave it",
            )
            return
        if twice is not None and twice != once:
            yield Finding(
                "error",
                hook.plugin,
                "redact_value",
                f"redacting twice gives another result, for {value!r}",
                "Leave alone what it has returned; replay compares redacted with redacted",
            )
            return
        if once is not None and once != value and PLACEHOLDER not in once:
            yield Finding(
                "warning",
                hook.plugin,
                "redact_value",
                f"replaced text by something else than {PLACEHOLDER!r}",
                "Put openprogram_core.redaction.PLACEHOLDER there, so that everybody sees what happened",
            )
            return


def _check_compare_field(hook: Hook) -> Iterator[Finding]:
    from openprogram_core.comparison import FieldVerdict

    for field_path, recorded, incoming in differing_values():
        before = copy.deepcopy((recorded, incoming))
        try:
            verdict = hook(field_path=field_path, recorded=recorded, incoming=incoming)
        except (Exception, SystemExit) as error:
            yield _raised(hook, "compare_field", error, f"{recorded!r} and {incoming!r} at {field_path!r}")
            return
        if (recorded, incoming) != before:
            yield Finding(
                "error",
                hook.plugin,
                "compare_field",
                f"changed the values it was given, at {field_path!r}",
                "They belong to the caller: copy them first",
            )
            return
        if verdict is not None and not isinstance(verdict, FieldVerdict):
            yield Finding(
                "error",
                hook.plugin,
                "compare_field",
                f"returned a {type(verdict).__name__} at {field_path!r}",
                "Return FieldVerdict.SKIP, FieldVerdict.DIFFERENT or None",
            )
            return
        if verdict is FieldVerdict.SKIP and field_path in _WIDE_FIELDS:
            yield _too_wide(hook.plugin, "compare_field", field_path)
            return


def _check_declarations(name: str, alone: PluginSet) -> Iterator[Finding]:
    from openprogram_core.comparison import ComparisonPolicy
    from openprogram_core.providers import RuntimeSettings

    for hook_name, gather in (("secret_rules", alone.secret_rules), ("field_skips", alone.field_skips)):
        try:
            gather()
        except PluginError as error:
            yield Finding("error", name, hook_name, error.reason, _SEE_CONTRACT)
    _, api_errors = alone.api_providers()
    wrappers, wrap_errors = alone.provider_wrappers(RuntimeSettings("off", None, "ordered", alone))
    for wrapper in wrappers:
        wrapper.item.close()
    for fault in (*api_errors, *wrap_errors):
        yield Finding("error", name, fault.hook, fault.reason, _SEE_CONTRACT)
    try:
        skips = alone.field_skips()
        ComparisonPolicy.from_plugins(alone)
    except OpenProgramError as error:
        if not (isinstance(error, PluginError) and error.reason.startswith(("raised", "returned", "gave"))):
            yield Finding("error", name, "field_skips", str(error), "Write the path as a mismatch shows it")
        return
    for _, skip in skips:
        if skip.field in _WIDE_FIELDS:
            yield _too_wide(name, "field_skips", skip.field)


def _too_wide(plugin: str, hook_name: str, field_path: str) -> Finding:
    return Finding(
        "warning",
        plugin,
        hook_name,
        f"skips {field_path or 'the whole request'!r}, so a replay accepts whatever the code sends there",
        "Skip only the field that differs",
    )
