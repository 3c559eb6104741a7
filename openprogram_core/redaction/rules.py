"""What a plugin gives to redaction: rules for secrets, each with its own examples."""

from __future__ import annotations

from dataclasses import dataclass

TOKEN_START = r"(?:\b|\\[nrtbfv]|\\u[0-9A-Fa-f]{4}|%[0-9A-Fa-f]{2}|\x1b\[[0-9;]{0,4}m)"
"""Begin a pattern with it where a token begins: a word boundary, or an escape whose letter is glued to it
(``\\nghp_``, ``%22ghp_``). Put the token in the group ``secret``, so that the escape stays."""


@dataclass(frozen=True, kw_only=True)
class FieldRule:
    """A field whose whole value is a secret, by its name.

    ``names`` are whole field names; ``segments`` are runs of name segments, so ``client_secret`` also covers
    ``oauth_client_secret`` and ``client_secret_v2``; ``endings`` are runs that end a name, so ``token``
    covers ``github_token`` and not ``token_count``. Case does not count, ``-``, ``_`` and camelCase are
    alike, digits at the end of a name are overlooked, substrings never match. ``except_names`` are whole
    names that are not secret although they match, ``except_segments`` runs that make a name harmless.

    The same names count in free text: ``name=value``, ``"name": "value"``, ``--name value`` and their kin.

    ``matches`` and ``rejects`` are field names that must and must not match; they are checked when the rule
    is loaded.
    """

    name: str
    names: tuple[str, ...] = ()
    segments: tuple[str, ...] = ()
    endings: tuple[str, ...] = ()
    except_names: tuple[str, ...] = ()
    except_segments: tuple[str, ...] = ()
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
