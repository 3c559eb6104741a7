"""A known value goes however it is written down, wherever a service echoes it, wherever it was learnt."""

from __future__ import annotations

import base64
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from openprogram_core.providers import (
    AssistantMessage,
    Context,
    DoneEvent,
    Model,
    OpaqueContent,
    StartEvent,
    StreamOptions,
    TextContent,
    ThinkingContent,
    Tool,
    ToolCall,
    UserMessage,
)
from openprogram_core.redaction import PLACEHOLDER
from tests.redaction.support import MODEL, RecordedStream, as_text, built_in, cut, recorded, stream_events

KEY = "q7Zk/9+Wm-" + "rT2_vB4xN8"
DATA = KEY.encode()
SPELLINGS = {
    "escapes": "".join(f"\\u{ord(character):04x}" for character in KEY),
    "some escapes": KEY.replace("-", "\\u002d").replace("/", "\\u002F"),
    "twice escaped": KEY.replace("-", "\\\\u002d"),
    "mixed url": quote(KEY, safe="").replace("%2F", "%2f"),
    "everything encoded": "".join(f"%{octet:02X}" for octet in DATA),
    "needlessly encoded": KEY.replace("-", "%2D").replace("_", "%5f"),
    "twice encoded": quote(quote(KEY, safe="").replace("%2F", "%2f"), safe=""),
    "hex": DATA.hex(),
    "hex with colons": DATA.hex(":"),
    "python escapes": "".join(f"\\x{octet:02x}" for octet in DATA),
    "wrapped base64": base64.encodebytes(b"x" * 50 + DATA).decode(),
    "html": KEY.replace("+", "&#43;").replace("/", "&#x2F;"),
    "upper": KEY.upper(),
    "lower": KEY.lower(),
    "spaced": " ".join(KEY),
    "zero width": "\u200b".join(KEY),
    "soft hyphen": KEY[:10] + "\u00ad" + KEY[10:],
    "broken line": KEY[:12] + "\n    " + KEY[12:],
    "escaped break": KEY[:10] + "\\n" + KEY[10:],
    "full width": "".join(chr(ord(character) + 0xFEE0) for character in KEY),
    "two literals": KEY[:10] + '" + "' + KEY[10:],
    "markdown": KEY.replace("_", "\\_").replace("+", "\\+"),
    "tail": "…" + KEY[-4:],
}


@pytest.mark.parametrize("size", [1, 3, 100])
@pytest.mark.parametrize("spelling", SPELLINGS)
def test_a_known_value_goes_in_any_spelling_and_nothing_else_does(spelling: str, size: int) -> None:
    text = SPELLINGS[spelling]
    whole = f"the key {text} ends"
    assert built_in().open_call([KEY]).value(whole).endswith(" ends")
    assert text[-6:].strip() not in built_in().open_call([KEY]).value(whole)
    stream = recorded([whole[at : at + size] for at in range(0, len(whole), size)], "text", [KEY])
    assert text[-4:] not in stream.joined or spelling == "wrapped base64", stream.joined
    assert stream.joined.startswith("the key ")
    assert stream.joined.rstrip().endswith("ends")
    assert not stream.violations()


def spelled(draw: Any, character: str) -> str:
    code = ord(character)
    forms = [character] * 3 + [
        f"%{code:02X}",
        f"%{code:02x}",
        f"%25{code:02x}",
        f"\\u{code:04X}",
        f"&#{code};",
    ]
    return str(draw(st.sampled_from([*forms, f"&#x{code:x};", f"\\\\u{code:04x}", f"\\x{code:02x}"])))


@st.composite
def any_spelling(draw: Any) -> list[str]:
    return [spelled(draw, character) for character in KEY]


@settings(max_examples=200, deadline=None)
@given(pieces=any_spelling(), places=st.lists(st.integers(0, 160), max_size=12))
def test_no_mixture_of_spellings_survives_any_cut(pieces: list[str], places: list[int]) -> None:
    text = "".join(pieces)
    stream = recorded(cut(f"see {text} there", places), "text", [KEY])
    assert "".join(pieces[4:]) not in stream.joined
    assert stream.joined.startswith("see ")
    assert stream.joined.endswith(f"{PLACEHOLDER} there")
    assert built_in().open_call([KEY]).value(f"see {text} there") == f"see {PLACEHOLDER} there"


def test_other_values_of_the_same_make_stay() -> None:
    call = built_in().open_call([KEY, "12345678"])
    for text in ("q7Zk/9+Wm-rT2_vB4xN9", "1 2 3 4 5 6 7 8", "%71%37%5A", "q\nq7", KEY[1:], "\\u0071 \\u0037"):
        assert call.value(text) == text
        stream = recorded(list(text), "text", [KEY, "12345678"])
        assert stream.joined == text


def test_a_word_keeps_its_case() -> None:
    call = built_in().open_call(["Sunshine"])
    assert call.value("Sunshine and sunshine") == f"{PLACEHOLDER} and sunshine"


REQUESTS: dict[str, tuple[StreamOptions, Model]] = {
    "url query": (
        StreamOptions(),
        MODEL.model_copy(update={"base_url": f"https://e.org/?api_key={quote(KEY, safe='')}"}),
    ),
    "url login": (
        StreamOptions(),
        MODEL.model_copy(update={"base_url": f"https://u:{quote(KEY, safe='')}@e.org"}),
    ),
    "connection": (StreamOptions(extra_body={"db": f"postgres://u:{quote(KEY, safe='')}@h/d"}), MODEL),
    "assignment": (StreamOptions(extra_body={"note": f"API_KEY={KEY}"}), MODEL),
    "digest": (StreamOptions(headers={"Authorization": f'Digest username="u", response="{KEY}"'}), MODEL),
    "nested json": (StreamOptions(metadata={"a": f'{{"b": "password={KEY}"}}'}), MODEL),
}


@pytest.mark.parametrize("place", REQUESTS)
def test_what_rules_remove_from_a_request_goes_from_its_answer_too(place: str) -> None:
    options, model = REQUESTS[place]
    call = built_in().open_call()
    call.request(model, Context(messages=[UserMessage(content="hi")]), options)
    stream = RecordedStream(stream_events(["it is ", KEY[:7], KEY[7:], " now"]), call)
    assert stream.joined == f"it is {PLACEHOLDER} now"
    assert KEY not in as_text(call.value({"message": f"bad key {KEY}"}))


@pytest.mark.parametrize(
    "said",
    [
        "password: required",
        "token=next(tokens)",
        "see https://e.org/?key=ArrowDown",
        "the secret is out",
        "a=1",
    ],
)
def test_harmless_text_teaches_nothing(said: str) -> None:
    call = built_in().open_call()
    call.request(MODEL, Context(messages=[UserMessage(content=said)]), None)
    text = "required, next(tokens), ArrowDown, secret and out"
    assert call.value(text) == text


def echoing(text: str) -> AssistantMessage:
    return AssistantMessage(
        api="a",
        provider="p",
        model=f"m {text}",
        response_id=text,
        service_stop_reason=text,
        service_details={"echo": {"signature": text, text: 1}},
        content=[
            TextContent(text="fine", signature=text, citations=[{"encrypted_index": text}]),
            ThinkingContent(thinking="fine", signature=text),
            ToolCall(id=f"call {text}", name=text, arguments={}, signature=text),
            OpaqueContent(kind=text, data={"encrypted_content": text}),
        ],
    )


def test_the_call_s_own_key_goes_even_where_no_shape_counts() -> None:
    call = built_in().open_call([KEY])
    model = MODEL.model_copy(update={"id": f"m-{KEY}"})
    context = Context(
        messages=[echoing(KEY)], tools=[Tool(name=KEY, parameters={"properties": {KEY: {"const": KEY}}})]
    )
    assert KEY.encode() not in call.request(model, context, None).dump()
    events: list[Any] = [StartEvent(message=echoing(KEY)), DoneEvent(reason="stop", message=echoing(KEY))]
    assert KEY.encode() not in b"".join(as_text(row).encode() for row in RecordedStream(events, call).rows)


def test_a_key_echoed_as_the_id_of_a_streamed_call_goes_and_the_stream_stays_sound() -> None:
    events = stream_events(['{"a":', " 1}"], "arguments")
    replaced: list[Any] = []
    for event in events:
        text = event.model_dump_json().replace("call_1", KEY)
        replaced.append(type(event).model_validate_json(text))
    stream = RecordedStream(replaced, built_in().open_call([KEY]))
    assert KEY not in as_text(stream.rows)
    assert stream.joined == '{"a": 1}'
    assert not stream.violations()
