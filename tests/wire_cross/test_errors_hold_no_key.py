from __future__ import annotations

import base64
import traceback
from urllib.parse import quote

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


ODD_KEY = "q7Zk/9+Wm-" + "rT2_vB4xN8"
SPELLINGS = {
    "url": quote(ODD_KEY, safe=""),
    "base64": base64.b64encode(ODD_KEY.encode()).decode(),
    "hexadecimal": ODD_KEY.encode().hex(),
    "escaped": ODD_KEY.replace("-", "\\u002d"),
}


@pytest.mark.parametrize("spelling", SPELLINGS)
@pytest.mark.parametrize("api", APIS)
async def test_nor_in_another_spelling(api: str, spelling: str) -> None:
    text = SPELLINGS[spelling]
    with WireServer(json_reply({"error": {"message": f"bad key {text}", "code": 401}}, status=401)) as server:
        model = Model(id="m", api=api, provider="p", base_url=f"{server.url}/v1")
        with pytest.raises(ProviderError) as caught:
            await complete(
                model, Context(messages=[UserMessage(content="hi")]), StreamOptions(api_key=ODD_KEY)
            )
    assert "bad key [secret removed]" in str(caught.value)
    assert text not in "".join(traceback.format_exception(caught.value))
