"""What goes out: every option, and the second turn of a real session field by field."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from openprogram_core.comparison import find_differences
from openprogram_core.providers import (
    AssistantMessage,
    Context,
    ImageContent,
    InvalidToolCall,
    MissingCredentialsError,
    OpaqueContent,
    ProviderError,
    SimpleStreamOptions,
    StreamOptions,
    TextContent,
    ThinkingContent,
    Tool,
    ToolCall,
    ToolResultMessage,
    UserMessage,
)
from tests.support.shared import shared_path
from tests.support.wire_calls import HELLO, collect, final
from tests.support.wire_server import Reply, WireServer
from tests.wire_google.wire import GEMINI, PROVIDER, answer, call, chunk, gemini, sent, stop

TOOL = Tool(name="f", description="does f", parameters={"type": "object", "properties": {"a": {}}})


def said(*content: Any, **fields: Any) -> AssistantMessage:
    return AssistantMessage(
        content=list(content),
        **{"api": "google-generative-ai", "provider": "google", "model": GEMINI, **fields},
    )


async def test_the_second_turn_carries_what_the_real_client_sent() -> None:
    first, second = (
        json.loads(shared_path(f"streams/gemini-tool-call-signature/{n}.request.json").read_text("utf-8"))
        for n in (0, 1)
    )
    body = shared_path("streams/gemini-tool-call-signature/0.response.sse").read_bytes()
    declared = first["tools"][0]["functionDeclarations"]
    tools = [
        Tool(name=one["name"], description=one["description"], parameters=one["parameters_json_schema"])
        for one in declared
    ]
    question = UserMessage(content=first["contents"][0]["parts"][0]["text"])
    context = Context(messages=[question], tools=tools)
    options = StreamOptions(extra_body={"generationConfig": {"responseModalities": ["TEXT"]}})
    with WireServer(Reply(body), answer(chunk({"text": "ok"}), stop())) as server:
        message = final(await collect(PROVIDER, gemini(server), context, options))
        (made,) = (part for part in message.content if isinstance(part, ToolCall))
        result = ToolResultMessage(
            tool_call_id=made.id, tool_name=made.name, content=[TextContent(text="Mexico")]
        )
        more = context.model_copy(update={"messages": [question, message, result]})
        await collect(PROVIDER, gemini(server), more, options)
        requests = [request.json() for request in server.requests]

    differences = {
        path: (recorded, incoming) for path, recorded, incoming in find_differences(second, requests[1])
    }
    calling, answering = "contents[1].parts[0]", "contents[2].parts[0].functionResponse"
    declaration = "tools[0].functionDeclarations[0]"
    # The service gave no id, so both clients made one up; what counts is that call and result share it.
    ids = [differences.pop(path) for path in (f"{calling}.functionCall.id", f"{answering}.id")]
    assert ids[0] == ids[1]
    # That client wrote the signature's bytes anew in another alphabet; here it goes back as it came.
    theirs, ours = differences.pop(f"{calling}.thoughtSignature")
    assert ours.encode() in body
    assert ours.translate(str.maketrans("+/", "-_")) == theirs
    # The key of a result is the client's choice; "output" is the one the service documents.
    assert differences.pop(f"{answering}.response.return_value")[0] == "Mexico"
    assert differences.pop(f"{answering}.response.output")[1] == "Mexico"
    # The service takes this field's name in both spellings.
    schema = differences.pop(f"{declaration}.parameters_json_schema")[0]
    assert differences.pop(f"{declaration}.parametersJsonSchema")[1] == schema
    assert differences == {}
    assert {path for path, _, _ in find_differences(first, requests[0])} == {
        f"{declaration}.parameters_json_schema",
        f"{declaration}.parametersJsonSchema",
    }


async def test_the_same_call_sends_the_same_bytes() -> None:
    context = Context(
        system_prompt="s",
        messages=[UserMessage(content="a"), said(ToolCall(id="c", name="f", arguments={"b": 1, "a": 2}))],
        tools=[TOOL],
    )
    replies = [answer(chunk({"text": "ok"}), stop()) for _ in range(2)]
    with WireServer(*replies) as server:
        for _ in replies:
            await collect(PROVIDER, gemini(server), context, StreamOptions(temperature=0.5))
        assert server.requests[0].body == server.requests[1].body
        assert server.requests[0].path.endswith(f"/models/{GEMINI}:streamGenerateContent?alt=sse")


def generation(**fields: Any) -> dict[str, Any]:
    return {"generationConfig": fields}


def calling(mode: str, **fields: Any) -> dict[str, Any]:
    return {"toolConfig": {"functionCallingConfig": {"mode": mode, **fields}}}


SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}}


@pytest.mark.parametrize(
    ("options", "fields"),
    [
        ({"temperature": 0.5, "top_p": 0.9, "seed": 7}, generation(temperature=0.5, topP=0.9, seed=7)),
        ({"max_tokens": 7}, generation(maxOutputTokens=7)),
        ({"stop": ["END"]}, generation(stopSequences=["END"])),
        ({"service_tier": "flex"}, {"serviceTier": "flex"}),
        ({"metadata": {"team": "a"}}, {"labels": {"team": "a"}}),
        ({"tool_choice": "auto"}, calling("AUTO")),
        ({"tool_choice": "none"}, calling("NONE")),
        ({"tool_choice": "required"}, calling("ANY")),
        ({"tool_choice": {"type": "tool", "name": "f"}}, calling("ANY", allowedFunctionNames=["f"])),
        (
            {"tool_choice": {"type": "function", "function": {"name": "f"}}},
            calling("ANY", allowedFunctionNames=["f"]),
        ),
        ({"tool_choice": {"mode": "VALIDATED"}}, calling("VALIDATED")),
        ({"tool_choice": calling("AUTO")["toolConfig"]}, calling("AUTO")),
        ({"response_format": {"type": "json_object"}}, generation(responseMimeType="application/json")),
        (
            {"response_format": {"type": "json_schema", "json_schema": {"name": "n", "schema": SCHEMA}}},
            generation(responseMimeType="application/json", responseJsonSchema=SCHEMA),
        ),
        (
            {"max_tokens": 7, "extra_body": {"generationConfig": {"topK": 3}, "safetySettings": []}},
            {**generation(maxOutputTokens=7, topK=3), "safetySettings": []},
        ),
        (
            {
                "cache_retention": "long",
                "prompt_cache_key": "k",
                "response_format": {"type": "text"},
            },
            {},
        ),
    ],
)
async def test_option(options: dict[str, Any], fields: dict[str, Any]) -> None:
    context = Context(messages=[UserMessage(content="hello")], tools=[TOOL])
    plain = await sent(context)
    assert await sent(context, StreamOptions(**options)) == {**plain, **fields}


async def test_one_call_at_a_time_cannot_be_asked_for() -> None:
    with pytest.raises(ProviderError, match="parallel_tool_calls"):
        await sent(options=StreamOptions(parallel_tool_calls=False))


@pytest.mark.parametrize("compat", [{"thinkng": "budget"}, {"thinking": "often"}])
async def test_a_departure_nobody_knows_is_an_error_that_names_it(compat: dict[str, Any]) -> None:
    with pytest.raises(ProviderError, match=f"compat.{next(iter(compat))}.*images_beside_results") as raised:
        await sent(compat=compat)
    assert raised.value.kind == "invalid_request"


async def test_a_format_it_cannot_express_is_said_before_the_request_goes_out() -> None:
    with pytest.raises(ProviderError, match="json_schema") as raised:
        await sent(options=StreamOptions(response_format={"type": "grammar"}))
    assert raised.value.kind == "invalid_request"


async def test_tools_and_the_system_prompt() -> None:
    search: dict[str, Any] = {"googleSearch": {}}
    body = await sent(
        Context(system_prompt="s", messages=[UserMessage(content="a")], tools=[TOOL]),
        StreamOptions(extra_body={"tools": [search]}),
    )
    declared = {"name": "f", "description": "does f", "parametersJsonSchema": TOOL.parameters}
    assert body["tools"] == [{"functionDeclarations": [declared]}, search]
    assert body["systemInstruction"] == {"parts": [{"text": "s"}]}


async def test_a_strict_tool_asks_for_validated_calls() -> None:
    context = Context(messages=[UserMessage(content="a")], tools=[TOOL.model_copy(update={"strict": True})])
    assert (await sent(context))["toolConfig"] == calling("VALIDATED")["toolConfig"]


async def test_the_least_a_request_holds() -> None:
    assert await sent() == {"contents": [{"role": "user", "parts": [{"text": "hello"}]}]}


@pytest.mark.parametrize(
    ("model_id", "options", "thinking"),
    [
        (GEMINI, {"reasoning": "high"}, {"includeThoughts": True, "thinkingLevel": "HIGH"}),
        (GEMINI, {"reasoning": "minimal"}, {"includeThoughts": True, "thinkingLevel": "MINIMAL"}),
        (GEMINI, {"reasoning": "off"}, {"thinkingLevel": "MINIMAL"}),
        (
            GEMINI,
            {"reasoning": "low", "thinking_budgets": {"low": 99}},
            {"includeThoughts": True, "thinkingBudget": 99},
        ),
        ("gemini-2.5-flash", {"reasoning": "low"}, {"includeThoughts": True, "thinkingBudget": 2048}),
        ("gemini-2.5-flash", {"reasoning": "off"}, {"thinkingBudget": 0}),
    ],
)
async def test_how_much_to_think(model_id: str, options: dict[str, Any], thinking: Any) -> None:
    body = await sent(options=SimpleStreamOptions(**options), model_id=model_id)
    assert body["generationConfig"] == {"thinkingConfig": thinking}


async def test_a_model_that_does_not_reason_is_told_nothing() -> None:
    body = await sent(options=SimpleStreamOptions(reasoning="high"), reasoning=False)
    assert "generationConfig" not in body


async def test_compat_says_how_a_model_with_another_name_thinks() -> None:
    body = await sent(
        options=SimpleStreamOptions(reasoning="low"), model_id="mine", compat={"thinking": "budget"}
    )
    assert body["generationConfig"]["thinkingConfig"]["thinkingBudget"] == 2048


async def test_images_in_questions_and_in_results() -> None:
    image = ImageContent(data="aGk=", mime_type="image/png")
    wire = {"inlineData": {"mimeType": "image/png", "data": "aGk="}}
    context = Context(
        messages=[
            UserMessage(content=[TextContent(text="look"), image]),
            said(ToolCall(id="c1", name="f", arguments={})),
            ToolResultMessage(
                tool_call_id="c1", tool_name="f", content=[TextContent(text="bad"), image], is_error=True
            ),
        ]
    )
    body = await sent(context, input=["text", "image"])
    assert body["contents"][0]["parts"] == [{"text": "look"}, wire]
    response = {"id": "c1", "name": "f", "response": {"error": "bad"}}
    assert body["contents"][2] == {
        "role": "user",
        "parts": [{"functionResponse": {**response, "parts": [wire]}}],
    }
    older = await sent(context, input=["text", "image"], model_id="gemini-2.5-pro")
    assert older["contents"][2]["parts"] == [{"functionResponse": response}, wire]
    blind = await sent(context)
    assert blind["contents"][0]["parts"][1]["text"] == "[image/png left out: this model takes text only]"


async def test_results_of_one_turn_stand_in_one_content_in_the_order_of_the_calls() -> None:
    results = [
        ToolResultMessage(tool_call_id=f"c{n}", tool_name="f", content=[TextContent(text=str(n))])
        for n in (2, 1)
    ]
    calls = [ToolCall(id=f"c{n}", name="f", arguments={}) for n in (1, 2)]
    context = Context(messages=[UserMessage(content="a"), said(*calls), *results, UserMessage(content="b")])
    contents = (await sent(context))["contents"]
    assert [one["role"] for one in contents] == ["user", "model", "user", "user"]
    assert [part["functionResponse"]["id"] for part in contents[2]["parts"]] == ["c1", "c2"]


async def test_everything_of_this_model_goes_back_part_by_part() -> None:
    code = {"executableCode": {"language": "PYTHON", "code": "1"}, "thoughtSignature": "S0"}
    parts = [
        {"text": "hm", "thought": True, "thoughtSignature": "S1"},
        code,
        {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "1"}},
        {"text": "so"},
        {"text": "", "thoughtSignature": "S2"},
        call(args={"a": 1}, id="c1", signature="S3"),
    ]
    replies = [answer(chunk(*parts), stop(groundingMetadata={"q": 1})), answer(chunk({"text": "ok"}), stop())]
    with WireServer(*replies) as server:
        message = final(await collect(PROVIDER, gemini(server)))
        assert isinstance(message.content[-1], OpaqueContent)
        context = Context(messages=[UserMessage(content="a"), message, UserMessage(content="b")])
        await collect(PROVIDER, gemini(server), context)
        assert server.requests[1].json()["contents"][1] == {"role": "model", "parts": parts}


async def test_another_model_gets_text_and_calls_without_what_is_bound_to_the_first() -> None:
    message = said(
        ThinkingContent(thinking="hm", signature="S1"),
        TextContent(text="so", signature="S2"),
        ToolCall(id="c1", name="f", arguments={}, signature="S3"),
        ToolCall(id="c2", name="f", arguments={}),
        OpaqueContent(kind="executableCode", data={"executableCode": {}}),
    )
    context = Context(messages=[UserMessage(content="a"), message])
    calls: list[dict[str, Any]] = [
        {"functionCall": {"id": one, "name": "f", "args": {}}} for one in ("c1", "c2")
    ]
    older = await sent(context, model_id="gemini-2.5-pro")
    assert older["contents"][1]["parts"] == [{"text": "so"}, *calls]
    # Later models refuse a first call without a signature, and document what stands for a missing one.
    calls[0]["thoughtSignature"] = "skip_thought_signature_validator"
    newer = await sent(context, model_id="gemini-3-flash")
    assert newer["contents"][1]["parts"] == [{"text": "so"}, *calls]


async def test_calls_that_were_cut_go_back_only_with_an_answer() -> None:
    cut = InvalidToolCall(id="c1", name="f", arguments_text="[1]", reason="invalid")
    answered = ToolResultMessage(
        tool_call_id="c1", tool_name="f", content=[TextContent(text="bad")], is_error=True
    )
    body = await sent(Context(messages=[UserMessage(content="a"), said(cut), answered]))
    assert body["contents"][1]["parts"][0]["functionCall"]["args"] == {"invalid_arguments": "[1]"}
    without = await sent(Context(messages=[UserMessage(content="a"), said(cut), UserMessage(content="b")]))
    assert [one["role"] for one in without["contents"]] == ["user", "user"]


async def test_half_a_character_does_not_spoil_the_request() -> None:
    body = await sent(Context(messages=[UserMessage(content="cut \ud83d and joined \ud83d\ude00")]))
    assert body["contents"][0]["parts"][0]["text"] == "cut \ufffd and joined 😀"


async def test_the_key_and_the_headers() -> None:
    key = "AIza" + "-test-key"
    reply = answer(chunk({"text": "ok"}), stop())
    with WireServer(reply, reply, reply) as server:
        model = gemini(server, headers={"x-team": "a", "X-Both": "model"})
        await collect(PROVIDER, model, HELLO, StreamOptions(api_key=key, headers={"x-both": "call"}))
        await collect(PROVIDER, model)
        await collect(PROVIDER, model, HELLO, StreamOptions(headers={"authorization": "Bearer mine"}))
        keyed, keyless, own = (request.headers for request in server.requests)
    assert (keyed["x-goog-api-key"], keyed["x-team"], keyed["x-both"]) == (key, "a", "call")
    assert "x-goog-api-key" not in keyless
    assert own["authorization"] == "Bearer mine"
    assert "x-goog-api-key" not in own


async def test_a_key_of_the_environment_is_used_and_no_other_providers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("GEMINI_API_KEY", "from-the-environment")
    reply = answer(chunk({"text": "ok"}), stop())
    with WireServer(reply, reply) as server:
        await collect(PROVIDER, gemini(server))
        await collect(PROVIDER, gemini(server).model_copy(update={"provider": "elsewhere"}))
        own, other = (request.headers for request in server.requests)
    assert own["x-goog-api-key"] == "from-the-environment"
    assert "x-goog-api-key" not in other


async def test_a_remote_address_wants_a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("GEMINI_API_KEY", "GOOGLE_API_KEY"):
        monkeypatch.delenv(variable, raising=False)
    with WireServer() as server:
        remote = gemini(server).model_copy(update={"base_url": "https://gateway.example"})
        with pytest.raises(MissingCredentialsError, match="GEMINI_API_KEY or GOOGLE_API_KEY"):
            await collect(PROVIDER, remote)


@pytest.mark.parametrize(
    ("suffix", "model_id", "path"),
    [
        ("", "m", r"/v1(beta)?/models/m"),
        ("/v1beta", "m", "/v1beta/models/m"),
        ("/proxy/v1/", "m", "/proxy/v1/models/m"),
        ("", "tunedModels/m", r"/v1(beta)?/tunedModels/m"),
        ("/v1beta", "a?b", "/v1beta/models/a%3Fb"),
    ],
)
async def test_the_address(suffix: str, model_id: str, path: str) -> None:
    with WireServer(answer(chunk({"text": "ok"}), stop())) as server:
        model = gemini(server, model_id).model_copy(update={"base_url": server.url + suffix})
        await collect(PROVIDER, model)
        assert re.fullmatch(rf"{path}:streamGenerateContent\?alt=sse", server.requests[0].path)
