"""The redactor: everything compiled from a plugin set, and what is known in one call."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from openprogram_core._json import dump_json, dump_model
from openprogram_core.errors import RedactionError
from openprogram_core.redaction.blocks import StreamRules
from openprogram_core.redaction.changes import Change, apply_change
from openprogram_core.redaction.edits import apply_edits
from openprogram_core.redaction.explain import Finding, TextFinding, findings, text_findings
from openprogram_core.redaction.finder import Finder
from openprogram_core.redaction.hooks import value_hook
from openprogram_core.redaction.known import KnownValues, learn
from openprogram_core.redaction.memo import Memo
from openprogram_core.redaction.parts import PartRedactor, RedactedRequest, request_parts
from openprogram_core.redaction.places import BODY, REQUEST, Place
from openprogram_core.redaction.rules import ValueRule
from openprogram_core.redaction.scanner import Scanner, StreamGate, check_field_rules, rule_fingerprint
from openprogram_core.redaction.streams import StreamRedactor

if TYPE_CHECKING:
    from openprogram_core._plugins import PluginSet
    from openprogram_core.providers.events import AssistantMessageEvent
    from openprogram_core.providers.messages import Context, Model
    from openprogram_core.providers.options import StreamOptions

REDACTION_PLUGIN = "openprogram_redaction"
_KNOWN_SETS = 64


class Redactor:
    """The compiled rules of a plugin set. Immutable and thread-safe; make one with `from_plugins`."""

    def __init__(self, plugins: PluginSet) -> None:
        contributions = plugins.secret_rules()
        check_field_rules(contributions)
        self.scanner = Scanner(contributions)
        self.hook = value_hook(plugins)
        self._parts = PartRedactor(self.scanner, self.hook)
        self._known: Memo[KnownValues] = Memo(_KNOWN_SETS)
        self._gates: Memo[StreamGate] = Memo(_KNOWN_SETS)
        self._numbers = itertools.count(1)
        self._plain_gate = self.scanner.stream_gate()
        providers = {plugin for plugin, _ in contributions} | {
            hook.plugin for hook in plugins.hooks("redact_value")
        }
        self._versions = {info.name: info.version for info in plugins.report if info.name in providers}
        self._fingerprint = rule_fingerprint(contributions)
        self.literals = frozenset(
            literal.lower()
            for _, rule in contributions
            if isinstance(rule, ValueRule)
            for literal in rule.literals
        )
        """The value rules' literals: a stream may show all but the end of one before it is complete."""

    @classmethod
    def from_plugins(cls, plugins: PluginSet) -> Redactor:
        """Return the redactor of a plugin set, compiled once a set.

        Raises RedactionError when the built-in rules are not loaded or a rule is not sound, and PluginError
        when a plugin failed to load: its rules might be the missing ones.
        """
        return plugins.remember("redactor", lambda: cls._make(plugins))

    @classmethod
    def _make(cls, plugins: PluginSet) -> Redactor:
        plugins.require_complete()
        if REDACTION_PLUGIN not in plugins.names():
            raise RedactionError(
                "the built-in rules are not loaded, and there is no recording without them. "
                "Take it out of [plugins] disabled in config.toml",
                plugin=REDACTION_PLUGIN,
            )
        return cls(plugins)

    def header(self) -> dict[str, Any]:
        """Return what a recording's header says: the plugins with their versions, the rules' fingerprint."""
        return {"plugins": dict(self._versions), "rules": self._fingerprint}

    def open_call(self, known_values: Iterable[str] = ()) -> CallRedactor:
        """Begin one provider call. ``known_values`` are secret wherever they stand, from 8 characters on."""
        return CallRedactor(self, known_values)

    def remove_secret_values(self, value: Any, *, field_path: str = "") -> Any:
        """Return ``value`` redacted; it is not changed, and what is clean comes back as the same object.

        Takes JSON values, tuples, bytes and pydantic models (which come back as their JSON dump when
        something was removed). What stands under a secret field is removed wherever else it stands in
        ``value``. Raises TypeError for anything else, naming its path.
        """
        change, tree = self.find(value, field_path=field_path)
        return value if change is None else apply_change(tree, change)

    def explain(self, value: Any, *, field_path: str = "") -> list[Finding]:
        """Return what would be removed from ``value``: where, and by which rule of which plugin."""
        change, tree = self.find(value, field_path=field_path)
        return findings(tree, change, field_path)

    def redact_text(self, text: str) -> tuple[str, list[TextFinding]]:
        """Redact a text, which may be JSON, and say what was removed, by line and column."""
        change, _ = self.find(text)
        if change is None:
            return text, []
        return apply_edits(text, change.edits), text_findings(text, change.edits)

    def find(
        self, value: Any, *, field_path: str = "", known: KnownValues | None = None
    ) -> tuple[Change | None, Any]:
        """Return the change that redacts ``value``, and the tree it belongs to."""
        if known is None and self.hook is None and self._is_clean(value):
            return None, value
        tree = value.model_dump(mode="json") if isinstance(value, BaseModel) else value
        place = _place_of(tree)
        finder = Finder(self.scanner, known, self.hook)
        change = finder.find(tree, place, field_path)
        if finder.learned:
            values = set(finder.learned) | set(known.values if known is not None else ())
            known = self.known(values)
            change = Finder(self.scanner, known, self.hook).find(tree, place, field_path)
        return change, tree

    def _is_clean(self, value: Any) -> bool:
        """Whether one scan of all of ``value``, joined as JSON, shows that nothing in it is secret."""
        try:
            if isinstance(value, BaseModel):
                data = dump_model(value)
            elif isinstance(value, str):
                data = value.encode("utf-8", "surrogatepass")
            else:
                data = dump_json(value)
        except (TypeError, ValueError, RecursionError):
            return False
        return self.scanner.is_clean(data)

    def known(self, values: Iterable[str]) -> KnownValues | None:
        """Compile a set of known values, the same set once; None when it is empty."""
        key = frozenset(values)
        if not key:
            return None
        known = self._known.get(key)
        if known is None:
            known = KnownValues(key, next(self._numbers))
            self._known.put(key, known, 1)
        return known

    def stream_gate(self, known: KnownValues | None) -> StreamGate:
        """Return the gate for streams of calls in which ``known`` is known, built once."""
        if known is None:
            return self._plain_gate
        gate = self._gates.get(known.number)
        if gate is None:
            gate = self.scanner.stream_gate(known.stream_heads)
            self._gates.put(known.number, gate, 1)
        return gate

    @property
    def parts(self) -> PartRedactor:
        """The memory of parts that requests share."""
        return self._parts


class CallRedactor:
    """One provider call: what is known to be secret in it, and its stream. For one consumer."""

    def __init__(self, redactor: Redactor, known_values: Iterable[str] = ()) -> None:
        self._redactor = redactor
        self._values = {found for value in known_values for found in learn(value)}
        self._known = redactor.known(self._values)
        self._stream: StreamRedactor | None = None

    def request(self, model: Model, context: Context, options: StreamOptions | None) -> RedactedRequest:
        """Redact the request and learn what stands under its secret fields.

        Raises RedactionError when a plugin's hook fails.
        """
        engine = self._redactor.parts
        parts = request_parts(model, context, options)
        redacted = engine.redact(parts)
        for part in redacted:
            self._values.update(part.learned)
        self._known = self._redactor.known(self._values)
        if self._known is not None:
            redacted = engine.redact_known(parts, redacted, self._known)
        return RedactedRequest(redacted, engine.load)

    def event(self, event: AssistantMessageEvent) -> Sequence[AssistantMessageEvent | dict[str, Any]]:
        """Return the payloads of the rows to write for one event, usually the very same event.

        The last payload belongs to the event; one before it is the recorder's own, with what was held back.
        Raises RedactionError when a plugin's hook fails.
        """
        return self._open_stream().event(event)

    def finish(self) -> Sequence[AssistantMessageEvent | dict[str, Any]]:
        """Return the payloads of the rows still to write when the stream ended before its blocks did."""
        return self._stream.finish() if self._stream is not None else ()

    def value(self, value: Any, field_path: str = "") -> Any:
        """Redact another value of this call, an error for example."""
        change, tree = self._redactor.find(value, field_path=field_path, known=self._known)
        return value if change is None else apply_change(tree, change)

    def _open_stream(self) -> StreamRedactor:
        if self._stream is None:
            redactor = self._redactor
            gate = redactor.stream_gate(self._known)
            self._stream = StreamRedactor(StreamRules(redactor.scanner, gate, self._known, redactor.hook))
        return self._stream


def _place_of(value: Any) -> Place:
    if isinstance(value, Mapping) and value and set(value) <= {"model", "context", "options"}:
        context = value.get("context")
        if isinstance(context, Mapping) and "messages" in context:
            return REQUEST
    return BODY
