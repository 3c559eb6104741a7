"""Runs one command line: parses it, runs the command, and turns whatever happens into an exit code."""

from __future__ import annotations

import io
import os
import sys
from typing import Any

import click

from openprogram_core import __version__
from openprogram_core.cli._command import CommandFailedError, LazyGroup
from openprogram_core.cli._output import complain, printable, say
from openprogram_core.errors import OpenProgramError

PROGRAM = "openprogram"
INTERRUPTED = 130


def root_group() -> click.Group:
    """Return the whole command tree; the commands in it load when they are asked for."""
    settings = {"help_option_names": ["-h", "--help"], "max_content_width": 100}
    root = LazyGroup(
        "",
        context_settings=settings,
        examples=[
            "openprogram recordings record --name checkout",
            "openprogram recordings list",
            "openprogram demo",
        ],
    )
    root = click.version_option(__version__, prog_name=PROGRAM, message="%(prog)s %(version)s")(root)
    for group, examples in (
        (
            "recordings",
            [
                "openprogram recordings record --name checkout",
                "openprogram recordings show checkout",
                "openprogram recordings replay checkout",
                "openprogram recordings off",
            ],
        ),
        ("plugins", ["openprogram plugins list", "openprogram plugins check"]),
    ):
        root.add_command(LazyGroup(group, examples=examples))
    return root


def run(arguments: list[str], *, alone: bool = False) -> int:
    """Run ``openprogram`` with ``arguments`` and return the exit code.

    ``alone``: the process is here for this command line only.
    """
    _forgive_narrow_encodings()
    root = root_group()
    instruction = os.environ.get("_OPENPROGRAM_COMPLETE")
    if instruction:
        from click.shell_completion import shell_complete

        return shell_complete(root, {}, PROGRAM, "_OPENPROGRAM_COMPLETE", instruction)
    exit_code = _guarded(root, arguments, alone)
    return _flushed(exit_code)


def _guarded(root: click.Group, arguments: list[str], alone: bool) -> int:
    try:
        with root.make_context(PROGRAM, arguments, obj=alone) as context:
            result = root.invoke(context)
        return result if isinstance(result, int) else 0
    except click.exceptions.Exit as exit_request:
        return exit_request.exit_code
    except click.exceptions.NoArgsIsHelpError as error:
        error.show(sys.stderr)
        return error.exit_code
    except click.UsageError as error:
        if error.ctx is not None:
            say(error.ctx.get_usage())
            say(f"Try '{error.ctx.command_path} --help' for help.")
        complain(error.format_message())
        return error.exit_code
    except click.ClickException as error:
        complain(error.format_message())
        return error.exit_code
    except (KeyboardInterrupt, click.Abort):
        say("")
        complain("interrupted")
        return INTERRUPTED
    except BrokenPipeError:
        _drop_output()
        return 0
    except CommandFailedError as failure:
        return _failed(failure)


def _failed(failure: CommandFailedError) -> int:
    cause = failure.__cause__
    if isinstance(cause, BrokenPipeError):
        # The reader has seen enough; that is no failure, but no all-clear either.
        _drop_output()
        return 0 if failure.exit_code == 1 else failure.exit_code
    if isinstance(cause, OpenProgramError):
        complain(str(cause))
    elif isinstance(cause, OSError) and cause.strerror:
        where = f"{cause.filename}: " if cause.filename else ""
        complain(f"{where}{cause.strerror}")
    else:
        import traceback

        assert cause is not None
        say(printable("".join(traceback.format_exception(cause)), multiline=True))
        complain("this is a fault of openprogram itself; please report it with the lines above")
    return failure.exit_code


def _flushed(exit_code: int) -> int:
    # What is still buffered fails here, where it can be answered, and not at interpreter exit.
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except BrokenPipeError:
        _drop_output()
    except OSError as error:
        _drop_output()
        complain(f"the output could not be written: {error.strerror}")
        return exit_code or 1
    return exit_code


def _drop_output() -> None:
    # Python flushes again at exit; into the void it cannot fail.
    try:
        descriptor = sys.stdout.fileno()
        void = os.open(os.devnull, os.O_WRONLY)
        os.dup2(void, descriptor)
        os.close(void)
    except (OSError, ValueError, AttributeError):
        pass


def _forgive_narrow_encodings() -> None:
    stream: Any
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
