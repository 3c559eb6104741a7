"""Secret names in markup: elements and attributes, YAML's named values, rows of tables."""

from __future__ import annotations

import re

from openprogram_core.redaction.values import is_stand_in, is_strong

_REACH = 320
_LONGEST = 8192
_OPEN_TAG = re.compile(r"(?:<|&lt;)(?:[\w.-]{1,40}:)?\Z")
_PREFIX = re.compile(r"[\w.-]{1,40}:")
_TAG_END = re.compile(r"(?:\s[^<>]{0,256})?(?:>|&gt;)(?:\s*<!\[CDATA\[)?")
# `<add key="`, `<input type="text" name='`
_NAMING_ATTRIBUTE = re.compile(
    r"""<(?P<element>[\w:.-]{1,40})(?P<attributes>\s[^<>]{0,256})?\s(?:key|name|id|property|itemprop)\s*=\s*["']\Z"""
)
_VALUE_ATTRIBUTE = re.compile(
    r"""\b(?:value|content)\s*=\s*(?P<quote>["'])(?P<value>[^"'<>]{1,4096})(?P=quote)"""
)
_REST_OF_TAG = re.compile(r"""["'][^<>]{0,256}?(?P<end>/?>)""")
_CONTENT = re.compile(r"\s*(?:<(?:value|string)>)?\s*(?P<value>[^<>\s][^<>]{0,4096}?)\s*</")
# A property list names a value before it: <key>name</key><string>value</string>.
_AFTER_KEY = re.compile(r"</(?:key|name)>\s*<(?:string|value)>(?P<value>[^<>]{1,4096})</(?:string|value)>")
_YAML_NAMED = re.compile(r"""[ \t-]{0,40}(?P<quote>["']?)name(?P=quote)[ \t]*:[ \t]*["']?\Z""")
_YAML_VALUE = re.compile(
    r"""["']?[ \t]*\r?\n[ \t]*["']?value["']?[ \t]*:[ \t]*["']?(?P<value>[^\s"'#{\[|>][^\r\n"']*)"""
)
_YAML_VALUE_BEFORE = re.compile(
    r"""\bvalue["']?[ \t]*:[ \t]*["']?(?P<value>[^\s"'#{\[|>][^\r\n"']*)["']?[ \t]*\r?\n\Z"""
)
_ROW = re.compile(r"""[ \t]*[`*_]{0,3}[ \t]*\|[ \t]*`?(?P<value>[^\s|`]{8,256})`?[ \t]*(?:\||\r?\n|\Z)""")
_ROW_BEFORE = re.compile(r"\|[ \t]*[`*_]{0,3}\Z")


def marked_up(text: str, name: str, first: int, last: int) -> tuple[int, int] | None:
    """Return where the value stands that markup gives to the name at ``first:last``, or None."""
    before = text[max(0, first - _REACH) : first]
    if _OPEN_TAG.search(before):
        return _element(text, name, last)
    attribute = _NAMING_ATTRIBUTE.search(before)
    if attribute is not None:
        return _attribute(text, attribute, first - len(before), last)
    if before.endswith(("<key>", "<name>")):
        return _telling(_AFTER_KEY.match(text, last))
    named = _YAML_NAMED.search(before)
    if named is not None:
        found = _telling(_YAML_VALUE.match(text, last))
        if found is None:
            start = first - len(before)
            found = _telling(_YAML_VALUE_BEFORE.search(text, max(0, start - _REACH), start + named.start()))
        return found
    if _ROW_BEFORE.search(before):
        row = _ROW.match(text, last)
        return row.span("value") if row is not None and is_strong(row["value"]) else None
    return None


def is_unfinished(text: str, first: int, last: int) -> bool:
    """Whether a value that markup gives to the name at ``first:last`` may still be to come."""
    before = text[max(0, first - _REACH) : first]
    ahead = text[last : last + _LONGEST]
    if _OPEN_TAG.search(before) or before.endswith(("<key>", "<name>")) or _NAMING_ATTRIBUTE.search(before):
        return len(ahead) < _LONGEST and ahead.count("</") < 2
    return _YAML_NAMED.search(before) is not None and ahead.count("\n") < 3 and len(ahead) < _REACH


def _telling(match: re.Match[str] | None) -> tuple[int, int] | None:
    if match is None or is_stand_in(match["value"]):
        return None
    start = match.start("value")
    return start, start + len(match["value"].rstrip())


def _element(text: str, name: str, last: int) -> tuple[int, int] | None:
    tag = _TAG_END.match(text, last)
    if tag is None or tag.group().endswith("/>"):
        return None
    start = tag.end()
    mark = "&lt;/" if tag.group().rstrip().endswith("&gt;") else "</"
    end = text.find(mark, start, start + _LONGEST)
    if end < 0:
        return None
    behind = text[end + len(mark) : end + len(mark) + 256]
    if not (behind.startswith(name) or _PREFIX.fullmatch(behind.partition(name)[0])):
        return None
    value = text[start:end].removesuffix("]]>")
    return None if is_stand_in(value) else (start, start + len(value))


def _attribute(text: str, attribute: re.Match[str], offset: int, last: int) -> tuple[int, int] | None:
    found = _VALUE_ATTRIBUTE.search(text, offset + attribute.start(), offset + attribute.end())
    if found is not None:
        return _telling(found)
    rest = _REST_OF_TAG.match(text, last)
    if rest is None:
        return None
    found = _VALUE_ATTRIBUTE.search(text, last, rest.end())
    if found is None and rest["end"] == ">":
        found = _CONTENT.match(text, rest.end())
        if found is not None and not is_strong(found["value"]):
            # `<label id="password">Your password</label>`
            return None
    return _telling(found)
