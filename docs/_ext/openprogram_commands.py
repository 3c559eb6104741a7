"""The directive ``openprogram-commands``: every command and option, from the command line's own objects."""

from __future__ import annotations

import inspect
from collections.abc import Iterator

import click
from docutils import nodes
from openprogram_markdown import to_markdown
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from openprogram_core.cli._run import PROGRAM, root_group


def walk(
    command: click.Command, context: click.Context
) -> Iterator[tuple[click.Command, click.Context]]:
    """Yield a command and all below it, each with its context, in the order of the help texts."""
    yield command, context
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            assert below is not None
            yield from walk(below, click.Context(below, info_name=name, parent=context))


def every_command() -> list[tuple[click.Command, click.Context]]:
    """Return the whole tree, the program itself first."""
    root = root_group()
    settings = dict(root.context_settings)
    return list(walk(root, click.Context(root, info_name=PROGRAM, **settings)))


def anchor(context: click.Context) -> str:
    """Return the anchor of a command: ``cli-recordings-record``."""
    return (
        "cli-" + "-".join(context.command_path.split()[1:]) if context.parent else "cli"
    )


def _option_lines(command: click.Command, context: click.Context) -> Iterator[str]:
    for parameter in command.get_params(context):
        record = parameter.get_help_record(context)
        if record is None or not isinstance(parameter, click.Option):
            continue
        names, help_text = record
        yield f"`{names}`"
        yield f": {help_text}"
        yield ""


def _examples(command: click.Command) -> list[str]:
    examples = getattr(command, "examples", ())
    return ["```sh", *examples, "```", ""] if examples else []


def command_section(command: click.Command, context: click.Context) -> str:
    """Return the section of one command as Markdown."""
    level = "##" if isinstance(command, click.Group) else "###"
    usage = " ".join([context.command_path, *command.collect_usage_pieces(context)])
    return "\n".join(
        [
            f"{{#{anchor(context)}}}",
            f"{level} {context.command_path}",
            "",
            "```text",
            usage,
            "```",
            "",
            to_markdown(inspect.cleandoc(command.help or "")),
            "",
            *_option_lines(command, context),
            *_examples(command),
        ]
    )


class CommandsDirective(SphinxDirective):
    """Writes a section for every command."""

    def run(self) -> list[nodes.Node]:
        """Return the sections."""
        text = "\n".join(command_section(*one) for one in every_command())
        return self.parse_text_to_nodes(text, allow_section_headings=True)


def setup(app: Sphinx) -> dict[str, bool]:
    """Add the directive."""
    app.add_directive("openprogram-commands", CommandsDirective)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
