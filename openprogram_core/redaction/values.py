"""What stands right of a secret name in free text: a secret, a placeholder, or code that fetches one."""

from __future__ import annotations

import re
from urllib.parse import unquote

from openprogram_core.redaction.edits import PLACEHOLDER

_TEMPLATE = re.compile(
    r"""\$\{.*|\$\(.*|\$[A-Za-z_]\w*|%[A-Za-z_]\w*%|%\([a-z_]+\)s|%s|\{\{.*|\{%.*|\{[A-Za-z_][\w.!:]*\}
    |\$\d+|:[A-Za-z_]\w*|![A-Za-z]\w*
    |<[^<>]*>|<\w.*|\[[A-Za-z][^\]]*\]|\[secret\ removed.*|@[A-Za-z_.]+@|\#\{.*""",
    re.VERBOSE | re.DOTALL,
)
_MASK = re.compile(r"(?:[*•.…xX_#?-]|\\u2022|\\u2026|%2A)+")
_STAND_IN_FIRST = (
    "your",
    "my",
    "the",
    "an",
    "a",
    "some",
    "any",
    "insert",
    "enter",
    "put",
    "replace",
    "example",
)
_STAND_IN_MORE = ("dummy", "fake", "placeholder", "sample")
_STAND_IN_LAST = ("here", "key", "token", "secret", "password", "value", "goes")
_LONGEST_STAND_IN = 48
_NOTHING = frozenset(
    [
        "true",
        "false",
        "null",
        "none",
        "nil",
        "undefined",
        "nan",
        "yes",
        "no",
        "on",
        "off",
        "str",
        "string",
        "int",
        "integer",
        "float",
        "number",
        "bool",
        "boolean",
        "bytes",
        "any",
        "object",
        "array",
        "dict",
        "list",
        "optional",
        "required",
        "redacted",
        "removed",
        "hidden",
        "masked",
        "secret",
        "secrets",
        "password",
        "passwords",
        "passwd",
        "token",
        "tokens",
        "key",
        "keys",
        "apikey",
        "api_key",
        "api-key",
        "credential",
        "credentials",
        "auth",
        "authorization",
        "bearer",
        "basic",
        "digest",
        "cookie",
        "text",
        "varchar",
        "secretstr",
        "self",
        "this",
        "function",
        "lambda",
        "await",
        "async",
        "new",
        "return",
        "const",
        "let",
        "var",
    ]
)
_DOTTED = re.compile(r"[A-Za-z_$][\w$]*(?:(?:\.|->|::|\?\.)[A-Za-z_$][\w$]*)+")
_CALL = re.compile(r"[A-Za-z_$][\w$]*(?:(?:\.|->|::|\?\.)[A-Za-z_$][\w$]*)*!?[(\[{].*", re.DOTALL)
_JOINT = re.compile(r"[-_ ]+")
_WORDS = re.compile(r"[^\W\d_]+(?:[-_.][^\W\d_]+)*")


def is_stand_in(value: str) -> bool:
    """Whether ``value`` is nothing, a template, a mask or the usual words for "put it here"."""
    text = unquote(value).strip() if "%" in value else value.strip()
    if not text or (PLACEHOLDER in text and len(text) <= len(PLACEHOLDER) + 4):
        return True
    if text.lower() in _NOTHING or not any(map(str.isalnum, text)):
        return True
    return _TEMPLATE.fullmatch(text) is not None or _MASK.fullmatch(text) is not None or _is_put_it_here(text)


def _is_put_it_here(text: str) -> bool:
    if len(text) > _LONGEST_STAND_IN:
        return False
    words = _JOINT.split(text.lower())
    if not all(word.isalpha() for word in words):
        return False
    # `YOURAPIKEY` is one word; `a` and `the` count only as words of their own.
    begins = words[0] in _STAND_IN_FIRST + _STAND_IN_MORE or words[0].startswith("your")
    return begins and words[-1].endswith(_STAND_IN_LAST)


def is_code(value: str) -> bool:
    """Whether an unquoted ``value`` fetches something: a call, a look-up, an attribute."""
    if _CALL.match(value):
        return True
    return _DOTTED.fullmatch(value) is not None and not any(character.isdigit() for character in value)


def is_word(value: str) -> bool:
    """Whether ``value`` is made of letters only, with single joints: a word, a name, an identifier."""
    return _WORDS.fullmatch(value.strip("_")) is not None


def is_secret_in_prose(value: str) -> bool:
    """Whether ``value`` looks like a secret within a sentence: ``the password is base64`` has none."""
    if not is_strong(value) or value.startswith(("http:", "https:", "/")):
        return False
    runs = re.findall(r"[0-9]+", value)
    marks = any(character in "!@#$%^&*+=?" for character in value)
    cases = value.lower() != value and value.upper() != value
    return (
        marks
        or (len(runs) > 1 and len(value) >= 10 and (cases or "-" not in value))
        or (cases and len(value) >= 16)
    )


def is_strong(value: str) -> bool:
    """Whether ``value`` alone looks like a secret: long enough, digits among letters, no blank."""
    if len(value) < 8 or any(character.isspace() for character in value):
        return False
    has_digit = any(character.isdigit() for character in value)
    has_letter = any(character.isalpha() for character in value)
    return has_digit and has_letter and not is_code(value)
