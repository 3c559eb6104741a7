"""The command line, ``openprogram``.

One file a command: ``<group>_<name>.py`` here, with an attribute ``command``. A command's file is imported
when that command runs, so that nobody pays for the others.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Sequence

GROUPS: dict[str, str] = {
    "": "Record and replay LLM provider calls.",
    "recordings": "Record provider calls, replay them, and look after the recordings.",
    "plugins": "List, check and write plugins.",
}
"""What each group of commands is for; the empty name is ``openprogram`` itself."""

COMMANDS: dict[str, dict[str, str]] = {
    "": {
        "redact": "Remove secrets from a text or a JSON file.",
        "demo": "Record and replay a made-up conversation, offline.",
    },
    "recordings": {
        "status": "Say what is configured, and what is in the way.",
        "record": "Record every provider call from the next start on.",
        "replay": "Answer every provider call from a recording, from the next start on.",
        "off": "Neither record nor replay from the next start on.",
        "list": "List the managed recordings.",
        "show": "Show what a recording holds.",
        "delete": "Delete a managed recording.",
        "prune": "Delete managed recordings older than some days.",
        "scan": "Look for secrets in a recording with today's rules.",
        "diff": "Compare the requests of two recordings.",
        "check": "Check every row of a recording.",
    },
    "plugins": {
        "list": "List the installed plugins.",
        "check": "Check the plugins' rules, and what they cost.",
        "new": "Write the files of a new plugin.",
    },
}
"""Every command with its one line of help, by group. The file of a command is loaded when it runs."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code.

    ``arguments`` are those after the program's name, `sys.argv`'s by default. 0 means done, 1 that it could
    not be done, 2 wrong use, 130 interrupted; ``scan``, ``diff`` and ``check`` say 0 for clean, 1 for
    something found, 2 for trouble.
    """
    alone = arguments is None
    if alone:
        # Until the command runs nothing becomes garbage; looking for it costs a fifth of a short command.
        gc.disable()
    try:
        from openprogram_core.cli._run import run

        return run(list(sys.argv[1:] if arguments is None else arguments), alone=alone)
    except KeyboardInterrupt:
        return 130
    finally:
        if alone:
            settle()


def settle() -> None:
    """Take what exists as there to stay, and collect garbage from now on; for a process of our own."""
    gc.freeze()
    gc.enable()
