"""Figures of the command line: ``python -m tests.benchmarks.bench_cli``.

Start-up as a multiple of a bare interpreter, ``list`` over 1,000 recordings, ``show`` of one of 1 GB with the
memory it takes. The large files are made in a temporary folder and removed.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from openprogram_core.providers import Context, UserMessage
from tests.support.recording_files import call, conversation, header, text_events, write

ROUNDS = 15
MANY = 1_000
LARGE_BYTES = 1_000_000_000


class Cost(NamedTuple):
    """What a process took: seconds, seconds of the processor, and the most memory it held, in bytes."""

    seconds: float
    processor: float
    memory: float


def main() -> None:
    """Measure and print."""
    with tempfile.TemporaryDirectory(prefix="openprogram-bench-") as folder:
        home = Path(folder) / "home"
        # Compiled modules, as an installation has them, whatever this environment says.
        environment = {**os.environ, "OPENPROGRAM_HOME": str(home), "PYTHONPYCACHEPREFIX": folder + "/pyc"}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        startup(home, environment)
        listing(home, environment)
        showing(home, environment)


def command(*arguments: str) -> list[str]:
    """The console script where there is one, else the module."""
    script = shutil.which("openprogram", path=str(Path(sys.executable).parent))
    return [*([script] if script else [sys.executable, "-m", "openprogram_core.cli"]), *arguments]


def startup(home: Path, environment: dict[str, str]) -> None:
    """Best of some rounds, all commands taken in turn so that the machine's mood hits them alike."""
    runs = {
        "python -c pass": [sys.executable, "-c", "pass"],
        "python -c 'import click'": [sys.executable, "-c", "import click"],
        "--version": command("--version"),
        "--help": command("--help"),
        "recordings --help": command("recordings", "--help"),
        "recordings status, nothing there": command("recordings", "status"),
    }
    print(f"start-up, best of {ROUNDS}; processor time is what a busy machine does not change")
    write(home / "recordings" / "one.jsonl", conversation())
    best = timed(runs, environment)
    write(home / "config.toml", b'[record_replay]\nmode = "record"\nfile = "one.jsonl"\n')
    bare = {name: runs[name] for name in list(runs)[:1]}
    again = timed({**bare, "recordings status, recording": command("recordings", "status")}, environment)
    for figures in (best, again):
        floor = next(iter(figures.values()))
        for name, found in figures.items():
            print(
                f"  {name:34} {found.seconds * 1000:7.1f} ms {found.seconds / floor.seconds:5.2f} x"
                f"   {found.processor * 1000:7.1f} ms {found.processor / floor.processor:5.2f} x"
            )
    (home / "config.toml").unlink()


def timed(runs: dict[str, list[str]], environment: dict[str, str]) -> dict[str, Cost]:
    """Return the least that each command line took."""
    best: dict[str, Cost] = {}
    # The first round compiles the modules.
    for turn in range(ROUNDS + 1):
        for name, arguments in runs.items():
            found = measured(arguments, environment)
            if turn:
                known = best.get(name, found)
                best[name] = Cost(*(min(pair) for pair in zip(known, found, strict=True)))
    return best


def listing(home: Path, environment: dict[str, str]) -> None:
    """``list`` over many recordings, against reading the same bytes."""
    context = Context(messages=[UserMessage(content="x" * 2_000)])
    body = header() + b"".join(call(number, context, text_events("y" * 500)) for number in range(20))
    for number in range(MANY):
        write(home / "recordings" / f"r{number:04}.jsonl", body)
    floor = sum(read_all(path) for path in (home / "recordings").iterdir())
    found = timed({"list": command("recordings", "list")}, environment)["list"]
    print(f"list over {MANY:,} recordings of {len(body) / 1000:.0f} kB, 20 calls each")
    print(f"  reading the bytes, nothing else    {floor * 1000:7.1f} ms")
    print(f"  recordings list                    {found.seconds * 1000:7.1f} ms")
    shutil.rmtree(home / "recordings")


def showing(home: Path, environment: dict[str, str]) -> None:
    """``show`` of large recordings: one mostly of requests, one mostly of small events."""
    for name, make in (("a loop's growing history", histories), ("small events", small_events)):
        path = home / "recordings" / "large.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with large(path, make()) as size:
            for arguments in (["show", "large"], ["show", "large", "--call", "1"], ["list"]):
                floor = read_all(path)
                found = measured(command("recordings", *arguments), environment)
                print(
                    f"{' '.join(arguments)}: {size / 1e9:.2f} GB of {name}: {found.seconds:.1f} s, "
                    f"{found.processor:.1f} s of the processor (reading the bytes {floor:.2f} s), "
                    f"{found.memory / 1e6:.0f} MB of memory at most"
                )


def read_all(path: Path) -> float:
    """Read a file piece by piece, do nothing with it, and return the seconds it took."""
    began = time.perf_counter()
    with path.open("rb") as file:
        while file.read(1 << 20):
            pass
    return time.perf_counter() - began


def histories() -> Iterator[bytes]:
    """Calls that each repeat 400 kB of conversation."""
    context = Context(messages=[UserMessage(content="x" * 4_000) for _ in range(100)])
    for number in range(10**9):
        yield call(number, context, text_events("y" * 100))


def small_events() -> Iterator[bytes]:
    """Calls of 5,000 deltas."""
    deltas = text_events("word ")
    events = [*deltas[:2], *deltas[2:3] * 5_000, *deltas[3:]]
    for number in range(10**9):
        yield call(number, Context(), events)


@contextmanager
def large(path: Path, rows: Iterator[bytes]) -> Iterator[int]:
    """Write a large recording; gives its size, and removes it."""
    size = 0
    try:
        with path.open("wb") as file:
            size += file.write(header())
            while size < LARGE_BYTES:
                size += file.write(next(rows))
        path.chmod(0o600)
        yield size
    finally:
        path.unlink()


def measured(arguments: list[str], environment: dict[str, str]) -> Cost:
    """Run a command that must succeed, and return what it took."""
    began = time.perf_counter()
    process = subprocess.Popen(
        arguments, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0
    memory = used.ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    return Cost(time.perf_counter() - began, used.ru_utime + used.ru_stime, memory)


if __name__ == "__main__":
    main()
