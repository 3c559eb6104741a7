"""``openprogram recordings replay``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from openprogram_core._config import ORDERS
from openprogram_core._paths import recordings_dir
from openprogram_core.cli._arguments import recording_argument
from openprogram_core.cli._command import openprogram_command
from openprogram_core.cli._modes import require_plugins
from openprogram_core.cli._output import count, format_size, printable, say, warn
from openprogram_core.cli._progress import Progress
from openprogram_core.cli._words import say_next_start

if TYPE_CHECKING:
    from openprogram_core.providers.wrapping import Order


@openprogram_command(
    "recordings",
    "replay",
    examples=[
        "openprogram recordings replay checkout",
        "openprogram recordings replay tests/recordings/checkout.jsonl",
        "openprogram recordings replay checkout --order any-order",
    ],
)
@recording_argument()
@click.option(
    "--order",
    type=click.Choice(ORDERS),
    help="How the next recorded call is chosen; what is configured already stays when this is not given.",
)
def command(recording: Path, order: Order | None) -> None:
    """Answer every provider call from a recording, from the next start on.

    The whole recording is checked first; when it is bad, nothing is changed. ID-or-PATH is the id of a
    managed recording, or a path to any recording file: a text with a path separator, or one that ends in
    .jsonl.
    """
    from openprogram_core._config_update import edit_configuration
    from openprogram_core.recordings import read_recording_file

    size = recording.stat().st_size
    with Progress(f"Checking {recording.name} ({format_size(size)})"), read_recording_file(recording) as read:
        calls = len(read.calls)
    managed = recording.parent == recordings_dir()
    with edit_configuration() as editor:
        require_plugins(editor.current, "replay")
        # Looked at again under the lock, because a deletion waits for it too.
        recording.stat()
        written = editor.write(mode="replay", file=recording.name if managed else str(recording), order=order)
    if not calls:
        warn(f"{recording} holds no calls, so every provider call will be a mismatch")
    say(
        f"Provider calls will be answered from {printable(str(recording))} ({count(calls, 'call')}, "
        f"{written.order}); no provider will be called."
    )
    say_next_start()
