"""``openprogram recordings off``: works whatever is broken, and loads no plugin."""

from __future__ import annotations

from openprogram_core.cli._command import openprogram_command
from openprogram_core.cli._output import printable, say, warn
from openprogram_core.cli._words import say_next_start


@openprogram_command("recordings", "off", examples=["openprogram recordings off"])
def command() -> None:
    """Neither record nor replay from the next start on.

    The recording stays. A configuration file that cannot be used is set aside under another name, never lost,
    and a fresh one written.
    """
    from openprogram_core._config_update import switch_off

    done = switch_off()
    if done.set_aside is not None:
        warn(str(done.broken))
        warn(
            f"it was set aside as {done.set_aside} and a fresh one written; "
            "plugins that it disabled are no longer disabled"
        )
    if done.before is not None and done.before.mode == "off":
        say("It was off already.")
        return
    if done.before is not None and done.before.file is not None:
        say(f"Mode {done.before.mode} is off; {printable(str(done.before.file))} stays as it is.")
    say_next_start()
