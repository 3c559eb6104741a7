"""What a plugin gives to redaction: rules for secrets, each with its own examples."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class FieldRule:
    """A field whose whole value is a secret, by its name.

    ``names`` are whole field names; ``segments`` are runs of name segments, so ``client_secret`` also covers
    ``oauth_client_secret``. Case does not count and ``-``, ``_`` and camelCase are alike; substrings never
    match. ``except_names`` are whole names that are not secret although they match.

    ``matches`` and ``rejects`` are field names that must and must not match; they are checked when the rule
    is loaded.
    """

    name: str
    names: tuple[str, ...] = ()
    segments: tuple[str, ...] = ()
    except_names: tuple[str, ...] = ()
    matches: tuple[str, ...]
    rejects: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class ValueRule:
    """A secret by its shape, anywhere in a text.

    ``literals``: one of these stands in every match (case does not count), so that clean text costs one scan
    however many rules there are. ``pattern`` is in RE2 syntax, found around a literal. It removes its group
    named ``secret``, else the whole match. A rule without literals is allowed and costs what it costs.

    ``matches`` are texts with a secret, ``rejects`` texts that must stay as they are; they are checked when
    the rule is loaded.
    """

    name: str
    literals: tuple[str, ...]
    pattern: str
    matches: tuple[str, ...]
    rejects: tuple[str, ...] = ()


SecretRule = FieldRule | ValueRule
"""What the hook ``secret_rules`` returns a sequence of."""
