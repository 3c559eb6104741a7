"""One recorded call, written as a conversation that a person can read.

Whatever was recorded is indented and made printable, so that nothing in a prompt can pass for a heading or
reach the terminal as a command.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from openprogram_core.cli._output import count, data, format_size, printable, styled

INDENT = "  "


def write_conversation(request: dict[str, Any], answer: dict[str, Any] | None) -> None:
    """Write what was asked and what came back. ``answer`` is the dump of the message, None when none came."""
    context = _mapping(request.get("context"))
    if context.get("system_prompt"):
        _heading("system")
        _text(context["system_prompt"])
    tools = [str(_mapping(tool).get("name")) for tool in _sequence(context.get("tools"))]
    if tools:
        _heading(f"{count(len(tools), 'tool')}")
        _text(", ".join(tools))
    for message in _sequence(context.get("messages")):
        _message(_mapping(message))
    if answer is not None:
        _message(answer, heading="answer")


def _message(message: dict[str, Any], heading: str | None = None) -> None:
    role = message.get("role")
    if role == "toolResult":
        failed = ", failed" if message.get("is_error") else ""
        _heading(f"result of {message.get('tool_name')} ({message.get('tool_call_id')}{failed})")
    else:
        _heading(heading or str(role))
    content = message.get("content")
    if isinstance(content, str):
        _text(content)
    for block in _sequence(content):
        _block(_mapping(block))
    if message.get("error_message"):
        _text(f"failed: {message['error_message']}")


def _block(block: dict[str, Any]) -> None:
    kind = block.get("type")
    if kind == "text":
        _text(block.get("text"))
    elif kind == "thinking":
        _text(block.get("thinking") or "(hidden by the service)", mark="thinking: ")
    elif kind == "toolCall":
        arguments = json.dumps(block.get("arguments"), ensure_ascii=False)
        _text(f"{block.get('name')} ({block.get('id')}) {arguments}", mark="calls ")
    elif kind == "invalidToolCall":
        _text(
            f"{block.get('name')} ({block.get('id')}) {block.get('arguments_text')}",
            mark=f"calls, with {block.get('reason')} arguments: ",
        )
    elif kind == "image":
        size = format_size(len(str(block.get("data"))) * 3 // 4)
        _text(f"[image, {block.get('mime_type')}, {size}]")
    else:
        _text(json.dumps(block, ensure_ascii=False), mark=f"{kind}: ")


def _heading(text: str) -> None:
    data()
    data(styled(printable(text), "bold", "cyan"))


def _text(value: Any, mark: str = "") -> None:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    for number, line in enumerate(printable(text, multiline=True).split("\n")):
        data(f"{INDENT}{printable(mark) if number == 0 else ''}{line}".rstrip())


def _mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _sequence(value: Any) -> Iterable[Any]:
    return value if isinstance(value, list) else []
