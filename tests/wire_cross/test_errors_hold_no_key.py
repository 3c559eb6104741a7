from __future__ import annotations

import traceback

import pytest

from openprogram_core.errors import ProviderError
from openprogram_core.providers import Context, Model, StreamOptions, UserMessage, complete
from tests.support.wire_server import WireServer, json_reply

APIS = ["openai-completions", "openai-responses", "anthropic-messages", "google-generative-ai"]


@pytest.mark.parametrize("api", APIS)
async def test_a_service_that_repeats_the_key_does_not_bring_it_into_the_traceback(api: str) -> None:
    key = "sk-" + "proj-" + "Synthetic0Value1Only2Test3Synthetic0Value1Only2T"
    body = {"error": {"message": f"Incorrect API key provided: {key}", "type": "auth", "code": 401}}
    with WireServer(json_reply(body, status=401)) as server:
        model = Model(id="m", api=api, provider="p", base_url=f"{server.url}/v1")
        with pytest.raises(ProviderError) as caught:
            await complete(model, Context(messages=[UserMessage(content="hi")]), StreamOptions(api_key=key))
    told = "".join(traceback.format_exception(caught.value))
    assert caught.value.kind == "auth"
    assert "Incorrect API key provided: [secret removed]" in told
    assert key not in told
    assert "raised by" in told
