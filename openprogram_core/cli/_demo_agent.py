"""The agent of the demo: one tool, a loop, nothing else. Also a model that only pretends."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from openprogram_core.providers import (
    AssistantMessage,
    AssistantMessageEvent,
    Context,
    DoneEvent,
    ErrorEvent,
    Message,
    Model,
    ProviderError,
    SimpleStreamOptions,
    TextContent,
    Tool,
    ToolCall,
    ToolResultMessage,
    UserMessage,
    now_ms,
    stream_simple,
)
from openprogram_core.testing import CallTool, Say, ScriptedProvider, Turn

MAX_TURNS = 6

WEATHER_TOOL = Tool(
    name="get_weather",
    description="Return the current weather of a city.",
    parameters={
        "type": "object",
        "properties": {"city": {"type": "string"}},
        "required": ["city"],
        "additionalProperties": False,
    },
)


@dataclass
class AgentRun:
    """What one run of the agent did: the conversation, and the events of each call."""

    messages: list[Message] = field(default_factory=list)
    calls: list[list[AssistantMessageEvent]] = field(default_factory=list)

    @property
    def replies(self) -> list[AssistantMessage]:
        """The model's messages."""
        return [message for message in self.messages if isinstance(message, AssistantMessage)]


async def run_agent(
    model: Model, question: str, get_weather: Callable[[str], str], api_key: str | None
) -> AgentRun:
    """Ask ``question`` and run the tool until the model asks for no more. Raises what a call raises."""
    run = AgentRun(messages=[UserMessage(content=question, timestamp=now_ms())])
    for _ in range(MAX_TURNS):
        context = Context(
            system_prompt="You are a weather assistant. Call get_weather, then answer in one sentence.",
            messages=run.messages,
            tools=[WEATHER_TOOL],
        )
        events: list[AssistantMessageEvent] = []
        run.calls.append(events)
        async for event in stream_simple(model, context, SimpleStreamOptions(api_key=api_key)):
            events.append(event)
        last = events[-1] if events else None
        if not isinstance(last, DoneEvent):
            reason = last.error.error_message if isinstance(last, ErrorEvent) else None
            raise ProviderError("protocol", f"the model's stream failed: {reason or 'it did not end'}")
        run.messages.append(last.message)
        tool_calls = [block for block in last.message.content if isinstance(block, ToolCall)]
        if not tool_calls:
            return run
        for call in tool_calls:
            run.messages.append(
                ToolResultMessage(
                    tool_call_id=call.id,
                    tool_name=call.name,
                    content=[TextContent(text=get_weather(str(call.arguments.get("city", ""))))],
                    timestamp=now_ms(),
                )
            )
    raise ProviderError("protocol", f"the model asked for tools {MAX_TURNS} times in a row")


def pretend_model() -> ScriptedProvider:
    """Return a provider that asks for the weather once and then repeats what the tool said."""

    def respond(model: Model, context: Context, options: object) -> Turn:
        last = context.messages[-1]
        if isinstance(last, ToolResultMessage):
            said = "".join(block.text for block in last.content if isinstance(block, TextContent))
            return f"In Oslo it is {said}."
        return [Say("I look it up."), CallTool("get_weather", {"city": "Oslo"})]

    return ScriptedProvider(respond)
