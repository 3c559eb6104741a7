"""What the requests of both wire APIs have in common."""

from __future__ import annotations

import hashlib
import json
import re
from typing import Any

from openprogram_core.providers import (
    AssistantMessage,
    Context,
    ImageContent,
    InvalidToolCall,
    Message,
    Model,
    SimpleStreamOptions,
    StreamOptions,
    ToolCall,
    ToolResultMessage,
    parse_arguments,
)
from openprogram_core.providers.adapter import settle_tool_calls
from openprogram_openai.compat import CompletionsCompat, ResponsesCompat, is_openai

INVALID_JSON = "INVALID_JSON"
"""The key under which arguments go back that were no JSON: servers parse them before the model sees them."""

LONGEST_ID = {"openai-completions": 40, "openai-responses": 64}
"""The longest tool call id each wire API takes."""


def conversation(
    model: Model, context: Context, compat: CompletionsCompat | ResponsesCompat
) -> list[Message]:
    """Return the messages to send: every call answered, ids the service takes."""
    longest = LONGEST_ID.get(model.api, 40)
    ids = re.compile(rf"[A-Za-z0-9_-]{{1,{longest}}}")
    messages = settle_tool_calls(context.messages, model, ids=ids, longest_id=longest)
    length = compat.call_id_length
    return [_with_short_ids(message, length) for message in messages] if length else messages


def _with_short_ids(message: Message, length: int) -> Message:
    if isinstance(message, ToolResultMessage):
        return message.model_copy(update={"tool_call_id": short_id(message.tool_call_id, length)})
    if isinstance(message, AssistantMessage):
        content = [
            block.model_copy(update={"id": short_id(block.id, length)})
            if isinstance(block, ToolCall | InvalidToolCall)
            else block
            for block in message.content
        ]
        return message.model_copy(update={"content": content})
    return message


def short_id(call_id: str, length: int) -> str:
    """Return ``call_id`` when it is ``length`` letters and digits, else a hash of it that is."""
    if re.fullmatch(rf"[A-Za-z0-9]{{{length}}}", call_id):
        return call_id
    digest = hashlib.sha256(call_id.encode("utf-8", "surrogatepass")).hexdigest()
    return digest[:length].ljust(length, "0")


def arguments_text(call: ToolCall | InvalidToolCall) -> str:
    """Return a call's arguments as compact JSON; unreadable ones under the key ``INVALID_JSON``."""
    if isinstance(call, ToolCall):
        return compact(call.arguments)
    if parse_arguments(call.arguments_text) is not None:
        return call.arguments_text or "{}"
    return compact({INVALID_JSON: call.arguments_text})


def compact(value: Any) -> str:
    """Return ``value`` as JSON without spaces."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def read_signature(signature: str | None) -> dict[str, Any]:
    """Return what this plugin wrote into a signature, empty for anybody else's."""
    try:
        value = json.loads(signature) if signature else {}
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def data_url(image: ImageContent) -> str:
    """Return an image as a data URL."""
    return f"data:{image.mime_type};base64,{image.data}"


def function_choice(choice: str | dict[str, Any], *, nested: bool) -> str | dict[str, Any]:
    """Return ``tool_choice`` with a function's name where this wire API wants it, from either form."""
    if isinstance(choice, str):
        return choice
    function = choice.get("function")
    name = function.get("name") if isinstance(function, dict) else choice.get("name")
    if choice.get("type", "function") != "function" or not isinstance(name, str):
        return choice
    return {"type": "function", **({"function": {"name": name}} if nested else {"name": name})}


def json_format(given: dict[str, Any], *, nested: bool) -> dict[str, Any]:
    """Return ``response_format`` in the form of this wire API, from either form."""
    schema = given.get("json_schema")
    if given.get("type") != "json_schema" or isinstance(schema, dict) == nested:
        return given
    if nested:
        return {"type": "json_schema", "json_schema": {k: v for k, v in given.items() if k != "type"}}
    return {"type": "json_schema", **(schema if isinstance(schema, dict) else {})}


def effort_word(
    model: Model, options: StreamOptions, compat: CompletionsCompat | ResponsesCompat
) -> str | None:
    """Return the service's word for the asked level of reasoning, None when nothing is to be sent."""
    level = options.reasoning if isinstance(options, SimpleStreamOptions) else None
    if level is None or not model.reasoning:
        return None
    return compat.efforts.get(level, "none" if level == "off" else level)


def shared_fields(model: Model, options: StreamOptions) -> dict[str, Any]:
    """Return the fields that have one name in both wire APIs."""
    fields: dict[str, Any] = {
        "temperature": options.temperature,
        "top_p": options.top_p,
        "parallel_tool_calls": options.parallel_tool_calls,
        "prompt_cache_key": options.prompt_cache_key,
        "service_tier": options.service_tier,
        "metadata": options.metadata,
    }
    if options.cache_retention == "long" and is_openai(model):
        fields["prompt_cache_retention"] = "24h"
    return {name: value for name, value in fields.items() if value is not None}
