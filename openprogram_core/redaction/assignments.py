"""Secret names in free text and what is assigned to them.

Covers ``name=value``, ``name: value``, ``"name": "value"`` at any depth of escaping, ``name => value``,
``--name value``, ``<name>value</name>``, header lines, form bodies and query strings. The caller finds where
a name may end; everything here looks only at the neighbourhood, so a text costs what its names cost.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable

from openprogram_core.redaction.edits import PLACEHOLDER, Edit, Source
from openprogram_core.redaction.markup import is_unfinished, marked_up
from openprogram_core.redaction.values import is_code, is_secret_in_prose, is_stand_in, is_strong, is_word

_NAME_LENGTH = 64
_NAME_CHARACTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.%-")
# Percent-encoded letters, `-` and `_`, but no encoded `=` or quote.
_NAME_AFTER = re.compile(r"(?:[A-Za-z0-9_-]|%(?:2[dD]|5[fF]|[46][1-9a-fA-F]|[57][0-9aA]))*")
_QUOTE = r"""(?:\\*["'`]|&quot;|&\#0?3[49];|&apos;|%22|%27)"""
_SEPARATOR = re.compile(
    rf"""(?P<close>{_QUOTE})?
    (?P<bracket>\\?\])?
    (?P<mark>[*]{{1,3}}|_{{2}})?
    (?:
        [ \t]{{0,16}}(?P<sign>=>|:=|={{1,3}}|::?|%3[ADad])(?:[*]{{1,3}}(?=[ \t]))?
        (?P<blank>(?:[ \t]|%20|\\[nrt])*
            (?P<next_line>\r?\n[ \t]*(?=["'{{\[])
            |(?P<block>[|>][+-]?[ \t]*)?\r?\n[ \t]+(?=[^\s"'{{\[]))?)
      | (?P<listed>,[ \t]*(?:\r?\n[ \t]*)?(?:{_QUOTE}?value{_QUOTE}?[ \t]*[:=][ \t]*)?)(?=b?{_QUOTE})
      | [ \t]+value[ \t]*=[ \t]*(?={_QUOTE})
      | (?P<array>\[\d*\][ \t]*=[ \t]*|\{{(?=")|[ ]\{{[ ]get;[^}}"'\n]*\}}[ ]*=[ ]*)(?={_QUOTE})
      | (?P<weak>[ \t]*(?:->|\|\||\?\?|\()[ \t]*|[ \t]+(?:is|was|or)[ \t]*:?[ \t]+)(?=[^\s])
      | (?P<option>[ \t]+)
    )
    (?P<annotation>&?(?:'static[ ])?[A-Za-z_][\w.]*(?:\[[\w., |\[\]]*\])?(?:[ ]?\|[ ]?None)?
        [ \t]+=[ \t]*(?!=))?
    (?:(?:new[ ])?(?:[\w.]*Secret(?:Str|Bytes|String)?|String(?:::from)?|Some|Just|str|bytes
        |base64\.b64decode|Buffer\.from|atob)\((?={_QUOTE}))?
    """,
    re.VERBOSE,
)
_OPENING = re.compile(rf"""(?P<prefix>[bBrRfFuU]{{1,2}})?(?P<quote>"{{3}}|'{{3}}|{_QUOTE})""")
_BARE = re.compile(
    r"""[^\s"'`<>&;,|\\)\]}]+
    (?:[,|)\]}](?=[A-Za-z0-9!@#$%^*_+-][^\s"'`<>&;,|\\)\]}=]*(?:[\s"'&;,]|\Z))[^\s"'`<>&;,|\\)\]}=]+)*""",
    re.VERBOSE,
)
_ENVIRONMENT = re.compile(r"""[^\s"'`;&]+(?:[;&](?![A-Za-z]\w*=)[^\s"'`;&]+)*""")
_COMMAND = re.compile(
    r"(?:\b(?:env|setenv|setx)|\bset[ \t]+-[gUxu]*x[gUxu]*|#[ \t]*define)[ \t]+\Z", re.IGNORECASE
)
_SCHEME_ADDED_TO = re.compile(r"""[ \t]*[+.][ \t]*(?P<quote>["'`])(?P<value>[^"'`\n]+)(?P=quote)""")
_FALLBACK = re.compile(
    r"""[^\n]{0,200}?[ \t](?:or|\|\||\?\?)[ \t]*(?P<quote>["'])(?P<value>[^"'\n]{8,256})(?P=quote)"""
)
_HARMLESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://|[~.]{0,2}(?:/[A-Za-z._-]+){2,}/?\Z")
_FORM = re.compile(r"[^\s\"'`<>&;#\\]+")
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9-]*)(?:[ \t]+|%20|\+)(?=\S)")
_SCHEMES = frozenset(
    [
        "bearer",
        "basic",
        "token",
        "digest",
        "apikey",
        "api-key",
        "key",
        "negotiate",
        "ntlm",
        "hawk",
        "oauth",
        "bot",
        "sharedkey",
        "sharedkeylite",
        "googlelogin",
        "aws4-hmac-sha256",
        "aws4-ecdsa-p256-sha256",
        "hmac",
        "signature",
        "dpop",
        "splunk",
        "klaviyo-api-key",
        "ssws",
        "genie-key",
        "zoho-oauthtoken",
        "snowflake",
    ]
)
_LINE_SCHEMES = frozenset(
    [
        "digest",
        "hawk",
        "oauth",
        "aws4-hmac-sha256",
        "aws4-ecdsa-p256-sha256",
        "signature",
        "hmac",
        "googlelogin",
        "sharedkey",
    ]
)
_COLOUR = re.compile(r"#[0-9a-fA-F]{3,8}")
_LONE_NUMBER = re.compile(r"[+-]?\d+(?:\.\d+)?")
# Words that follow an option in prose: "the --password option".
_AFTER_OPTION = frozenset(
    [
        *("option", "options", "flag", "flags", "argument", "arguments", "parameter", "switch", "prompt"),
        *("and", "or", "is", "are", "was", "to", "for", "from", "in", "on", "of", "if", "as", "with", "when"),
        *("can", "must", "will", "may", "should", "instead", "value", "file", "before", "after"),
    ]
)
_WORD_OF_LINE = re.compile(r"([^\s\"'`<>(){}\[\]=:]+)[ \t]*(?:[\r\n]|\Z)")
_LINE_STOP = re.compile(r"[\r\n]|\\[rn]")
_COOKIE_PAIR = re.compile(r"[\w!#$%&*+.^|~-]{1,256}=")
_COOKIES = re.compile(r"[\w!#$%&*+.^|~-]+=[^;\r\n]*(?:;[ \t]*[^;\r\n]*)*")
# With so much text after a name, what stands there is known.
_DECIDED_AFTER = 8192
_DECIDING_WORDS = 5
_ENDS = " \t.:!?,;)]}"
_LONGEST_END = 16
_LONGEST_LINE = 16_384


class AssignmentScanner:
    """Finds the values of secret names in one text.

    ``is_secret(name)`` returns whose rule says so, or None. ``growing``: more text may come, `open_from` is
    wanted. One scanner a text: it bounds its own attempts.
    """

    def __init__(
        self, text: str, is_secret: Callable[[str], Source | None], *, growing: bool = False
    ) -> None:
        self._text = text
        self._is_secret = is_secret
        self._growing = growing
        self._budget = len(text) + 65_536
        self.edits: list[Edit] = []
        self.open_from: int | None = None
        """Where the first name stands whose value more text could change, None when all is decided."""
        self._done_to = 0

    def look(self, start: int, end: int) -> None:
        """Look at a name that stands at ``start:end``, perhaps within a longer one. Call left to right."""
        if start < self._done_to:
            return
        text = self._text
        first = start
        while first > 0 and start - first < _NAME_LENGTH and text[first - 1] in _NAME_CHARACTERS:
            first -= 1
        after = _NAME_AFTER.match(text, end, min(len(text), end + _NAME_LENGTH))
        last = after.end() if after is not None else end
        separator = _SEPARATOR.match(text, last)
        name, first = self._own_name(first, last)
        source = self._is_secret(name)
        if source is None:
            if separator is None:
                self._leave_open(first, last)
            return
        span = marked_up(text, name, first, last)
        if span is None and separator is not None:
            span = self._value(name, first, separator)
        if span is not None and span[1] > span[0]:
            self.edits.append(Edit(span[0], span[1], PLACEHOLDER, source))
            self._done_to = span[1]
            # What ends a word here, as the point in `token = lexer.`, may be the middle of code.
            if not text[span[1] :][: _LONGEST_END + 1].strip(_ENDS):
                self._leave_open(first, len(text))
        else:
            self._leave_open(first, last)

    def _leave_open(self, first: int, last: int) -> None:
        if not self._growing or self.open_from is not None:
            return
        # Few words after a name decide what it is, as in `= get("X") or "..."`.
        ahead = self._text[last : last + _DECIDED_AFTER]
        words = ahead.split(None, _DECIDING_WORDS)
        few = len(words) - (not ahead[-1:].isspace()) < _DECIDING_WORDS
        if (few and len(ahead) < _DECIDED_AFTER) or is_unfinished(self._text, first, last):
            self.open_from = first

    def _own_name(self, first: int, last: int) -> tuple[str, int]:
        text = self._text
        name = text[first:last]
        # An escape such as \n or \t glues its letter to the name.
        if first > 0 and text[first - 1] == "\\" and name[:1] in ("n", "r", "t") and len(name) > 1:
            return name[1:], first + 1
        stripped = name.lstrip("-.")
        return stripped, first + len(name) - len(stripped)

    def _value(self, name: str, first: int, separator: re.Match[str]) -> tuple[int, int] | None:
        text = self._text
        start = separator.end()
        if start >= len(text):
            return None
        if separator["weak"] is not None:
            return self._weak(start, separator)
        if separator["option"] is not None:
            flag = text[max(0, first - 2) : first]
            command = _COMMAND.search(text, max(0, first - 24), first)
            if not (flag.endswith("-") or command) or separator["close"]:
                return None
        if separator["bracket"] and not separator["sign"]:
            return None
        opening = _OPENING.match(text, start)
        if separator["next_line"] and not separator["close"]:
            # A docstring may follow `def token(self):`; in YAML a value stands below its name.
            return None if opening is not None else self._below(start)
        enclosing = self._enclosing_quote(first, separator)
        if opening is not None and opening["quote"] == enclosing:
            return None
        if opening is not None:
            return self._quoted(name, opening, separator)
        if separator["listed"] is not None:
            return None
        if text[start] in "[{":
            return self._structure(start, separator)
        return self._bare(name, first, start, separator, enclosing)

    def _below(self, start: int) -> tuple[int, int] | None:
        match = _WORD_OF_LINE.match(self._text, start)
        return match.span(1) if match is not None and is_strong(match[1]) else None

    def _enclosing_quote(self, first: int, separator: re.Match[str]) -> str | None:
        # In `getpass("Password: ")` the quote after the colon closes the string the name stands in.
        if separator["close"]:
            return None
        match = re.search(_QUOTE + r"[^\n\"'`]{0,32}\Z", self._text[max(0, first - 48) : first], re.VERBOSE)
        if match is None:
            return None
        quote = re.match(_QUOTE, match.group(), re.VERBOSE)
        return quote.group() if quote is not None else None

    def _weak(self, start: int, separator: re.Match[str]) -> tuple[int, int] | None:
        """After ``is``, ``->``, ``||``, ``(``: what stands there must itself look like a secret."""
        text = self._text
        opening = _OPENING.match(text, start)
        said = separator["weak"].strip(" \t:") in ("is", "was", "->", "or")
        if opening is None:
            if not said or separator["close"]:
                return None
            match = _BARE.match(text, start)
            value = match.group().rstrip(".:!?") if match is not None else ""
            return (start, start + len(value)) if is_secret_in_prose(value) else None
        start = opening.end()
        end = _closing(text, opening["quote"], start)
        value = text[start:end]
        return (start, end) if (is_secret_in_prose(value) if said else is_strong(value)) else None

    def _quoted(self, name: str, opening: re.Match[str], separator: re.Match[str]) -> tuple[int, int] | None:
        text, quote, start = self._text, opening["quote"], opening.end()
        end = _closing(text, quote, start)
        value = text[start:end]
        added = _SCHEME_ADDED_TO.match(text, end + len(quote)) if value.strip().lower() in _SCHEMES else None
        if added is not None and not is_stand_in(added["value"]):
            return added.span("value")
        if is_stand_in(_without_scheme(value)) or _COLOUR.fullmatch(value):
            return None
        if len(value) == 1 and name.lower() == "accesskey":
            return None
        formatted = "f" in (opening["prefix"] or "").lower() and "{" in value
        compared = (separator["sign"] or "").startswith("==")
        if formatted or (compared and not is_strong(value)):
            return None
        if name.lower().endswith(("cookie", "cookies")) and "=" not in value:
            return None
        if separator["listed"] is not None and "value" not in separator["listed"]:
            # ("name", "x") may be a pair or a list of names.
            parts = value.split(None, 1)
            known_scheme = len(parts) == 2 and parts[0].lower() in _SCHEMES
            if not known_scheme and not is_strong(value):
                return None
        return start, end

    def _structure(self, start: int, separator: re.Match[str]) -> tuple[int, int] | None:
        if not separator["close"] or self._budget <= 0:
            return None
        text = self._text
        try:
            value, end = json.JSONDecoder().raw_decode(text, start)
        except (ValueError, RecursionError):
            # How far it got is not told; a quarter is enough to keep hostile text from parsing over and over.
            self._budget -= len(text) // 4
            self.open_from = start if self.open_from is None else self.open_from
            return None
        self._budget -= end - start
        # The schema of a field called `password` is no password.
        if isinstance(value, dict) and ("type" in value or "$ref" in value or not value):
            return None
        return (start, end) if value else None

    def _bare(
        self, name: str, first: int, start: int, separator: re.Match[str], enclosing: str | None
    ) -> tuple[int, int] | None:
        text = self._text
        lowered = name.lower().replace("_", "-")
        if lowered.endswith(("cookie", "cookies")):
            return self._cookies(start, enclosing)
        scheme = _SCHEME.match(text, start)
        if scheme is not None and scheme[1].lower() in _SCHEMES:
            if scheme[1].lower() in _LINE_SCHEMES and lowered.endswith("authorization"):
                return scheme.end(), _line_end(text, scheme.end(), enclosing)
            return self._after_scheme(scheme.end())
        form = text[first - 1 : first] in ("?", "&") and first > 0
        tight = separator["sign"] in ("=", "%3D", "%3d") and not separator["blank"]
        shape = _FORM if form else _ENVIRONMENT if tight and name.isupper() else _BARE
        match = shape.match(text, start)
        if match is None or _HARMLESS.match(match.group()):
            return None
        value, end = match.group(), match.end()
        if form or (tight and text[end : end + 1] == "&"):
            return None if is_stand_in(value) else (start, end)
        value = value.rstrip(".:!?")
        if value.startswith("(") or ((separator["sign"] or "").startswith("==") and not is_strong(value)):
            return None
        if text[end : end + 1] in ("(", "[", "{") or is_stand_in(value) or is_code(value):
            fallback = _FALLBACK.match(text, end)
            return fallback.span("value") if fallback is not None and is_strong(fallback["value"]) else None
        if _names_itself(name, value) or (name.islower() and is_word(value) and self._is_secret(value)):
            return None
        if _LONE_NUMBER.fullmatch(value) and len(value) < 4:
            return None
        if is_word(value):
            # `PASSWORD=swordfish` is an assignment, `password=password` code, `Password: required` prose.
            plain_assignment = tight and (name.isupper() or "(" not in text[max(0, first - 64) : first])
            if separator["option"] is not None:
                plain_assignment = not value.isupper() and value.lower() not in _AFTER_OPTION
            if not plain_assignment or value.lower().replace("-", "_") == name.lower().replace("-", "_"):
                return None
        return start, start + len(match.group().rstrip("."))

    def _after_scheme(self, start: int) -> tuple[int, int] | None:
        # `Authorization: Bearer authentication` is prose; anything but one plain word is a token.
        match = _BARE.match(self._text, start)
        if match is None:
            return None
        value = match.group().rstrip(".")
        if is_stand_in(value) or (value.isalpha() and (value.islower() or len(value) < 8)):
            return None
        return start, start + len(value)

    def _cookies(self, start: int, enclosing: str | None) -> tuple[int, int] | None:
        text = self._text
        # Without a pair right here there is no cookie, and no need to look for the line's end.
        if _COOKIE_PAIR.match(text, start) is None:
            return None
        match = _COOKIES.match(text, start, _line_end(text, start, enclosing))
        if match is None or is_stand_in(match.group()):
            return None
        return match.span()


def _names_itself(name: str, value: str) -> bool:
    """Whether ``value`` is an attribute called like the name: ``Token = rfc3161.Token``."""
    return "." in value and value.rpartition(".")[2].lower() == name.lower()


def _without_scheme(value: str) -> str:
    words = value.split(None, 1)
    return words[1] if len(words) == 2 and words[0].lower() in _SCHEMES else value


def _line_end(text: str, start: int, enclosing: str | None) -> int:
    end = min(len(text), start + _LONGEST_LINE)
    match = _LINE_STOP.search(text, start, end)
    if match is not None:
        end = match.start()
    if enclosing:
        found = text.find(enclosing, start, end)
        if found >= 0:
            end = found
    return end


def _closing(text: str, quote: str, start: int) -> int:
    """Where the quoted text that began before ``start`` ends; without a closing quote, the line's end."""
    mark = quote.lstrip("\\")
    depth = len(quote) - len(mark)
    position = start
    while True:
        found = text.find(mark, position)
        if found < 0:
            line_end = text.find("\n", start)
            return line_end if line_end >= 0 else len(text)
        slashes = 0
        while found - slashes > start and text[found - slashes - 1] == "\\":
            slashes += 1
        if mark[0] in "&%" or slashes % (2 * (depth + 1)) == depth:
            break
        position = found + 1
    if len(mark) < 3 or mark[0] not in "\"'":
        line_end = text.find("\n", start, found)
        if line_end >= 0:
            return line_end
    return found - depth
