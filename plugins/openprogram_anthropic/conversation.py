"""The conversation in the words of the Messages API."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from openprogram_anthropic.compat import MessagesCompat
from openprogram_core.providers import (
    AssistantContent,
    AssistantMessage,
    Context,
    ImageContent,
    InvalidToolCall,
    Model,
    OpaqueContent,
    TextContent,
    ThinkingContent,
    ToolCall,
    ToolResultMessage,
    UserContent,
)
from openprogram_core.providers.adapter import (
    is_from_same_model,
    read_compat,
    settle_tool_calls,
    visible_content,
)

EVENT_PREFIX = "event:"
"""Begins the ``kind`` of an `OpaqueContent` that was an event of its own and no content block."""

INVALID_JSON = "INVALID_JSON"
"""The key under which the service wants arguments back that were no JSON object."""

Block = dict[str, Any]

_IDS = re.compile(r"[A-Za-z0-9_-]{1,64}")
_NOT_CACHEABLE = frozenset({"thinking", "redacted_thinking"})


def wire_messages(model: Model, context: Context) -> list[dict[str, Any]]:
    """Return the request's ``messages``.

    What came whole from this model goes back as it came. Of what came from elsewhere, or failed, text,
    images, tool calls and results are kept; thinking, signatures, citations and server-side objects are bound
    to their model and left out. So is text that is blank, which the service refuses, and thinking without a
    signature, unless the model's ``compat`` has ``unsigned_thinking``.
    """
    unsigned = read_compat(model, MessagesCompat).unsigned_thinking
    messages: list[dict[str, Any]] = []
    results: list[Block] | None = None
    extras: dict[str, Block] = {}
    for message in settle_tool_calls(context.messages, model, ids=_IDS):
        if isinstance(message, ToolResultMessage):
            # All results of one turn stand in one message.
            if results is None:
                results = []
                messages.append({"role": "user", "content": results})
            results.append(_tool_result(message, model, extras.get(message.tool_call_id, {})))
            continue
        results = None
        if isinstance(message, AssistantMessage):
            own = is_from_same_model(message, model)
            content = [
                block for said in message.content for block in _said(said, extras, own=own, unsigned=unsigned)
            ]
            role = "assistant"
        else:
            content = user_blocks(visible_content(message.content, model))
            role = "user"
        if content:
            messages.append({"role": role, "content": content})
    return messages


def user_blocks(content: Sequence[UserContent]) -> list[Block]:
    """Return text and images as content blocks, blank text left out."""
    blocks: list[Block] = []
    for part in content:
        if isinstance(part, ImageContent):
            source = {"type": "base64", "media_type": part.mime_type, "data": part.data}
            blocks.append({"type": "image", "source": source})
        elif part.text.strip():
            blocks.append({"type": "text", "text": part.text})
    return blocks


def mark_for_cache(
    system: list[Block], tools: list[Block], messages: list[dict[str, Any]], marker: Mapping[str, str]
) -> None:
    """Put ``cache_control`` where a prefix ends that the next request repeats.

    That is the end of the system prompt (of the tools, where there is no system prompt) and the last block
    that may carry a marker. The service reads what an earlier marker wrote without being told again.
    """
    if system:
        system[-1]["cache_control"] = dict(marker)
    elif tools:
        tools[-1]["cache_control"] = dict(marker)
    for message in reversed(messages):
        for block in reversed(message["content"]):
            if block["type"] not in _NOT_CACHEABLE:
                block["cache_control"] = dict(marker)
                return


def _tool_result(message: ToolResultMessage, model: Model, call_extras: Mapping[str, Any]) -> Block:
    block: Block = {
        "type": "tool_result",
        "tool_use_id": message.tool_call_id,
        "is_error": message.is_error,
    }
    content = user_blocks(visible_content(message.content, model))
    if content:
        block["content"] = content
    if "toolset_name" in call_extras:
        block["toolset_name"] = call_extras["toolset_name"]
    return block


def _said(said: AssistantContent, extras: dict[str, Block], *, own: bool, unsigned: bool) -> Iterable[Block]:
    match said:
        case TextContent():
            if said.text.strip():
                block: Block = {**_extras(said.signature, own), "type": "text", "text": said.text}
                if own and said.citations:
                    block["citations"] = said.citations
                yield block
        case ThinkingContent():
            if own and said.redacted and said.signature:
                yield {"type": "redacted_thinking", "data": said.signature}
            elif own and (said.signature or unsigned):
                yield {"type": "thinking", "thinking": said.thinking, "signature": said.signature or ""}
        case ToolCall():
            extras[said.id] = _extras(said.signature, own)
            yield _tool_use(said.id, said.name, said.arguments, extras[said.id])
        case InvalidToolCall():
            extras[said.id] = _extras(said.signature, own)
            yield _tool_use(said.id, said.name, {INVALID_JSON: said.arguments_text}, extras[said.id])
        case OpaqueContent():
            if own and not said.kind.startswith(EVENT_PREFIX):
                yield dict(said.data)


def _tool_use(call_id: str, name: str, arguments: Mapping[str, Any], extras: Block) -> Block:
    return {**extras, "type": "tool_use", "id": call_id, "name": name, "input": dict(arguments)}


def _extras(signature: str | None, own: bool) -> Block:
    """What a block carried beside its known fields; see `openprogram_anthropic.reader`."""
    if not own or not signature:
        return {}
    try:
        extras = json.loads(signature)
    except ValueError:
        return {}
    return extras if isinstance(extras, dict) else {}
