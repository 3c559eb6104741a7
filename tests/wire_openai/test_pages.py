"""An answer of status 200 that is no stream: a wrong address, a proxy, a login page."""

from __future__ import annotations

import pytest

from openprogram_core.errors import ProviderError
from openprogram_core.providers import Context
from tests.support.wire_server import Reply, WireServer
from tests.wire_openai.models import PROVIDERS, model_at


@pytest.mark.parametrize("api", ["openai-completions", "openai-responses"])
@pytest.mark.parametrize(
    ("reply", "words"),
    [
        (Reply(b"<html><h1>Sign in</h1></html>", headers={"content-type": "text/html"}), "<h1>Sign in</h1>"),
        (Reply(status=204, headers={}), "the answer is empty"),
    ],
)
async def test_a_page_instead_of_a_stream_is_named_and_not_worth_a_retry(
    api: str, reply: Reply, words: str
) -> None:
    with WireServer(reply) as server:
        provider = PROVIDERS[api]
        with pytest.raises(ProviderError, match="is base_url right") as caught:
            await anext(provider.stream(model_at(server, api), Context()))
    assert (caught.value.kind, caught.value.retryable) == ("protocol", False)
    assert words in str(caught.value)
