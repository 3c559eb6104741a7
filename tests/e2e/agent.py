"""An agent's tool loop over the stream door, as users write them."""

from __future__ import annotations

from collections.abc import Mapping

from openprogram_core.providers import (
    AssistantMessage,
    AssistantMessageEvent,
    Context,
    DoneEvent,
    Message,
    Model,
    StreamOptions,
    TextContent,
    Tool,
    ToolCall,
    ToolResultMessage,
    UserMessage,
    now_ms,
    stream,
)

API = "openai-completions"


def chat_model(base_url: str = "http://127.0.0.1:9/v1") -> Model:
    """A model of the tests; the address is part of the request, so tests give one that never changes."""
    return Model(id="m", api=API, provider="openai", base_url=base_url)


async def run_loop(
    model: Model,
    prompt: str,
    tool_answers: Mapping[str, str],
    *,
    options: StreamOptions | None = None,
    turns: int = 3,
) -> tuple[list[list[AssistantMessageEvent]], list[AssistantMessage]]:
    """Run at most ``turns`` calls; returns each call's events and the assistant's messages."""
    tools = [Tool(name=name, description=f"Returns the {name}.") for name in tool_answers]
    messages: list[Message] = [UserMessage(content=prompt, timestamp=now_ms())]
    calls: list[list[AssistantMessageEvent]] = []
    replies: list[AssistantMessage] = []
    for _ in range(turns):
        events = [
            event async for event in stream(model, Context(messages=list(messages), tools=tools), options)
        ]
        calls.append(events)
        last = events[-1]
        assert isinstance(last, DoneEvent), last
        replies.append(last.message)
        messages.append(last.message)
        wanted = [block for block in last.message.content if isinstance(block, ToolCall)]
        if not wanted:
            break
        messages += [
            ToolResultMessage(
                tool_call_id=call.id,
                tool_name=call.name,
                content=[TextContent(text=tool_answers.get(call.name, "ok"))],
                timestamp=now_ms(),
            )
            for call in wanted
        ]
    return calls, replies
