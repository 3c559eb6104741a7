"""The body of a request to the Gemini API."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from openprogram_core.providers import (
    Context,
    Model,
    ProviderError,
    SimpleStreamOptions,
    StreamOptions,
    Tool,
)
from openprogram_core.providers.adapter import merge_body, sendable
from openprogram_google.compat import settled_compat
from openprogram_google.conversation import wire_contents

BUDGETS = {"minimal": 1024, "low": 2048, "medium": 8192, "high": 16384, "xhigh": 24576}
"""Thinking tokens of a level for the models that count them, where ``thinking_budgets`` do not say."""


def build_body(model: Model, context: Context, options: StreamOptions) -> dict[str, Any]:
    """Return the JSON body for one call, the same for the same arguments.

    ``cache_retention`` and ``prompt_cache_key`` have no place in this API, which caches by itself, and are
    left out. Raises `ProviderError` of kind ``invalid_request`` for what has none either but would change
    the answer, and for a ``model.compat`` that is not sound.
    """
    if options.parallel_tool_calls is False:
        raise ProviderError(
            "invalid_request",
            "google-generative-ai cannot be kept to one tool call at a time: leave "
            "StreamOptions.parallel_tool_calls out",
        )
    body: dict[str, Any] = {"contents": wire_contents(model, context)}
    if context.system_prompt:
        body["systemInstruction"] = {"parts": [{"text": context.system_prompt}]}
    if context.tools:
        body["tools"] = [{"functionDeclarations": [_declaration(tool) for tool in context.tools]}]
        config = _tool_config(context.tools, options)
        if config:
            body["toolConfig"] = config
    generation = {
        "temperature": options.temperature,
        "topP": options.top_p,
        "maxOutputTokens": options.max_tokens or model.max_tokens,
        "stopSequences": options.stop,
        "seed": options.seed,
        **_output_format(options.response_format),
        **(_thinking(model, options) if isinstance(options, SimpleStreamOptions) else {}),
    }
    given = {name: value for name, value in generation.items() if value is not None}
    if given:
        body["generationConfig"] = given
    if options.service_tier is not None:
        body["serviceTier"] = options.service_tier
    if options.metadata is not None:
        body["labels"] = options.metadata
    whole: dict[str, Any] = sendable(merge_body(body, options.extra_body))
    return whole


def _declaration(tool: Tool) -> dict[str, Any]:
    return {"name": tool.name, "description": tool.description, "parametersJsonSchema": tool.parameters}


def _tool_config(tools: list[Tool], options: StreamOptions) -> dict[str, Any]:
    choice = options.tool_choice
    config: dict[str, Any]
    if isinstance(choice, Mapping):
        if "functionCallingConfig" in choice:
            return dict(choice)
        named = choice.get("function", choice)
        name = named.get("name") if isinstance(named, Mapping) else None
        # The other vendors name the one tool to call; here it is the one allowed where one must be called.
        config = {"mode": "ANY", "allowedFunctionNames": [name]} if name else dict(choice)
    elif choice in ("none", "required"):
        config = {"mode": "NONE" if choice == "none" else "ANY"}
    elif any(tool.strict for tool in tools):
        config = {"mode": "VALIDATED"}
    elif choice == "auto":
        config = {"mode": "AUTO"}
    else:
        return {}
    return {"functionCallingConfig": config}


def _output_format(response_format: Mapping[str, Any] | None) -> dict[str, Any]:
    if response_format is None or response_format.get("type") == "text":
        return {}
    kind = response_format.get("type")
    if kind == "json_object":
        return {"responseMimeType": "application/json"}
    inner = response_format.get("json_schema", response_format)
    schema = inner.get("schema") if isinstance(inner, Mapping) else None
    if kind != "json_schema" or schema is None:
        raise ProviderError(
            "invalid_request",
            f"response_format {kind!r}: google-generative-ai takes 'text', 'json_object', and 'json_schema' "
            'as {"type": "json_schema", "json_schema": {"name": ..., "schema": {...}}}',
        )
    return {"responseMimeType": "application/json", "responseJsonSchema": schema}


def _thinking(model: Model, options: SimpleStreamOptions) -> dict[str, Any]:
    level = options.reasoning
    if level is None or not model.reasoning:
        return {}
    counts = settled_compat(model).thinking == "budget"
    if level == "off":
        # The later models always think; the least is what comes nearest.
        return {"thinkingConfig": {"thinkingBudget": 0} if counts else {"thinkingLevel": "MINIMAL"}}
    if counts or level in options.thinking_budgets:
        how: dict[str, Any] = {"thinkingBudget": options.thinking_budgets.get(level, BUDGETS[level])}
    else:
        how = {"thinkingLevel": level.upper()}
    return {"thinkingConfig": {"includeThoughts": True, **how}}
