"""Building blocks of patterns that RE2 has no short form for."""

from __future__ import annotations

from openprogram_core.redaction import TOKEN_START, ValueRule


def with_digit(characters: str, least: int) -> str:
    """Return a pattern for ``least`` or more of the class ``characters``, one of them a digit."""
    pieces = [
        f"{characters}{{{place}}}[0-9]{characters}{{{least - 1 - place},}}" for place in range(least - 1)
    ]
    pieces.append(f"{characters}{{{least - 1},}}[0-9]{characters}*")
    return f"(?:{'|'.join(pieces)})"


def token_rule(
    name: str,
    literal: str | tuple[str, ...],
    pattern: str,
    matches: tuple[str, ...],
    rejects: tuple[str, ...] = (),
) -> ValueRule:
    """Return the rule for a token that begins with a literal of its issuer."""
    return ValueRule(
        name=name,
        literals=(literal,) if isinstance(literal, str) else literal,
        pattern=f"{TOKEN_START}(?P<secret>{pattern})",
        matches=matches,
        rejects=rejects,
    )
