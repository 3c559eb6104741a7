"""Where a value stands decides what may be done to it.

A place says how the fields of our own types, of tool schemas and of everything else are treated. What is
exempt is exempt by its place, never because it looks harmless.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal


@dataclass(frozen=True)
class Place:
    """How a value at a place is treated.

    ``kind``: ``keep`` leaves it alone; ``exempt`` leaves it alone but for values
    known in the call; ``text`` scans strings only; ``secret`` takes it whole; ``schema`` is
    a JSON schema, whose property names are no fields; ``open`` is anything: field names and shapes count.
    ``fields`` are the places of a dict's known fields, the others have ``rest``; ``items`` is the place of a
    list's items. ``choose`` names the field by which a dict's place is chosen from ``variants``.
    ``opaque``: strings under the names of provider-opaque data are left alone, here and below. ``tools``:
    schemas of tools may stand below. ``name`` tells the places of a request's parts apart.
    """

    kind: Literal["keep", "exempt", "text", "secret", "schema", "open"]
    fields: Mapping[str, Place] = field(default_factory=lambda: MappingProxyType({}))
    rest: Place | None = None
    items: Place | None = None
    choose: str | None = None
    variants: Mapping[str, Place] = field(default_factory=lambda: MappingProxyType({}))
    opaque: bool = False
    tools: bool = False
    name: str = ""


KEEP = Place("keep")
EXEMPT = Place("exempt")
"""Ids, names and a service's opaque data: no shape counts there, but the call's own key may be echoed."""
TEXT = Place("text", name="text")
SECRET = Place("secret")
SCHEMA = Place("schema")
OPEN = Place("open")
"""Arguments, headers, metadata: what users and services fill."""
BODY = Place("open", tools=True)
"""A request's or response's own body, where tools are declared."""
OPAQUE = Place("open", opaque=True)
"""A service's own object."""

SCHEMA_FIELDS = frozenset(
    {
        "parameters",
        "input_schema",
        "inputSchema",
        "output_schema",
        "outputSchema",
        "parameters_json_schema",
        "parametersJsonSchema",
    }
)
RESPONSE_FIELDS = frozenset(
    {"response_format", "response_schema", "responseSchema", "responseJsonSchema", "response_json_schema"}
)
TOOL_FIELDS = frozenset({"tools", "functions", "function_declarations", "functionDeclarations"})
OPAQUE_FIELDS = frozenset(
    {
        "signature",
        "thought_signature",
        "thoughtSignature",
        "encrypted_content",
        "encrypted_index",
        "encrypted_stdout",
        "encryptedContent",
        "redacted_thinking",
    }
)
EMBEDDING_FIELDS = frozenset({"embedding", "embeddings", "b64_json", "partial_image_b64"})
MEDIA_TYPE_FIELDS = ("media_type", "mime_type", "mediaType", "mimeType")


def _fields(places: Mapping[str, Place], rest: Place = OPEN, name: str = "") -> Place:
    return Place("open", fields=MappingProxyType(dict(places)), rest=rest, name=name)


def _keep(*names: str) -> dict[str, Place]:
    return dict.fromkeys(names, KEEP)


def _exempt(*names: str) -> dict[str, Place]:
    return dict.fromkeys(names, EXEMPT)


_TEXT_CONTENT = _fields({**_keep("type"), **_exempt("signature"), "text": TEXT, "citations": OPAQUE})
_THINKING_CONTENT = _fields({**_keep("type", "redacted"), **_exempt("signature"), "thinking": TEXT})
_IMAGE_CONTENT = _fields({**_keep("type", "data"), **_exempt("mime_type")})
_TOOL_CALL = _fields({**_keep("type"), **_exempt("id", "name", "signature"), "arguments": OPEN})
_INVALID_TOOL_CALL = _fields(
    {**_keep("type", "reason"), **_exempt("id", "name", "signature"), "arguments_text": TEXT}
)
_OPAQUE_CONTENT = _fields({**_keep("type"), **_exempt("kind"), "data": OPAQUE})
CONTENT = Place(
    "open",
    choose="type",
    variants=MappingProxyType(
        {
            "text": _TEXT_CONTENT,
            "thinking": _THINKING_CONTENT,
            "image": _IMAGE_CONTENT,
            "toolCall": _TOOL_CALL,
            "invalidToolCall": _INVALID_TOOL_CALL,
            "opaque": _OPAQUE_CONTENT,
        }
    ),
)
_CONTENTS = Place("text", items=CONTENT)
_USER = _fields({**_keep("role", "timestamp"), "content": _CONTENTS})
ASSISTANT = _fields(
    {
        **_keep("role", "usage", "stop_reason", "error_details", "timestamp"),
        **_exempt("api", "provider", "model", "service_stop_reason", "response_id"),
        "content": _CONTENTS,
        "service_details": OPAQUE,
        "error_message": TEXT,
    }
)
_TOOL_RESULT = _fields(
    {**_keep("role", "is_error", "timestamp"), **_exempt("tool_call_id", "tool_name"), "content": _CONTENTS}
)
MESSAGE = Place(
    "open",
    name="message",
    choose="role",
    variants=MappingProxyType({"user": _USER, "assistant": ASSISTANT, "toolResult": _TOOL_RESULT}),
)
_TOOL = _fields({**_keep("strict"), **_exempt("name"), "description": TEXT, "parameters": SCHEMA})
TOOLS = Place("open", items=_TOOL, name="tools")
CONTEXT = _fields({"system_prompt": TEXT, "messages": Place("open", items=MESSAGE), "tools": TOOLS})
MODEL = _fields(
    {
        **_exempt("id", "api", "provider"),
        **_keep("reasoning", "input", "cost", "context_window", "max_tokens"),
        "name": TEXT,
        "base_url": TEXT,
    },
    name="model",
)
OPTIONS = _fields(
    {
        "api_key": SECRET,
        "extra_body": BODY,
        "metadata": BODY,
        "response_format": SCHEMA,
        "stop": Place("text", items=TEXT),
        "tool_choice": BODY,
        **_keep(
            "temperature",
            "top_p",
            "max_tokens",
            "seed",
            "parallel_tool_calls",
            "cache_retention",
            "timeout_s",
            "max_retries",
            "reasoning",
            "thinking_budgets",
        ),
    },
    rest=BODY,
    name="options",
)
REQUEST = _fields({"model": MODEL, "context": CONTEXT, "options": OPTIONS})
EVENT = _fields(
    {
        **_keep("type", "content_index", "reason"),
        **_exempt("id", "name"),
        "message": ASSISTANT,
        "error": ASSISTANT,
        "delta": TEXT,
        "content": CONTENT,
        "tool_call": CONTENT,
    }
)
