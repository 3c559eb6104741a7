"""Made-up values that checks hand to a plugin's hooks: ordinary ones, and those plugins trip over."""

from __future__ import annotations

from typing import Any

from openprogram_core.comparison import MISSING

_PROSE = (
    "The bearer of bad news is seldom welcome. Please read the attached report, the token count was 4,096 "
    "and the password policy changes on Monday; ask the secretary for the archive's key. Thank you, Zoë.\n"
)
_CODE = (
    'client = Client(api_key=os.environ["VENDOR_API_KEY"], max_tokens=1024)\n'
    "for index, name in enumerate(names):\n    print(f'{index}: {name}')\n"
)
_IDS = (
    "commit 3f786850e387550fdab836ed7e6dc881de23001b, run 123e4567-e89b-12d3-a456-426614174000, "
    "https://example.com/a/b?page=2&sort=asc, ${API_KEY}, call_0, 2024-02-30T12:00:00Z\n"
)

PLAIN_TEXT = (
    "A cat may look at a king, they say; 12 cats, and no king would know where to look. In the garden behind "
    "the house stood 3 old trees, an oak, an ash, and one whose name nobody knew. It rained until noon.\n"
)
"""Ordinary text in which not even a word reminds of secrets, about 200 characters."""

CLEAN_TEXT = _PROSE + _CODE + _IDS
"""Ordinary text without any secret, about 700 characters."""

STRINGS: tuple[tuple[str, str], ...] = (
    ("context.messages[0].content[0].text", CLEAN_TEXT[:200]),
    ("context.system_prompt", _PROSE),
    ("options.headers.user-agent", "agent/1.0"),
    ('options.metadata["a.b"]', '{"nested": "JSON in a string", "n": 1}'),
    ("context.messages[12].content[1].arguments.path", "C:\\temp\\ünïcode\u2028\n\t\x00"),
    ("context.messages[3].content[0].text", "a lone surrogate: \ud83d"),
    ("", ""),
)
"""Field paths and strings as ``redact_value`` may get them."""


def differing_values() -> list[tuple[str, Any, Any]]:
    """Return field paths, recorded and incoming values as ``compare_field`` may get them; new objects."""
    return [
        ("", {"model": {"id": "a"}, "context": {}}, {"model": {"id": "b"}, "context": {}}),
        ("context.messages", [{"role": "user"}], [{"role": "user"}, {"role": "assistant"}]),
        ("context.messages[1].content[0]", {"type": "text", "text": "a"}, {"type": "text", "text": "b"}),
        ("context.messages[1].content[0].text", "echo:hi", "echo:bye"),
        ("options.temperature", 1, 1.0),
        ("options.temperature", 1, True),
        ("options.metadata.trace_id", MISSING, "t-1"),
        ("options.metadata.trace_id", "t-1", MISSING),
        ('options.extra_body["a.b"][0]', None, [None]),
        ("context.tools[0].parameters", {"type": "object"}, "object"),
    ]
