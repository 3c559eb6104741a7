"""Messages, content blocks, models and contexts: what goes to a provider and comes back.

The names are the field's standard terms. Every model dumps to plain JSON with
``model_dump(mode="json")``; that dump is what a recording holds.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

StopReason: TypeAlias = Literal["stop", "length", "toolUse", "error", "aborted"]
ErrorKind: TypeAlias = Literal[
    "rate_limit",
    "auth",
    "invalid_request",
    "context_length",
    "content_filter",
    "overloaded",
    "timeout",
    "network",
    "protocol",
]


class WireModel(BaseModel):
    """Base of every type that is recorded.

    Unknown fields are refused, so that a misspelt option is an error and not silence. NaN and the
    infinities are written as such: pydantic's default would turn them into null. Validators are built at
    first use, which keeps the import cheap.
    """

    model_config = ConfigDict(extra="forbid", ser_json_inf_nan="constants", defer_build=True)


class TextContent(WireModel):
    """A piece of text.

    ``signature`` is the service's opaque proof, sent back unchanged; ``citations`` are the service's
    own citation objects, kept as they came.
    """

    type: Literal["text"] = "text"
    text: str
    signature: str | None = None
    citations: list[dict[str, Any]] | None = None


class ThinkingContent(WireModel):
    """Reasoning text. ``redacted`` means the service hid the text and ``signature`` holds its opaque data."""

    type: Literal["thinking"] = "thinking"
    thinking: str
    signature: str | None = None
    redacted: bool = False


class ImageContent(WireModel):
    """An image as base64 ``data`` without the data-URL prefix, and its ``mime_type``."""

    type: Literal["image"] = "image"
    data: str
    mime_type: str


class ToolCall(WireModel):
    """A tool call that may be run: its arguments were complete and were a JSON object."""

    type: Literal["toolCall"] = "toolCall"
    id: str
    name: str
    arguments: dict[str, Any]
    signature: str | None = None


class InvalidToolCall(WireModel):
    """A tool call that must not be run, with the raw text of its arguments.

    ``incomplete``: the stream or its limit cut the arguments; ``invalid``: they are no JSON object. It is a
    type of its own, without ``arguments``, so that no agent can mistake it for a call to run.
    """

    type: Literal["invalidToolCall"] = "invalidToolCall"
    id: str
    name: str
    arguments_text: str
    reason: Literal["incomplete", "invalid"]
    signature: str | None = None


class OpaqueContent(WireModel):
    """Something the service sent that has no type of its own here: a server-side tool's call or result, or
    an event of a type not known yet. ``kind`` is the service's word, ``data`` its object, unchanged."""

    type: Literal["opaque"] = "opaque"
    kind: str
    data: Any


AssistantContent: TypeAlias = Annotated[
    TextContent | ThinkingContent | ToolCall | InvalidToolCall | OpaqueContent, Field(discriminator="type")
]
UserContent: TypeAlias = Annotated[TextContent | ImageContent, Field(discriminator="type")]


class Cost(WireModel):
    """Prices of one call in US dollars."""

    input: float = 0.0
    output: float = 0.0
    cache_read: float = 0.0
    cache_write: float = 0.0
    total: float = 0.0


class Usage(WireModel):
    """Token counts of one call.

    ``input`` is without the cached tokens, ``output`` with the reasoning ones; ``reasoning`` says how many
    of ``output`` those were.
    """

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    reasoning: int = 0
    total_tokens: int = 0
    cost: Cost = Field(default_factory=Cost)


class ErrorDetails(WireModel):
    """Why a stream failed after it had begun: the facts a `ProviderError` would carry."""

    kind: ErrorKind
    retryable: bool
    retry_after_s: float | None = None


class UserMessage(WireModel):
    """What the user said: a string, or text and images. ``timestamp`` is in milliseconds since 1970."""

    role: Literal["user"] = "user"
    content: str | list[UserContent]
    timestamp: int = 0


class AssistantMessage(WireModel):
    """What the model said.

    ``stop_reason`` is one of this project's five words, ``service_stop_reason`` the service's own.
    ``service_details`` is what the service said beside the content, as it said it: its own usage object, the
    model that answered, ratings. ``error_message`` and ``error_details`` are set when ``stop_reason`` is
    ``error`` or ``aborted``.
    """

    role: Literal["assistant"] = "assistant"
    content: list[AssistantContent] = Field(default_factory=list)
    api: str
    provider: str
    model: str
    usage: Usage = Field(default_factory=Usage)
    stop_reason: StopReason = "stop"
    service_stop_reason: str | None = None
    response_id: str | None = None
    service_details: dict[str, Any] | None = None
    error_message: str | None = None
    error_details: ErrorDetails | None = None
    timestamp: int = 0


class ToolResultMessage(WireModel):
    """What a tool answered to the call ``tool_call_id``."""

    role: Literal["toolResult"] = "toolResult"
    tool_call_id: str
    tool_name: str
    content: list[UserContent]
    is_error: bool = False
    timestamp: int = 0


Message: TypeAlias = Annotated[
    UserMessage | AssistantMessage | ToolResultMessage, Field(discriminator="role")
]


class Tool(WireModel):
    """A tool the model may call. ``parameters`` is a JSON schema; ``strict`` asks the service to keep it."""

    name: str
    description: str = ""
    parameters: dict[str, Any] = Field(default_factory=lambda: {"type": "object", "properties": {}})
    strict: bool | None = None


class Context(WireModel):
    """Everything the model sees: system prompt, conversation, tools."""

    system_prompt: str | None = None
    messages: list[Message] = Field(default_factory=list)
    tools: list[Tool] = Field(default_factory=list)


class ModelCost(WireModel):
    """Prices in US dollars per million tokens."""

    input: float = 0.0
    output: float = 0.0
    cache_read: float = 0.0
    cache_write: float = 0.0


Modality: TypeAlias = Literal["text", "image"]
_TEXT_ONLY: tuple[Modality, ...] = ("text",)


class Model(WireModel):
    """Which model, over which wire API, at which address.

    ``id`` is the service's name of the model, ``api`` the wire API and key of the registry, ``provider`` the
    company or server behind it. ``base_url`` None means the vendor SDK's own default. ``compat`` holds a
    server's departures from its wire API, understood by the API's provider.
    """

    id: str
    api: str
    provider: str
    name: str | None = None
    base_url: str | None = None
    reasoning: bool = False
    input: list[Modality] = Field(default_factory=lambda: [*_TEXT_ONLY])
    cost: ModelCost = Field(default_factory=ModelCost)
    context_window: int | None = None
    max_tokens: int | None = None
    headers: dict[str, str] = Field(default_factory=dict, repr=False)
    compat: dict[str, Any] = Field(default_factory=dict)
