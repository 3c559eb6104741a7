"""The request of the Responses API."""

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
    ProviderError,
    StreamOptions,
    TextContent,
    ThinkingContent,
    Tool,
    ToolCall,
    ToolResultMessage,
    UserContent,
)
from openprogram_core.providers.adapter import (
    is_from_same_model,
    merge_body,
    read_compat,
    visible_content,
)
from openprogram_openai.compat import ResponsesCompat, system_role
from openprogram_openai.request import (
    arguments_text,
    conversation,
    data_url,
    effort_word,
    function_choice,
    json_format,
    read_signature,
    shared_fields,
)

Json = dict[str, Any]

EVENT_PREFIX = "event:"
"""Begins the ``kind`` of an `OpaqueContent` that was an event of its own and no output item."""

_NOT_THERE = ("stop", "seed")


def responses_body(model: Model, context: Context, options: StreamOptions) -> Json:
    """Return the JSON of a request.

    Raises `ProviderError` of kind ``invalid_request`` for an option this API does not have (``stop``,
    ``seed``) and for a ``model.compat`` that is not sound.
    """
    compat = read_compat(model, ResponsesCompat)
    for name in _NOT_THERE:
        if getattr(options, name) is not None:
            raise ProviderError(
                "invalid_request",
                f"options.{name}: the wire API {model.api} has no such field. Leave it out, "
                "or use openai-completions",
            )
    body: Json = {"model": model.id, "input": _input(model, context, compat), "stream": True}
    if compat.store is not None:
        body["store"] = compat.store
    if context.tools:
        body["tools"] = [_tool(tool, compat) for tool in context.tools]
    if options.tool_choice is not None:
        body["tool_choice"] = function_choice(options.tool_choice, nested=False)
    if options.response_format is not None:
        body["text"] = {"format": json_format(options.response_format, nested=False)}
    if options.max_tokens is not None:
        body["max_output_tokens"] = options.max_tokens
    body |= shared_fields(model, options)
    if model.reasoning and compat.encrypted_reasoning:
        body["include"] = ["reasoning.encrypted_content"]
    effort = effort_word(model, options, compat)
    if effort is not None:
        summary = compat.reasoning_summary if effort != "none" else None
        body["reasoning"] = {"effort": effort, **({"summary": summary} if summary else {})}
    return merge_body(body, options.extra_body)


def _tool(tool: Tool, compat: ResponsesCompat) -> Json:
    function: Json = {
        "type": "function",
        "name": tool.name,
        "description": tool.description,
        "parameters": tool.parameters,
    }
    if compat.strict_tools:
        # Without the field this API enforces schemas that were not written for it.
        function["strict"] = bool(tool.strict)
    return function


def _input(model: Model, context: Context, compat: ResponsesCompat) -> list[Json]:
    items: list[Json] = []
    if context.system_prompt:
        items.append({"role": system_role(model, compat), "content": context.system_prompt})
    for message in conversation(model, context, compat):
        if isinstance(message, ToolResultMessage):
            output = _content(message.content, model)
            items.append({"type": "function_call_output", "call_id": message.tool_call_id, "output": output})
        elif isinstance(message, AssistantMessage):
            said = _own_items(message) if is_from_same_model(message, model) else _foreign_items(message)
            items += [item for item in said if _can_be_sent(item, compat)]
        else:
            items.append({"role": "user", "content": _content(message.content, model)})
    return items


def _content(content: str | Sequence[UserContent], model: Model) -> str | list[Json]:
    if isinstance(content, str):
        return content
    parts = visible_content(content, model)
    if len(parts) < 2 and not any(isinstance(part, ImageContent) for part in parts):
        return "".join(part.text for part in parts if isinstance(part, TextContent))
    return [_part(part) for part in parts]


def _part(part: UserContent) -> Json:
    if isinstance(part, ImageContent):
        return {"type": "input_image", "image_url": data_url(part), "detail": "auto"}
    return {"type": "input_text", "text": part.text}


def _can_be_sent(item: Json, compat: ResponsesCompat) -> bool:
    # Reasoning of which the service kept nothing and gave nothing is an id it will not find.
    needs_store = item.get("type") == "reasoning" and not ("encrypted_content" in item or "content" in item)
    return not needs_store or compat.store is not False


def _foreign_items(message: AssistantMessage) -> Iterator[Json]:
    """Text and calls, without ids: ids would make the service look for items it does not have."""
    for block in message.content:
        if isinstance(block, TextContent) and block.text:
            yield {"role": "assistant", "content": block.text}
        elif isinstance(block, ToolCall | InvalidToolCall):
            yield _call(block)


def _call(block: ToolCall | InvalidToolCall) -> Json:
    return {
        "type": "function_call",
        "call_id": block.id,
        "name": block.name,
        "arguments": arguments_text(block),
    }


def _own_items(message: AssistantMessage) -> Iterator[Json]:
    """The items as the service sent them: blocks with one item id are the parts of one item."""
    open_item: Json | None = None
    for block in message.content:
        item: Json | None = None
        if isinstance(block, TextContent | ThinkingContent):
            signature = read_signature(block.signature)
            if open_item is not None and _same(open_item, signature, block):
                _add_part(open_item, block, signature)
                continue
            if isinstance(block, TextContent):
                item = {"type": "message", "role": "assistant", "status": "completed", "content": []}
            elif signature.get("id"):
                item = {"type": "reasoning", "summary": []}
            # Thinking without an id was never an item of this API.
            if item is not None:
                _add_part(item, block, signature)
        elif isinstance(block, ToolCall | InvalidToolCall):
            item = {**_call(block), **read_signature(block.signature)}
        elif not block.kind.startswith(EVENT_PREFIX):
            item = _opaque_item(block)
        if open_item is not None:
            yield open_item
        open_item = item
    if open_item is not None:
        yield open_item


def _same(item: Json, signature: Json, block: TextContent | ThinkingContent) -> bool:
    kind = "message" if isinstance(block, TextContent) else "reasoning"
    return item["type"] == kind and "id" in item and item["id"] == signature.get("id")


def _add_part(item: Json, block: TextContent | ThinkingContent, signature: Json) -> None:
    part_type = signature.get("part")
    item |= {name: value for name, value in signature.items() if name != "part"}
    if isinstance(block, TextContent):
        if part_type == "refusal":
            item["content"].append({"type": "refusal", "refusal": block.text})
        else:
            annotations = block.citations or []
            item["content"].append({"type": "output_text", "text": block.text, "annotations": annotations})
    elif part_type == "reasoning_text":
        item.setdefault("content", []).append({"type": "reasoning_text", "text": block.thinking})
    elif block.thinking or part_type == "summary_text":
        item["summary"].append({"type": "summary_text", "text": block.thinking})


def _opaque_item(block: OpaqueContent) -> Json | None:
    return dict(block.data) if isinstance(block.data, dict) else None
