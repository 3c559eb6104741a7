"""Arguments and options that several commands take."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from openprogram_core.cli._command import CommandFailedError
from openprogram_core.cli._output import is_terminal, printable, say
from openprogram_core.cli._words import warn_repairs
from openprogram_core.errors import OpenProgramError, RecordingStoreError

EVERY_CALL = "all"
"""What stands for all the calls of a recording."""

F = TypeVar("F", bound=Callable[..., Any])

json_option: Callable[[F], F] = click.option(
    "--json", "as_json", is_flag=True, help="Write JSON to stdout, for programs."
)
"""``--json``, given to the function as ``as_json``."""

yes_option: Callable[[F], F] = click.option("--yes", "-y", is_flag=True, help="Do not ask first.")
"""``--yes``, given to the function as ``yes``; hand it to `require_consent`."""


def call_number(ctx: click.Context, param: click.Parameter, value: str | None) -> int | str | None:
    """Callback of an option: the number of a call, counted from 0, or `EVERY_CALL`; else wrong use."""
    if value is None or value == EVERY_CALL:
        return value
    if value.isascii() and value.isdigit() and len(value) <= 18:
        return int(value)
    raise click.BadParameter(f"{value!r} is neither the number of a call, counted from 0, nor {EVERY_CALL!r}")


def number_of_days(ctx: click.Context, param: click.Parameter, value: str) -> float:
    """Callback of an option: a span in days, which may be a fraction; else wrong use."""
    try:
        days = float(value)
    except ValueError:
        days = -1.0
    # Nothing is younger than NaN days: it would delete everything.
    if not 0 <= days < float("inf"):
        raise click.BadParameter(f"{value!r} is no number of days, 0 or more")
    return days


def _complete_id(
    ctx: click.Context, param: click.Parameter, incomplete: str
) -> list[click.shell_completion.CompletionItem]:
    from click.shell_completion import CompletionItem

    from openprogram_core.recordings.store import managed_ids

    return [CompletionItem(known) for known in managed_ids() if known.startswith(incomplete)]


def _complete_id_or_path(
    ctx: click.Context, param: click.Parameter, incomplete: str
) -> list[click.shell_completion.CompletionItem]:
    from click.shell_completion import CompletionItem

    return [*_complete_id(ctx, param, incomplete), CompletionItem(incomplete, type="file")]


def _checked_id(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    from openprogram_core.recordings.store_names import check_recording_id

    reason = None if value is None else check_recording_id(value)
    if reason is not None:
        raise click.BadParameter(f"{value!r}: {reason}")
    return value


def _located(ctx: click.Context, param: click.Parameter, value: str) -> Path:
    from openprogram_core.recordings.store_examine import require_recording
    from openprogram_core.recordings.store_names import locate

    try:
        path = locate(value)
    except RecordingStoreError as error:
        raise click.BadParameter(f"{value!r}: {error.reason}") from error
    try:
        warn_repairs(require_recording(path))
    except (OpenProgramError, OSError) as error:
        raise CommandFailedError(getattr(ctx.command, "trouble_exit", 1)) from error
    return path


def recording_argument(name: str = "recording") -> Callable[[F], F]:
    """Return the argument ``ID-or-PATH``, given to the function as an absolute path called ``name``.

    A text that can be neither id nor path is wrong use; a file that is not there, or a managed recording that
    is a link, is an error of the command.
    """
    return click.argument(name, metavar="ID-or-PATH", callback=_located, shell_complete=_complete_id_or_path)


recording_id_argument: Callable[[F], F] = click.argument(
    "recording_id", metavar="ID", callback=_checked_id, shell_complete=_complete_id
)
"""``ID`` of a managed recording, given to the function as ``recording_id``; a malformed one is wrong use."""

name_option: Callable[[F], F] = click.option(
    "--name",
    metavar="ID",
    callback=_checked_id,
    help="Id of the new recording; made from the time by default.",
)
"""``--name`` of a new managed recording; a malformed one is wrong use."""


def require_consent(yes: bool) -> None:
    """Refuse (exit code 2) to destroy anything without ``--yes`` when there is nobody to ask."""
    if not yes and not (is_terminal(sys.stdin) and is_terminal(sys.stderr)):
        raise click.UsageError("there is no terminal to ask at: add --yes to go ahead without being asked")


def confirm(question: str) -> bool:
    """Ask a yes-or-no question on stderr; no answer, and end of input, mean no."""
    sys.stderr.write(f"{printable(question)} [y/N] ")
    sys.stderr.flush()
    answer = sys.stdin.readline()
    if not answer:
        say("")
    return answer.strip().lower() in ("y", "yes")
