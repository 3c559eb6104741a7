"""Redaction: rules, the compiled matcher, the tree walk and the stream redactor."""

from openprogram_core.redaction.rules import FieldRule, SecretRule, ValueRule

__all__ = ["FieldRule", "SecretRule", "ValueRule"]
