"""Figures of the pytest plugin: ``python -m tests.benchmarks.bench_pytest_plugin``.

What a test costs that does not use it, with the plugin and without; what a replayed test costs over one that
calls its provider directly. Times are the processor's, of pytest's whole protocol for one test.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

TESTS = 200
ROUNDS = 5

CONFTEST = """
import asyncio, json, os, time
import pytest

TIMES = {}

@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item):
    begin = time.process_time()
    result = yield
    TIMES.setdefault(item.name.partition("[")[0], []).append(time.process_time() - begin)
    return result

def pytest_unconfigure():
    with open(os.environ["BENCH_TIMES"], "w") as file:
        json.dump(TIMES, file)
"""
UNMARKED = f"""
import pytest

@pytest.mark.parametrize("number", range({TESTS * 5}))
def test_unmarked(number):
    pass
"""
MARKED = f"""
import asyncio
import pytest
from openprogram_core.providers import (
    Context, StreamOptions, UserMessage, complete, register_api_provider, unregister_api_provider
)
from openprogram_core.testing import ScriptedProvider, scripted_model

WORDS = "one two three four five six seven eight nine ten eleven twelve " * 2

@pytest.fixture(scope="module", autouse=True)
def live():
    register_api_provider("scripted", ScriptedProvider(lambda *given: WORDS))
    yield
    unregister_api_provider("scripted")

def call(number):
    context = Context(messages=[UserMessage(content=f"call {{number}}: " + "word " * 200)])
    assert asyncio.run(complete(scripted_model(), context, StreamOptions()))

@pytest.mark.parametrize("number", range({TESTS}))
def test_direct(number):
    call(number)

@pytest.mark.openprogram_recording
@pytest.mark.parametrize("number", range({TESTS}))
def test_replayed(number):
    call(number)
"""


def main() -> None:
    """Measure and print."""
    with tempfile.TemporaryDirectory(prefix="openprogram-bench-") as name:
        folder = Path(name)
        (folder / "pytest.ini").write_text("[pytest]\nasyncio_default_fixture_loop_scope = function\n")
        (folder / "conftest.py").write_text(CONFTEST)
        (folder / "test_unmarked.py").write_text(UNMARKED)
        (folder / "test_marked.py").write_text(MARKED)
        unmarked(folder)
        marked(folder)


def unmarked(folder: Path) -> None:
    """A test that does nothing, with the plugin and without, in turn."""
    costs: dict[bool, list[float]] = {True: [], False: []}
    for _ in range(ROUNDS):
        for plugged in costs:
            switch = () if plugged else ("-p", "no:openprogram_pytest")
            costs[plugged].append(run(folder, "test_unmarked.py", *switch)["test_unmarked"])
    with_plugin, without = min(costs[True]), min(costs[False])
    spread = max(costs[False]) - without
    print(
        f"unmarked test: {with_plugin * 1e6:.0f} µs with the plugin, {without * 1e6:.0f} µs without "
        f"({with_plugin / without:.2f} x; runs without it differ by {spread * 1e6:.0f} µs)"
    )


def marked(folder: Path) -> None:
    """A test with one call of 30 events, replayed and called directly, in the same run."""
    run(folder, "test_marked.py", "--openprogram-record=once")
    direct, replayed = [], []
    for _ in range(ROUNDS):
        times = run(folder, "test_marked.py")
        direct.append(times["test_direct"])
        replayed.append(times["test_replayed"])
    extra = min(replayed) - min(direct)
    print(
        f"marked test: {min(replayed) * 1e3:.2f} ms replayed, {min(direct) * 1e3:.2f} ms called directly "
        f"({extra * 1e3:+.2f} ms, to be below 2 ms)"
    )


def run(folder: Path, *arguments: str) -> dict[str, float]:
    """Run pytest and return the median seconds of one test, by the test's name."""
    times = folder / "times.json"
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments],
        cwd=folder,
        env={**os.environ, "BENCH_TIMES": str(times), "OPENPROGRAM_HOME": str(folder / "home")},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise SystemExit(done.stdout + done.stderr)
    measured: dict[str, list[float]] = json.loads(times.read_text())
    return {name: statistics.median(seconds) for name, seconds in measured.items()}


if __name__ == "__main__":
    main()
