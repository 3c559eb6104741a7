"""The request of the Chat Completions API."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from openprogram_core.providers import (
    AssistantMessage,
    Context,
    ImageContent,
    InvalidToolCall,
    Model,
    SimpleStreamOptions,
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
from openprogram_openai.compat import CompletionsCompat, is_openai, system_role
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


def completions_body(model: Model, context: Context, options: StreamOptions) -> Json:
    """Return the JSON of a request. Raises `ProviderError` when ``model.compat`` is not sound."""
    compat = read_compat(model, CompletionsCompat)
    body: Json = {"model": model.id, "messages": _messages(model, context, compat), "stream": True}
    if compat.stream_usage:
        body["stream_options"] = {"include_usage": True}
    if context.tools:
        body["tools"] = [_tool(tool, compat) for tool in context.tools]
    if options.tool_choice is not None:
        body["tool_choice"] = function_choice(options.tool_choice, nested=True)
    if options.response_format is not None:
        body["response_format"] = json_format(options.response_format, nested=True)
    if options.max_tokens is not None:
        ours = "max_completion_tokens" if is_openai(model) else "max_tokens"
        body[compat.max_tokens_field or ours] = options.max_tokens
    if options.stop is not None:
        body["stop"] = options.stop
    if options.seed is not None:
        body["seed"] = options.seed
    body |= shared_fields(model, options)
    body |= _reasoning(model, options, compat)
    return merge_body(body, options.extra_body)


def _tool(tool: Tool, compat: CompletionsCompat) -> Json:
    function: Json = {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
    if tool.strict is not None and compat.strict_tools:
        function["strict"] = tool.strict
    return {"type": "function", "function": function}


def _reasoning(model: Model, options: StreamOptions, compat: CompletionsCompat) -> Json:
    if not isinstance(options, SimpleStreamOptions) or options.reasoning is None:
        return {}
    level = options.reasoning
    budget = options.thinking_budgets.get(level)
    word = effort_word(model, options, compat)
    if compat.reasoning == "effort" and word is not None:
        return {"reasoning_effort": word}
    if compat.reasoning == "openrouter" and model.reasoning:
        if level == "off":
            return {"reasoning": {"enabled": False}}
        return {"reasoning": {"effort": word} if budget is None else {"max_tokens": budget}}
    if compat.reasoning == "qwen" and model.reasoning:
        fields: Json = {"enable_thinking": level != "off"}
        if budget is not None:
            fields["thinking_budget"] = budget
        return fields
    return {}


def _messages(model: Model, context: Context, compat: CompletionsCompat) -> list[Json]:
    messages: list[Json] = []
    if context.system_prompt:
        messages.append({"role": system_role(model, compat), "content": context.system_prompt})
    images: list[Json] = []
    for message in conversation(model, context, compat):
        if images and not isinstance(message, ToolResultMessage):
            # Nothing may stand between the results of one turn, so their images follow all of them.
            messages.append({"role": "user", "content": images})
            images = []
        if isinstance(message, ToolResultMessage):
            messages.append(_tool_result(message, model, compat, images))
        elif isinstance(message, AssistantMessage):
            said = _assistant(message, model, compat)
            if said is not None:
                messages.append(said)
        else:
            messages.append({"role": "user", "content": _user(message.content, model)})
    if images:
        messages.append({"role": "user", "content": images})
    return messages


def _user(content: str | Sequence[UserContent], model: Model) -> str | list[Json]:
    if isinstance(content, str):
        return content
    parts = visible_content(content, model)
    if len(parts) == 1 and isinstance(parts[0], TextContent):
        return parts[0].text
    return [_part(part) for part in parts]


def _part(part: UserContent) -> Json:
    if isinstance(part, ImageContent):
        return {"type": "image_url", "image_url": {"url": data_url(part)}}
    return {"type": "text", "text": part.text}


def _tool_result(
    message: ToolResultMessage, model: Model, compat: CompletionsCompat, images: list[Json]
) -> Json:
    parts = visible_content(message.content, model)
    pictures = [part for part in parts if isinstance(part, ImageContent)]
    content: str | list[Json]
    if pictures and compat.tool_images == "tool":
        content = [_part(part) for part in parts]
    else:
        content = "\n".join(part.text for part in parts if isinstance(part, TextContent))
        if pictures:
            content = content or "The image follows."
            images.append({"type": "text", "text": f"From the tool {message.tool_name}:"})
            images += [_part(part) for part in pictures]
    result: Json = {"role": "tool", "tool_call_id": message.tool_call_id, "content": content}
    if compat.tool_name:
        result["name"] = message.tool_name
    return result


def _assistant(message: AssistantMessage, model: Model, compat: CompletionsCompat) -> Json | None:
    """An assistant message in the wire's words, None when nothing of it can be sent."""
    own = is_from_same_model(message, model)
    said: Json = {"role": "assistant"}
    texts = [block for block in message.content if isinstance(block, TextContent)]
    refused = own and any(_is_refusal(block) for block in texts)
    text = "".join(block.text for block in texts)
    thinking = [block for block in message.content if isinstance(block, ThinkingContent)] if own else []
    if thinking:
        text = _send_thinking(thinking, said, text, compat)
    if text:
        said["refusal" if refused else "content"] = text
    calls = [_call(block, own) for block in message.content if isinstance(block, ToolCall | InvalidToolCall)]
    if calls:
        said["tool_calls"] = calls
    return said if len(said) > 1 else None


def _send_thinking(
    thinking: Sequence[ThinkingContent], said: Json, text: str, compat: CompletionsCompat
) -> str:
    details = [detail for block in thinking for detail in _details(block.signature)]
    whole = "\n".join(block.thinking for block in thinking if block.thinking)
    if details:
        said["reasoning_details"] = details
    elif compat.thinking == "tags" and whole:
        return f"<think>\n{whole}\n</think>" + (f"\n{text}" if text else "")
    elif compat.thinking in ("reasoning", "reasoning_content") and whole:
        said[compat.thinking] = whole
    return text


def _details(signature: str | None) -> Iterable[Json]:
    found = read_signature(signature).get("reasoning_details")
    return found if isinstance(found, list) else []


def _is_refusal(block: TextContent) -> bool:
    return read_signature(block.signature).get("refusal") is True


def _call(block: ToolCall | InvalidToolCall, own: bool) -> Json:
    call: Json = {
        "id": block.id,
        "type": "function",
        "function": {"name": block.name, "arguments": arguments_text(block)},
    }
    if own:
        call |= read_signature(block.signature)
    return call
