"""``openprogram recordings delete``."""

from __future__ import annotations

from openprogram_core.cli._arguments import confirm, recording_id_argument, require_consent, yes_option
from openprogram_core.cli._command import openprogram_command
from openprogram_core.cli._output import say


@openprogram_command(
    "recordings",
    "delete",
    examples=[
        "openprogram recordings delete checkout",
        "openprogram recordings delete checkout --yes",
    ],
)
@recording_id_argument
@yes_option
def command(recording_id: str, yes: bool) -> int:
    """Delete a managed recording.

    Asks first; without a terminal to ask at, --yes is needed. The active recording and one that a process is
    writing are not deleted.
    """
    from openprogram_core._config_update import edit_configuration
    from openprogram_core.recordings.store import delete_recording, require_deletable

    require_consent(yes)
    if not yes:
        from openprogram_core._config import read_configuration

        require_deletable(recording_id, read_configuration().file)
        if not confirm(f"Delete the recording {recording_id} for good?"):
            say("Nothing was deleted.")
            return 1
    with edit_configuration() as editor:
        delete_recording(recording_id, editor.current.file)
    say(f"Deleted {recording_id}.")
    return 0
