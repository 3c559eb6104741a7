"""The conversation in the words of the Gemini API."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from openprogram_core.providers import (
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
from openprogram_core.providers.adapter import is_from_same_model, settle_tool_calls, visible_content
from openprogram_google.compat import GenerateCompat, settled_compat

INVALID_ARGUMENTS = "invalid_arguments"
"""The argument that carries the text of arguments that were no JSON object."""

FOREIGN_CALL_SIGNATURE = "skip_thought_signature_validator"
"""What the service documents as the signature of a call that another model made."""

Part = dict[str, Any]


def wire_contents(model: Model, context: Context) -> list[dict[str, Any]]:
    """Return the request's ``contents``.

    What came whole from this model goes back as it came, part by part, each with its own signature. Of what
    came from elsewhere, or failed, text, images, tool calls and results are kept; thinking, signatures and
    server-side objects are bound to their model and left out. So is empty text without a signature.
    """
    compat = settled_compat(model)
    contents: list[dict[str, Any]] = []
    results: list[Part] | None = None
    for message in settle_tool_calls(context.messages, model):
        if isinstance(message, ToolResultMessage):
            # All results of one turn stand in one content.
            if results is None:
                results = []
                contents.append({"role": "user", "parts": results})
            results += _function_response(message, model, compat)
            continue
        results = None
        if isinstance(message, AssistantMessage):
            parts, role = list(_said(message, model, compat)), "model"
        else:
            parts, role = user_parts(visible_content(message.content, model)), "user"
        if parts:
            contents.append({"role": role, "parts": parts})
    return contents


def user_parts(content: Sequence[UserContent]) -> list[Part]:
    """Return text and images as parts, empty text left out."""
    parts: list[Part] = []
    for piece in content:
        if isinstance(piece, ImageContent):
            parts.append(_inline(piece))
        elif piece.text:
            parts.append({"text": piece.text})
    return parts


def _inline(image: ImageContent) -> Part:
    return {"inlineData": {"mimeType": image.mime_type, "data": image.data}}


def _function_response(message: ToolResultMessage, model: Model, compat: GenerateCompat) -> list[Part]:
    content = visible_content(message.content, model)
    text = "\n".join(piece.text for piece in content if isinstance(piece, TextContent))
    images = [_inline(piece) for piece in content if isinstance(piece, ImageContent)]
    response: dict[str, Any] = {
        "id": message.tool_call_id,
        "name": message.tool_name,
        "response": {"error" if message.is_error else "output": text},
    }
    beside: list[Part] = []
    if images and compat.images_beside_results:
        beside = images
    elif images:
        response["parts"] = images
    return [{"functionResponse": response}, *beside]


def _said(message: AssistantMessage, model: Model, compat: GenerateCompat) -> Iterator[Part]:
    own = is_from_same_model(message, model)
    unsigned = FOREIGN_CALL_SIGNATURE if compat.checks_signatures and not own else None
    for block in message.content:
        match block:
            case TextContent():
                if block.text or (own and block.signature):
                    yield _signed({"text": block.text}, block.signature if own else None)
            case ThinkingContent():
                if own and (block.thinking or block.signature):
                    yield _signed({"text": block.thinking, "thought": True}, block.signature)
            case ToolCall() | InvalidToolCall():
                arguments = (
                    block.arguments
                    if isinstance(block, ToolCall)
                    else {INVALID_ARGUMENTS: block.arguments_text}
                )
                call = {"id": block.id, "name": block.name, "args": arguments}
                # The service checks the first call of a turn only.
                yield _signed({"functionCall": call}, block.signature if own else unsigned)
                unsigned = None
            case OpaqueContent():
                # A part holds its kind as a key; what stood beside the parts does not, and does not go back.
                if own and isinstance(block.data, dict) and block.kind in block.data:
                    yield dict(block.data)


def _signed(part: Part, signature: str | None) -> Part:
    return {**part, "thoughtSignature": signature} if signature else part
