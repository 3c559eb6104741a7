"""What every adapter does to a conversation before it puts it into its wire's words."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from openprogram_core.errors import ProviderError
from openprogram_core.providers.messages import (
    AssistantContent,
    AssistantMessage,
    ImageContent,
    InvalidToolCall,
    Message,
    Model,
    TextContent,
    ToolCall,
    ToolResultMessage,
    UserContent,
)
from openprogram_core.providers.options import StreamOptions

NOT_RUN = "No result: this call was not run."
"""The result a call gets that nobody answered."""

Compat = TypeVar("Compat", bound=BaseModel)

_SECRET_HEADERS = frozenset(
    {"authorization", "api-key", "x-api-key", "x-goog-api-key", "proxy-authorization", "cookie"}
)


def is_own(message: AssistantMessage, model: Model) -> bool:
    """Whether ``message`` came from where it is going: the same wire API of the same provider.

    Only then do signatures, hidden thinking, citations and server-side objects mean anything there.
    """
    return message.api == model.api and message.provider == model.provider


def is_from_same_model(message: AssistantMessage, model: Model) -> bool:
    """Whether ``message`` is whole and from this very model, so that its signatures count.

    Signatures are bound to the model that made them, and what a failed message holds beside text and calls is
    not known to be complete.
    """
    whole = message.stop_reason not in ("error", "aborted")
    return is_own(message, model) and message.model == model.id and whole


def visible_content(content: str | Sequence[UserContent], model: Model) -> list[UserContent]:
    """Return content the model can see: an image it cannot becomes a text that says so."""
    if isinstance(content, str):
        return [TextContent(text=content)]
    if "image" in model.input:
        return list(content)
    return [
        TextContent(text=f"[{part.mime_type} left out: this model takes text only]")
        if isinstance(part, ImageContent)
        else part
        for part in content
    ]


def read_compat(model: Model, kind: type[Compat]) -> Compat:
    """Return ``model.compat`` as the pydantic model ``kind``, whose fields are all a server's departures that
    the wire API knows.

    Raises `ProviderError` of kind ``invalid_request`` for a name or value it does not know.
    """
    try:
        return kind.model_validate(model.compat)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        field = ".".join(str(part) for part in ("compat", *first["loc"]))
        raise ProviderError(
            "invalid_request",
            f"model {model.id!r}, {field}: {first['msg']}. {model.api} knows {', '.join(kind.model_fields)}",
        ) from None


def merge_headers(model: Model, options: StreamOptions) -> dict[str, str]:
    """Return the headers of a request beside the key; the call's win over the model's, in any spelling."""
    named = {name.lower(): (name, value) for name, value in model.headers.items()}
    named |= {name.lower(): (name, value) for name, value in options.headers.items()}
    return dict(named.values())


def secret_headers(headers: Mapping[str, str]) -> list[str]:
    """Return the credentials in headers, without their scheme; no error message may repeat them."""
    found = [value.split() for name, value in headers.items() if name.lower() in _SECRET_HEADERS]
    return [words[-1] for words in found if words]


def merge_body(body: dict[str, Any], extra: Mapping[str, Any]) -> dict[str, Any]:
    """Return ``body`` with ``extra_body`` laid over it.

    Objects merge, ``tools`` are added to those there are (that is how server-side tools join the
    context's), anything else is replaced.
    """
    merged = dict(body)
    for name, value in extra.items():
        there = merged.get(name)
        if isinstance(there, dict) and isinstance(value, Mapping):
            merged[name] = merge_body(there, value)
        elif name == "tools" and isinstance(there, list) and isinstance(value, list):
            merged[name] = [*there, *value]
        else:
            merged[name] = value
    return merged


def sendable(value: Any) -> Any:
    """Return a JSON value in which every string has a UTF-8 form; ``value`` itself when that is so already.

    Half of a character that was cut in two (a lone surrogate) becomes U+FFFD, and two halves that met again
    become their character. Services refuse anything else.
    """
    if isinstance(value, str):
        if value.isascii():
            return value
        try:
            value.encode()
        except UnicodeEncodeError:
            return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        return value
    if isinstance(value, Mapping):
        mended = {sendable(name): sendable(item) for name, item in value.items()}
        same = all(mended.get(name, value) is item for name, item in value.items())
        return value if same else mended
    if isinstance(value, list):
        items = [sendable(item) for item in value]
        return value if all(new is old for new, old in zip(items, value, strict=True)) else items
    return value


def settle_tool_calls(
    messages: Sequence[Message],
    model: Model,
    *,
    ids: re.Pattern[str] | None = None,
    longest_id: int = 64,
) -> list[Message]:
    """Return the conversation with every tool call answered where services want the answer.

    The results of a message's calls follow it at once, in the order of its calls. A call nobody answered
    gets a result that says so, because a service refuses the conversation otherwise; the calls of a message
    that nothing follows stay open. A result without a call, and an invalid call without a result, are left
    out.

    ``ids`` is what the service takes as an id, from beginning to end: in messages that came from elsewhere
    than ``model`` (`is_own`), other ids and ids that came before are replaced by ones that fit, the same in
    every run and ``longest_id`` characters at most. The service's own ids go back as they came.
    """
    settled: list[Message] = []
    names = _Names(ids, longest_id)
    for said, following in _turns(messages):
        if said is not None:
            own = is_own(said, model)
            settled += _settle(said, following, names, own=own, open_end=said is messages[-1])
        settled += [message for message in following if not isinstance(message, ToolResultMessage)]
    return settled


def _settle(
    said: AssistantMessage, following: Sequence[Message], names: _Names, *, own: bool, open_end: bool
) -> Iterator[Message]:
    results: dict[str, ToolResultMessage] = {}
    for message in following:
        if isinstance(message, ToolResultMessage):
            results.setdefault(message.tool_call_id, message)
    content: list[AssistantContent] = []
    answers: list[ToolResultMessage] = []
    for block in said.content:
        if not isinstance(block, ToolCall | InvalidToolCall):
            content.append(block)
            continue
        result = results.get(block.id)
        if result is None and isinstance(block, InvalidToolCall):
            continue
        name = names.give(block.id, own=own)
        content.append(block if name == block.id else block.model_copy(update={"id": name}))
        if result is not None:
            same = name == result.tool_call_id
            answers.append(result if same else result.model_copy(update={"tool_call_id": name}))
        elif not open_end:
            answers.append(_not_run(name, block.name))
    yield said.model_copy(update={"content": content})
    yield from answers


def _not_run(call_id: str, name: str) -> ToolResultMessage:
    return ToolResultMessage(
        tool_call_id=call_id, tool_name=name, content=[TextContent(text=NOT_RUN)], is_error=True
    )


def _turns(messages: Sequence[Message]) -> Iterator[tuple[AssistantMessage | None, list[Message]]]:
    """Each assistant message with what follows it, up to the next; None for what comes before the first."""
    said: AssistantMessage | None = None
    answers: list[Message] = []
    for message in messages:
        if isinstance(message, AssistantMessage):
            if said is not None or answers:
                yield said, answers
            said, answers = message, []
        else:
            answers.append(message)
    if said is not None or answers:
        yield said, answers


class _Names:
    """Ids as the service takes them, each once."""

    def __init__(self, pattern: re.Pattern[str] | None, longest: int) -> None:
        self._pattern = pattern
        self._longest = longest
        self._given: set[str] = set()

    def give(self, call_id: str, *, own: bool) -> str:
        if self._pattern is None:
            return call_id
        if own:
            self._given.add(call_id)
            return call_id
        name = call_id
        if not self._pattern.fullmatch(name):
            digest = hashlib.sha256(call_id.encode("utf-8", "surrogatepass")).hexdigest()[:12]
            readable = re.sub(r"[^A-Za-z0-9_-]+", "_", call_id)[: self._longest - 16]
            name = f"{readable}_{digest}"
        plain, number = name, 2
        while name in self._given:
            name, number = f"{plain[: self._longest - 4]}_{number}", number + 1
        self._given.add(name)
        return name
