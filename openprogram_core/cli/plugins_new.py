"""``openprogram plugins new``."""

from __future__ import annotations

from pathlib import Path

import click

from openprogram_core.cli._command import openprogram_command
from openprogram_core.cli._output import data, printable, say


@openprogram_command(
    "plugins",
    "new",
    examples=["openprogram plugins new acme-secrets", "openprogram plugins new acme-secrets --into ~/code"],
)
@click.argument("name", metavar="NAME")
@click.option(
    "--into",
    "parent",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path(),
    metavar="FOLDER",
    help="Where the package's folder is made; the current folder by default.",
)
def command(name: str, parent: Path) -> None:
    """Write the files of a new plugin.

    They are a complete package called NAME: a secret rule, a field skip, the entry point and the tests. It
    installs, and its tests pass, as written. The paths of the files go to stdout.
    """
    from openprogram_core.plugin_kit.scaffold import write_plugin

    files = write_plugin(name, parent)
    for path in files:
        data(printable(str(path)))
    folder = next(path.parent for path in files if path.name == "pyproject.toml")
    module = next(path for path in files if path.name == "__init__.py")
    tests = next(path for path in files if path.parent.name == "tests")
    say(
        f"next: cd {printable(str(folder))} && pip install -e '.[test]' && pytest\n"
        f"then put your own pattern, its examples and your field into {_within(module, folder)}\n"
        f"({_within(tests, folder)} takes the key from the rule's first example)"
    )


def _within(path: Path, folder: Path) -> str:
    return printable(path.relative_to(folder).as_posix())
