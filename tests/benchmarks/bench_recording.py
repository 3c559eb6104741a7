"""What recording, opening and replaying cost, as ratios within one run.

    python -m tests.benchmarks.bench_recording [--gigabyte] [--folder DIR]

The floor is the same rows dumped with ``json`` and written with ``os.write``, nothing else. Times are CPU
time, so that a busy machine does not change the ratios; of several rounds the best counts. ``--gigabyte``
also writes, opens and replays a recording of 1 GB, in processes of their own whose peak memory is read.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from openprogram_core.providers import (
    ApiProvider,
    AssistantMessageEvent,
    Context,
    Model,
    StreamAssembler,
    StreamOptions,
    UserMessage,
)
from openprogram_core.recordings import (
    call_end_row,
    encode_event,
    event_row_head,
    header_row,
    read_recording_file,
    request_row,
)
from openprogram_record import RecordingProvider, RecordingSink

MODEL = Model(id="bench", api="bench", provider="bench")
ROUNDS = 7
Clock = Callable[[], float]


class _Provider(ApiProvider):
    requires_credentials = False

    def __init__(self, events: Sequence[AssistantMessageEvent]) -> None:
        self.events = events

    async def stream(self, model: Model, context: Context, options: StreamOptions | None = None) -> Any:
        for event in self.events:
            yield event


def events_of(count: int) -> list[AssistantMessageEvent]:
    """A message of ``count`` events: its start, deltas of two words, its end."""
    assembler = StreamAssembler(MODEL)
    events = list(assembler.text(0, "hello there "))
    while len(events) < count - 2:
        events += assembler.text(0, f"word {len(events)} ")
    return events + assembler.done("stop")


def asking(text: str) -> Context:
    """A context of one message."""
    return Context(messages=[UserMessage(content=text)])


async def _times(provider: ApiProvider, clock: Clock, marks: Sequence[int]) -> list[float]:
    """The clock after each of the events with these indexes, and at the end of the stream."""
    times: list[float] = []
    # The clock is asked seldom: it costs as much as a row's write.
    left, index = iter((*marks, -1)), 0
    mark = next(left)
    async for _ in provider.stream(MODEL, asking("hi"), None):
        if index == mark:
            times.append(clock())
            mark = next(left)
        index += 1
    return [*times, clock()]


def _floor(path: Path, rows: Sequence[dict[str, Any]], clock: Clock) -> float:
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
    began = clock()
    for row in rows:
        os.write(fd, (json.dumps(row) + "\n").encode())
    spent = clock() - began
    os.close(fd)
    path.unlink()
    return spent


def per_event(folder: Path) -> None:
    """Cost of an event by the length of its stream, and of the last ones against the first."""
    path, clock = folder / "stream.jsonl", time.thread_time
    for count in (100, 1_000, 10_000):
        provider = _Provider(events_of(count))
        rows = [
            {"type": "event", "call_index": 0, "event_index": index, "event": event.model_dump(mode="json")}
            for index, event in enumerate(provider.events)
        ]
        floor = plain = spent = first = last = float("inf")
        tenth = max(count // 10, 20)
        # Deltas all: the first two and the last two events are of other kinds.
        marks = (0, 2, 2 + tenth, count - 4 - tenth, count - 4)
        for _ in range(ROUNDS * (10 if count < 10_000 else 3)):
            floor = min(floor, _floor(folder / "floor", rows, clock))
            bare = asyncio.run(_times(provider, clock, marks))
            plain = min(plain, bare[-1] - bare[0])
            with RecordingSink(path) as sink:
                times = asyncio.run(_times(RecordingProvider(provider, sink), clock, marks))
            size = path.stat().st_size
            path.unlink()
            # From the first event on: the request's row is the call's cost, not the event's.
            spent = min(spent, times[-1] - times[0])
            first = min(first, times[2] - times[1])
            last = min(last, times[4] - times[3])
        print(
            f"recording, {count:6,} events a stream: {spent / floor:.2f} x the floor "
            f"({(spent - plain) / floor:.2f} x without what streaming itself costs), "
            f"{spent / count * 1e6:.2f} us and {size / count:.0f} bytes an event; "
            f"last events {last / first:.2f} x the first"
        )


def per_call(folder: Path) -> None:
    """Cost of a call of ten events by the number of calls, and of the last ones against the first."""
    path, clock = folder / "calls.jsonl", time.thread_time
    provider = _Provider(events_of(10))
    for count in (10, 500, 5_000):
        spent = first = last = floor = float("inf")
        for _ in range(ROUNDS * 10 if count == 10 else 3):
            with RecordingSink(path) as sink:
                recorder = RecordingProvider(provider, sink)
                times = asyncio.run(_call_times(recorder, count, clock))
            size = path.stat().st_size
            rows = [json.loads(line) for line in path.read_bytes().splitlines()]
            path.unlink()
            floor = min(floor, _floor(folder / "floor", rows, clock))
            few = max(count // 10, 5)
            spent = min(spent, times[-1] - times[0])
            first = min(first, times[few] - times[0])
            last = min(last, times[-1] - times[-1 - few])
        print(
            f"recording, {count:6,} calls of 10 events: {spent / floor:.2f} x the floor, "
            f"{spent / count * 1e6:.0f} us and {size / count:,.0f} bytes a call; "
            f"last calls {last / first:.2f} x the first"
        )


async def _call_times(provider: ApiProvider, count: int, clock: Clock) -> list[float]:
    times = [clock()]
    for _ in range(count):
        async for _ in provider.stream(MODEL, asking("hi"), None):
            pass
        times.append(clock())
    return times


def _write(path: Path, size: int, overlapping: int) -> None:
    """Write a recording of about ``size`` bytes: calls of 1,000 events, some of them at the same time."""
    payload = json.dumps(
        {
            "model": MODEL.model_dump(mode="json"),
            "context": asking("hello " * 2_000).model_dump(mode="json"),
            "options": {},
        }
    ).encode()
    bodies = [encode_event(event) for event in events_of(1_000)]
    call_index = 0
    with path.open("wb") as file:
        file.write(header_row(recording_id="bench", created_at="now", generator="bench", redaction={}))
        while file.tell() < size:
            group = range(call_index, call_index + overlapping)
            call_index += overlapping
            for index in group:
                file.write(request_row(index, payload, at="2026-01-01T00:00:00Z", lane=None))
            heads = [event_row_head(index) for index in group]
            for number, body in enumerate(bodies):
                for head in heads:
                    file.write(b'%b%d,"event":%b}\n' % (head, number, body))
            for index in group:
                file.write(call_end_row(index, len(bodies), "complete", duration_ms=1))


def opening(folder: Path, size: int, overlapping: int) -> None:
    """Cost of opening and of replaying against parsing every line once."""
    path, clock = folder / "large.jsonl", time.thread_time
    _write(path, size, overlapping)
    parse = open_time = replay = float("inf")
    for _ in range(3):
        began = clock()
        with path.open("rb") as file:
            for line in file:
                json.loads(line)
        parse = min(parse, clock() - began)
        began = clock()
        recording = read_recording_file(path)
        open_time = min(open_time, clock() - began)
        began = clock()
        with recording:
            for call in recording.calls:
                for _ in call.events():
                    pass
        replay = min(replay, clock() - began)
    path.unlink()
    kind = "one call after the other" if overlapping == 1 else f"{overlapping} calls at a time"
    print(
        f"{size // 1_000_000} MB, {kind}: opening {open_time / parse:.2f} x, "
        f"replaying {replay / parse:.2f} x json.loads of its lines"
    )


_PARSE = """
import json, sys, time
began = time.perf_counter()
for line in open(sys.argv[1], "rb"):
    json.loads(line)
print(f"json.loads of its lines: {time.perf_counter() - began:.1f} s")
"""
_OPEN_AND_REPLAY = """
import pathlib, re, resource, sys, time
from openprogram_core.recordings import read_recording_file
began = time.perf_counter()
recording = read_recording_file(sys.argv[1])
opened = time.perf_counter()
events = sum(1 for call in recording.calls for _ in call.events())
done = time.perf_counter()
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
status = pathlib.Path("/proc/self/status")
if status.exists():
    # Linux counts what the process was before it became this program into ru_maxrss, but not into this.
    peak = int(re.search("VmHWM:.*?([0-9]+)", status.read_text())[1]) / 1024
print(f"opened in {opened - began:.1f} s, {events:,} events replayed in {done - opened:.1f} s, "
      f"peak memory {peak:.0f} MB")
"""


def gigabyte(folder: Path) -> None:
    """Open and replay 1 GB in a process of its own."""
    path = folder / "gigabyte.jsonl"
    for overlapping in (1, 50):
        _write(path, 1_000_000_000, overlapping)
        for code in (_PARSE, _OPEN_AND_REPLAY):
            command = [sys.executable, "-c", code, str(path)]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
            print(f"1 GB, {overlapping} calls at a time: {done.stdout.strip()}")
        path.unlink()


def against_vcrpy(folder: Path) -> None:
    """The same conversation over loopback, recorded and replayed by both."""
    from tests.benchmarks.conversation import PIECES, TURNS, compare

    times = compare(folder)
    plain = times["plain"]
    record, record_vcr = times["record"] - plain, times["record vcrpy"] - plain
    print(
        f"a conversation of {TURNS} turns of {PIECES} pieces over loopback: recording adds {record:.2f} s "
        f"({record / plain:.2f} x the calls themselves), vcrpy adds {record_vcr:.2f} s: "
        f"ratio {record / record_vcr:.2f}"
    )
    print(
        f"  replaying it: {times['replay']:.2f} s, vcrpy {times['replay vcrpy']:.2f} s: "
        f"ratio {times['replay'] / times['replay vcrpy']:.2f}; on disk {times['bytes'] / 1e6:.2f} MB, "
        f"vcrpy {times['bytes vcrpy'] / 1e6:.2f} MB"
    )


def main() -> None:
    """Run everything and print the ratios."""
    parser = argparse.ArgumentParser(description="Benchmarks of the recording format and the recorder.")
    parser.add_argument("--gigabyte", action="store_true", help="also open and replay 1 GB")
    parser.add_argument("--folder", type=Path, help="where to write; a temporary folder by default")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=arguments.folder) as name:
        folder = Path(name)
        per_event(folder)
        per_call(folder)
        for overlapping in (1, 50):
            opening(folder, 20_000_000, overlapping)
        against_vcrpy(folder)
        if arguments.gigabyte:
            gigabyte(folder)
    print(f"peak memory of this process {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")


if __name__ == "__main__":
    main()
