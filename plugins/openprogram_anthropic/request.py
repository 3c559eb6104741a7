"""The body of a request to the Messages API."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from openprogram_anthropic.conversation import mark_for_cache, wire_messages
from openprogram_anthropic.thinking import room_for_thinking, thinking_fields
from openprogram_core.providers import (
    Context,
    Model,
    ProviderError,
    SimpleStreamOptions,
    StreamOptions,
    Tool,
)
from openprogram_core.providers.adapter import merge_body, sendable

DEFAULT_MAX_TOKENS = 4096
"""The limit where neither the options nor the model have one: the service wants one. Thinking comes on
top."""

_CACHE_MARKERS = {"short": {"type": "ephemeral"}, "long": {"type": "ephemeral", "ttl": "1h"}}


def build_body(model: Model, context: Context, options: StreamOptions) -> dict[str, Any]:
    """Return the JSON body for one call, the same for the same arguments.

    ``prompt_cache_key`` has no place in this API and is left out. Raises `ProviderError` of kind
    ``invalid_request`` for what has none either but would change the answer, and for a ``model.compat`` that
    is not sound.
    """
    if options.seed is not None:
        raise ProviderError("invalid_request", "anthropic-messages has no seed: leave StreamOptions.seed out")
    max_tokens = options.max_tokens or model.max_tokens or _default_limit(model, options)
    messages = wire_messages(model, context)
    system: list[dict[str, Any]] = []
    if context.system_prompt:
        system.append({"type": "text", "text": context.system_prompt})
    tools = [_tool(tool) for tool in context.tools]
    if options.cache_retention in _CACHE_MARKERS:
        mark_for_cache(system, tools, messages, _CACHE_MARKERS[options.cache_retention])
    body: dict[str, Any] = {
        "model": model.id,
        "max_tokens": max_tokens,
        "messages": messages,
        "stream": True,
    }
    if system:
        body["system"] = system
    if tools:
        body["tools"] = tools
        choice = _tool_choice(options)
        if choice is not None:
            body["tool_choice"] = choice
    given = {
        "temperature": options.temperature,
        "top_p": options.top_p,
        "stop_sequences": options.stop,
        "service_tier": options.service_tier,
        "metadata": options.metadata,
    }
    body |= {name: value for name, value in given.items() if value is not None}
    if isinstance(options, SimpleStreamOptions):
        body = merge_body(body, thinking_fields(model, options, max_tokens))
    body = merge_body(body, _output_format(options.response_format))
    whole: dict[str, Any] = sendable(merge_body(body, options.extra_body))
    return whole


def _default_limit(model: Model, options: StreamOptions) -> int:
    room = room_for_thinking(model, options) if isinstance(options, SimpleStreamOptions) else 0
    return DEFAULT_MAX_TOKENS + room


def _tool(tool: Tool) -> dict[str, Any]:
    wire: dict[str, Any] = {"name": tool.name, "input_schema": tool.parameters}
    if tool.description:
        wire["description"] = tool.description
    if tool.strict is not None:
        wire["strict"] = tool.strict
    return wire


def _tool_choice(options: StreamOptions) -> dict[str, Any] | None:
    choice = options.tool_choice
    wire: dict[str, Any] | None
    if isinstance(choice, Mapping):
        # The other vendors name a tool as {"type": "function", "function": {"name": ...}} or without nesting.
        named = choice.get("function", choice)
        is_function = choice.get("type") == "function" and isinstance(named, Mapping)
        wire = {"type": "tool", "name": named.get("name")} if is_function else dict(choice)
    else:
        wire = {
            None: None,
            "auto": {"type": "auto"},
            "none": {"type": "none"},
            "required": {"type": "any"},
        }[choice]
    if options.parallel_tool_calls is not None and (wire is None or wire.get("type") != "none"):
        wire = {
            **(wire or {"type": "auto"}),
            "disable_parallel_tool_use": not options.parallel_tool_calls,
        }
    return wire


def _output_format(response_format: Mapping[str, Any] | None) -> dict[str, Any]:
    if response_format is None or response_format.get("type") == "text":
        return {}
    inner = response_format.get("json_schema", response_format)
    schema = inner.get("schema") if isinstance(inner, Mapping) else None
    if response_format.get("type") != "json_schema" or schema is None:
        raise ProviderError(
            "invalid_request",
            f"response_format {response_format.get('type')!r}: anthropic-messages gives JSON only by a "
            'schema; use {"type": "json_schema", "json_schema": {"name": ..., "schema": {...}}}',
        )
    return {"output_config": {"format": {"type": "json_schema", "schema": schema}}}
