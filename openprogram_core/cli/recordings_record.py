"""``openprogram recordings record``."""

from __future__ import annotations

from openprogram_core.cli._arguments import name_option
from openprogram_core.cli._command import openprogram_command
from openprogram_core.cli._modes import require_plugins
from openprogram_core.cli._output import data, printable, say
from openprogram_core.cli._words import PRIVATE, say_next_start


@openprogram_command(
    "recordings",
    "record",
    examples=["openprogram recordings record", "openprogram recordings record --name checkout"],
)
@name_option
def command(name: str | None) -> None:
    """Record every provider call from the next start on.

    Makes a new managed recording, writes its id to stdout, and configures it; when one of the two cannot be
    done, neither is. Every program that starts from now on adds its calls to it, until 'openprogram
    recordings off'. Nothing is ever overwritten.
    """
    from openprogram_core._config_update import edit_configuration
    from openprogram_core.recordings.store import create_recording, discard_recording

    with edit_configuration() as editor:
        before = editor.current
        require_plugins(before, "record")
        path = create_recording(name)
        try:
            editor.write(mode="record", file=path.name)
        except BaseException:
            discard_recording(path)
            raise
    data(path.stem)
    if before.file is not None:
        say(f"This ends mode {before.mode} with {printable(str(before.file))}, which stays as it is.")
    say(f"Provider calls will be recorded to {printable(str(path))}, secrets removed; {PRIVATE}.")
    say_next_start()
