"""What every command has in common: where its help comes from, its examples, its exit codes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

import click

from openprogram_core.cli import COMMANDS, GROUPS, settle


class CommandFailedError(Exception):
    """A command raised; ``__cause__`` is what, ``exit_code`` what its failing means."""

    def __init__(self, exit_code: int) -> None:
        super().__init__(exit_code)
        self.exit_code = exit_code


class OpenProgramCommand(click.Command):
    """A command whose help ends in examples.

    Its function returns the exit code, or None for 0. ``trouble_exit`` is the code when it raises: 1, or 2
    for commands that speak like ``diff(1)``.
    """

    def __init__(
        self, name: str, *, examples: Sequence[str] = (), trouble_exit: int = 1, **settings: Any
    ) -> None:
        super().__init__(name, **settings)
        self.examples = tuple(examples)
        self.trouble_exit = trouble_exit

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command's function; what it raises is wrapped with the exit code that it means."""
        if ctx.obj is True:
            settle()
        try:
            return super().invoke(ctx)
        except (click.ClickException, click.Abort, click.exceptions.Exit, CommandFailedError):
            raise
        except Exception as error:
            raise CommandFailedError(self.trouble_exit) from error

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the examples, one a line and never wrapped: they are there to be copied."""
        write_examples(self.examples, formatter)


def write_examples(examples: Sequence[str], formatter: click.HelpFormatter) -> None:
    """Write the section of examples, when there are any."""
    if examples:
        formatter.write_paragraph()
        formatter.write_heading("Examples")
        for example in examples:
            formatter.write(f"  {example}\n")


def openprogram_command(
    group: str, name: str, *, examples: Sequence[str], trouble_exit: int = 1
) -> Callable[[Callable[..., int | None]], OpenProgramCommand]:
    """Make a function the command ``openprogram [group] name``; ``group`` is empty for one without.

    The command must stand in `openprogram_core.cli.COMMANDS`, whose line is its short help; the function's
    docstring is the long one. ``examples`` are whole command lines.

    >>> @openprogram_command("recordings", "list", examples=["openprogram recordings list --json"])
    ... def command() -> None:
    ...     "List the managed recordings."
    """
    short_help = COMMANDS[group][name]

    def decorate(function: Callable[..., int | None]) -> OpenProgramCommand:
        made = click.command(
            name,
            cls=OpenProgramCommand,
            short_help=short_help,
            examples=examples,
            trouble_exit=trouble_exit,
        )(function)
        assert isinstance(made, OpenProgramCommand)
        return made

    return decorate


class LazyGroup(click.Group):
    """A group that knows its commands' names and help from the table and loads only the one that runs."""

    def __init__(self, group: str, *, examples: Sequence[str], **settings: Any) -> None:
        super().__init__(group or "openprogram", help=GROUPS[group], no_args_is_help=True, **settings)
        self.group_name = group
        self.examples = tuple(examples)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names, in the table's order; groups first."""
        return [*self.commands, *COMMANDS[self.group_name]]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Load a command's file; None when there is no such command."""
        if cmd_name in self.commands:
            return self.commands[cmd_name]
        if cmd_name not in COMMANDS[self.group_name]:
            return None
        module = (
            f"{__package__}.{self.group_name}_{cmd_name}" if self.group_name else f"{__package__}.{cmd_name}"
        )
        try:
            command = import_module(module).command
        except ModuleNotFoundError as error:
            if error.name != module:
                raise
            return _missing(cmd_name)
        assert isinstance(command, click.Command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command; an unknown one is an error that names the nearest."""
        name = args[0]
        if name not in self.list_commands(ctx) and not name.startswith("-") and not ctx.resilient_parsing:
            from difflib import get_close_matches

            near = get_close_matches(name, self.list_commands(ctx), n=1)
            hint = f" Did you mean {near[0]!r}?" if near else ""
            ctx.fail(f"no such command {name!r}.{hint}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the table of commands without loading any."""
        rows = [(name, GROUPS[name]) for name in self.commands]
        with formatter.section("Commands"):
            formatter.write_dl([*rows, *COMMANDS[self.group_name].items()])

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the examples."""
        write_examples(self.examples, formatter)


def _missing(name: str) -> click.Command:
    def say_so() -> None:
        raise click.ClickException(
            f"the command {name!r} is not part of this installation. "
            "Reinstall it whole: pip install --force-reinstall openprogram-core"
        )

    settings = {"ignore_unknown_options": True, "allow_extra_args": True}
    return click.Command(name, callback=say_so, context_settings=settings, add_help_option=False)
