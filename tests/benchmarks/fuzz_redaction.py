"""Hostile texts and patterns against the engine: ``python -m tests.benchmarks.fuzz_redaction --seconds 60``.

Every text is redacted whole and at half its length: the time may grow with the length and no faster. Every
result is redacted again and must not change, and no planted key may be left.
"""

from __future__ import annotations

import argparse
import base64
import random
import time
from collections.abc import Callable

import openprogram_redaction
from openprogram_core._plugins import Contribution, PluginSet
from openprogram_core.redaction import Redactor, SecretRule, ValueRule
from openprogram_core.redaction.scanner import Scanner

_PIECES = (
    'password="', "password: ", "token=", '"api_key":', "cookie: ", "cookie: a=b; ", '"password":{',
    '{"a":', "\\", '"',
    "://", "http://a:b@", "curl -u ", "<password>", "data:text/plain;base64,QUJD", "data:image/png;base64,",
    "bearer ", "Basic ", "-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----", "%61", "%22",
    "machine a login b ",
    "mysql -p", "uid=a;", "pwd=", "é", "\ud800", "sk-", "eyJ-", "eyJaaaaaaaaaa.", "***", "...",
    "[secret removed]",
    "&amp;", "?key=", "\\u0022", "\n", " ", "A" * 40, "x1" * 30, "{", "}", "[", "]", ",",
    "Authorization: ", "--token ",
)  # fmt: skip
_PATTERNS = (
    r"acme_(a+)+b", r"acme_(a|a)*c", r"acme_(.*)(.*)(.*)d", r"acme_[a-z]{1,200}[0-9]{1,200}!",
    r"acme_(\w+\s?)*$",
    r"acme_.*?x.*?y.*?z", r"(?i)acme_(x*)*y", r"acme_(?:[a-z]+[0-9]*)+@",
)  # fmt: skip
KEY = "ghp_" + "aB3dE6gH9jK2mN5pQ8rS1tU4vW7xY0zAabcd"


def hostile_text(rng: random.Random, size: int) -> str:
    """Return a text of one, two or many pieces over and over."""
    chosen = [rng.choice(_PIECES) for _ in range(rng.choice((1, 1, 2, 3, 8)))]
    if rng.random() < 0.3:
        rng.shuffle(chosen)
        return "".join(
            rng.choice(chosen) for _ in range(size // max(1, len("".join(chosen)) // len(chosen)))
        )[:size]
    text = "".join(chosen)
    return (text * (size // len(text) + 1))[:size]


def fixed_texts() -> list[str]:
    """Return the texts that froze others: a 4 MB image, `eyJ-` over and over, lone surrogates."""
    image = base64.b64encode(random.Random(1).randbytes(3_000_000)).decode()
    return [
        image,
        "data:image/png;base64," + image,
        "eyJ-" * 30_000,
        "\ud800" * 100_000,
        "é" * 200_000,
        "a" * 1_000_000,
    ]


def hostile_scanner() -> Scanner:
    """Return the built-in rules with patterns that hang a backtracking engine."""
    rules: list[Contribution[SecretRule]] = [
        Contribution(
            "hostile", ValueRule(name=f"h{number}", literals=("acme_",), pattern=pattern, matches=(example,))
        )
        for number, (pattern, example) in enumerate(zip(_PATTERNS, _EXAMPLES, strict=True))
    ]
    return Scanner(rules)


_EXAMPLES = ("acme_aab", "acme_aac", "acme_xd", "acme_a1!", "acme_ab", "acme_xyz", "acme_xy", "acme_a1@")


def redactor() -> Redactor:
    """Return the built-in rules."""
    return Redactor.from_plugins(PluginSet([], {}).with_plugins([openprogram_redaction]))


def seconds(function: Callable[[], object]) -> float:
    """Return how long one call takes."""
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def check_text(engine: Redactor, text: str, place: int) -> tuple[float, float]:
    """Redact a text with a key planted in it; returns the seconds for all of it and for its first half."""
    half = text[: len(text) // 2]
    short = seconds(lambda: engine.remove_secret_values(half))
    whole = seconds(lambda: engine.remove_secret_values(text))
    planted = f"{text[:place]} {KEY} {text[place:]}"
    once = engine.remove_secret_values(planted)
    if KEY in once and "data:image" not in text:
        raise AssertionError(f"a planted key is left at {place} of {text[:60]!r}")
    if engine.remove_secret_values(once) != once:
        raise AssertionError(f"redacting twice changes {text[:60]!r}")
    return whole, short


def check_hostile_patterns(rng: random.Random, size: int) -> float:
    """Run the hostile patterns over a text that makes them work; returns the seconds."""
    scanner = hostile_scanner()
    text = ("acme_" + rng.choice(("a" * 50, "a1" * 30, "xy" * 40, "a b " * 20))) * (size // 60)
    data = text.encode()
    return seconds(lambda: scanner.edits(text, data, scanner.hits(data)))


def main() -> None:
    """Fuzz for some seconds and say what was slowest."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    rng = random.Random(arguments.seed)
    engine = redactor()
    for text in fixed_texts():
        whole, short = check_text(engine, text, len(text) // 3)
        print(
            f"{text[:12]!r:24} {len(text) / 1e6:5.2f} MB: {whole * 1e3:8.1f} ms, "
            f"half of it {short * 1e3:8.1f} ms"
        )
    slowest, worst, count = 0.0, 0.0, 0
    end = time.perf_counter() + arguments.seconds
    while time.perf_counter() < end:
        text = hostile_text(rng, rng.choice((2_000, 20_000, 120_000)))
        whole, short = check_text(engine, text, rng.randrange(len(text)))
        count += 1
        slowest = max(slowest, whole / len(text) * 1e6)
        if short > 0.05 and whole / short > worst:
            worst = whole / short
            print(
                f"{len(text)} characters of {text[:40]!r}: {whole / short:4.1f} times the time of half of it"
            )
        check_hostile_patterns(rng, 20_000)
    print(
        f"{count} texts; the slowest took {slowest:.1f} seconds a megabyte; "
        f"the time of twice the text is at most {worst:.1f} times that of once"
    )


if __name__ == "__main__":
    main()
