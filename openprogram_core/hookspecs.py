"""Every hook of the project, each with its contract.

A plugin is a module or a plain object with functions marked by `openprogram_core.hookimpl`. It is found
through an entry point in the group ``openprogram.plugins``, or handed to ``recording(..., plugins=[...])``
and ``replaying(..., plugins=[...])``. Hooks are plain functions, called synchronously, possibly from several
threads at once. Implementations are collected once and called by plugin name, so ``tryfirst``, ``trylast``
and wrappers have no meaning here and are refused.

A hook may leave out arguments it does not need. What it is given belongs to the caller: do not change it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import pluggy

if TYPE_CHECKING:
    from openprogram_core.comparison.verdicts import FieldSkip, FieldVerdict
    from openprogram_core.providers.provider import ApiProvider
    from openprogram_core.providers.wrapping import ProviderWrapper, RuntimeSettings
    from openprogram_core.redaction.rules import SecretRule

PROJECT = "openprogram"

hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)


class HookSpecs:
    """The hooks. The examples below are complete plugins and run in the tests."""

    @hookspec
    def wrap_provider(self, settings: RuntimeSettings) -> ProviderWrapper | None:
        """Take a place around every provider.

        Called once, when the runtime is activated. Return a `ProviderWrapper`, or None to stay out. Raising
        blocks every provider: a recorder that could not start must not look like one that did.

        >>> import openprogram_core
        >>> from openprogram_core.providers import ProviderWrapper
        >>> class CountCalls:
        ...     calls = 0
        ...     @openprogram_core.hookimpl
        ...     def wrap_provider(self, settings):
        ...         return ProviderWrapper("count", "observer", self.wrap)
        ...     def wrap(self, api, provider):
        ...         self.calls += 1
        ...         return provider
        """
        raise NotImplementedError

    @hookspec
    def redact_value(self, field_path: str, value: str) -> str | None:
        """Replace what no pattern can describe in a string.

        Called for each string left after the rules, with the path of its field. Return the whole string with
        the secret replaced by `openprogram_core.redaction.PLACEHOLDER`, or None to leave it. Redacting what
        this returned must change nothing. Raising fails the call that was to be recorded; the value is not in
        the error. While such a plugin is installed, a streamed block's text is written in one piece at its
        end.

        >>> import openprogram_core
        >>> class StaffNumbers:
        ...     @openprogram_core.hookimpl
        ...     def redact_value(self, value):
        ...         return value.replace("E-1234", "[secret removed]") if "E-1234" in value else None
        """
        raise NotImplementedError

    @hookspec
    def compare_field(self, field_path: str, recorded: Any, incoming: Any) -> FieldVerdict | None:
        """Judge two values that differ.

        Called only where a recorded and an incoming value differ, from the top down. Return
        ``FieldVerdict.SKIP`` when the difference, with all below it, does not count,
        ``FieldVerdict.DIFFERENT`` when it does, or None to pass the question on. The first answer wins.

        >>> import openprogram_core
        >>> from openprogram_core.comparison import FieldVerdict
        >>> class IgnoreTraceIds:
        ...     @openprogram_core.hookimpl
        ...     def compare_field(self, field_path):
        ...         return FieldVerdict.SKIP if field_path.endswith(".trace_id") else None
        """
        raise NotImplementedError

    @hookspec
    def secret_rules(self) -> Iterable[SecretRule]:
        """Declare secrets by field name or by shape.

        Called once, when the matcher is compiled. Return `FieldRule`s and `ValueRule`s. Names are unique over
        all plugins; prefix them with your own. A rule that does not compile or fails its own examples is an
        error that names the rule and the plugin.

        >>> import openprogram_core
        >>> from openprogram_core.redaction import FieldRule, ValueRule
        >>> class AcmeSecrets:
        ...     @openprogram_core.hookimpl
        ...     def secret_rules(self):
        ...         return [
        ...             ValueRule(
        ...                 name="acme-token",
        ...                 literals=("acme_",),
        ...                 pattern=r"acme_[a-z0-9]{12}",
        ...                 matches=("acme_" + "0123456789ab",),
        ...                 rejects=("acme_corp",),
        ...             ),
        ...             FieldRule(name="acme-field", segments=("vault_pin",), matches=("acme_vault_pin",)),
        ...         ]
        """
        raise NotImplementedError

    @hookspec
    def field_skips(self) -> Iterable[FieldSkip]:
        """Declare fields that differ on every run and are not compared, nor anything below them.

        Called once, when comparison is set up. What was skipped, and by whom, is in the report of a mismatch.
        A bare name reaches fields of our own types and headers; below metadata, bodies, arguments and schemas
        declare a path.

        >>> import openprogram_core
        >>> from openprogram_core.comparison import FieldSkip
        >>> class VendorSkips:
        ...     @openprogram_core.hookimpl
        ...     def field_skips(self):
        ...         return [FieldSkip("options.metadata.trace_id", reason="new on every run")]
        """
        raise NotImplementedError

    @hookspec
    def api_providers(self) -> Mapping[str, ApiProvider]:
        """Add wire APIs.

        Called once, before the wrapping. Import the vendor's SDK inside the provider's call, not at import.
        An API that two plugins claim goes to neither.

        >>> import openprogram_core
        >>> from openprogram_core.testing import ScriptedProvider
        >>> class EchoVendor:
        ...     @openprogram_core.hookimpl
        ...     def api_providers(self):
        ...         return {"echo-chat": ScriptedProvider(["hello"])}
        """
        raise NotImplementedError


HOOK_NAMES: tuple[str, ...] = (
    "wrap_provider",
    "redact_value",
    "compare_field",
    "secret_rules",
    "field_skips",
    "api_providers",
)
