"""The documentation builds without a warning, is complete, and none of its links is dead."""

from __future__ import annotations

import importlib
import re
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import click
import pytest
from filelock import FileLock

from openprogram_core.hookspecs import HOOK_NAMES
from tests.docs.blocks import DOCS, ROOT, pages
from tests.docs.site import Site, build

pytest.importorskip("furo", reason="needs the extra 'docs'")

DOORS = (
    "openprogram_core",
    "openprogram_core.comparison",
    "openprogram_core.providers",
    "openprogram_core.providers.adapter",
    "openprogram_core.recordings",
    "openprogram_core.redaction",
    "openprogram_core.testing",
    "openprogram_field_skips",
    "openprogram_record",
    "openprogram_redaction",
    "openprogram_replay",
)


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Site:
    base = tmp_path_factory.getbasetemp()
    shared = base if worker_id == "master" else base.parent
    folder, log = shared / "site" / "html", shared / "site-build.log"
    with FileLock(shared / "site.lock"):
        if not log.exists():
            ran = build(folder)
            log.write_text(ran.stdout + ran.stderr, encoding="utf-8")
    assert log.read_text(encoding="utf-8") == ""
    return Site(folder)


def test_no_link_is_dead(site: Site) -> None:
    assert list(site.dead_links()) == []


def test_the_normative_design_is_where_it_is_referred_to(site: Site) -> None:
    assert site.page("record-replay").path == site.folder / "record-replay.html"


def test_relative_links_of_the_sources_lead_to_files() -> None:
    dead = []
    for page in pages():
        text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
        for link in re.findall(r"\]\(([^)\s]+)\)", text):
            parts = urlsplit(link)
            if not parts.scheme and parts.path and not (page.parent / unquote(parts.path)).exists():
                dead.append(f"{page.name}: {link}")
    assert dead == []


@pytest.mark.parametrize("name", HOOK_NAMES)
def test_every_hook_is_documented(site: Site, name: str) -> None:
    page = site.page("reference/hooks")
    assert f"hook-{name.replace('_', '-')}" in page.ids
    assert f"def {name}(" in page.text


def _commands() -> list[tuple[click.Command, click.Context]]:
    from openprogram_core.cli._run import PROGRAM, root_group

    def walk(command: click.Command, context: click.Context) -> Any:
        yield command, context
        if isinstance(command, click.Group):
            for name in command.list_commands(context):
                below = command.get_command(context, name)
                assert below is not None
                yield from walk(below, click.Context(below, info_name=name, parent=context))

    root = root_group()
    return list(walk(root, click.Context(root, info_name=PROGRAM)))


def test_every_command_and_every_option_is_documented(site: Site) -> None:
    page = site.page("reference/cli")
    commands = {"-".join(["cli", *one[1].command_path.split()[1:]]): one for one in _commands()}
    assert len(commands) > 15
    for place, (command, context) in commands.items():
        section = page.section(place, commands)
        assert section.strip().startswith(context.command_path)
        assert command.help, context.command_path
        for parameter in command.get_params(context):
            if isinstance(parameter, click.Option):
                assert parameter.help, f"{context.command_path} {parameter.name}"
                assert all(name in section for name in parameter.opts), f"{context.command_path} {parameter}"


def test_every_command_of_the_documentation_is_a_command() -> None:
    known = {context.command_path for _, context in _commands()}
    groups = {path.split()[-1] for path in known if len(path.split()) == 2}
    wrong = []
    for page in pages():
        for words in re.findall(r"\bopenprogram ([a-z]+)(?: ([a-z]+))?", page.read_text(encoding="utf-8")):
            group, name = words
            named = ("recordings", "plugins")
            if group in named and name and f"openprogram {group} {name}" not in known:
                wrong.append(f"{page.name}: openprogram {group} {name}")
            elif group not in groups and group not in named and f"openprogram {group}" not in known:
                wrong.append(f"{page.name}: openprogram {group}")
    assert wrong == []


def test_the_pytest_plugin_is_documented(site: Site) -> None:
    import openprogram_pytest
    from openprogram_pytest.settings import MODES

    page = site.page("reference/pytest")
    for word in ("--openprogram-record", "openprogram_allowed_hosts", *MODES, *openprogram_pytest.__all__):
        assert word in page.text


def test_every_exported_name_is_documented(site: Site) -> None:
    ids = {one for page in site.pages.values() for one in page.ids}
    known = {one.rpartition(".")[2] for one in ids}
    missing = [
        f"{door}.{name}"
        for door in DOORS
        for name in importlib.import_module(door).__all__
        if name not in known and not name.startswith("__") and name not in ("field_skips", "secret_rules")
    ]
    assert missing == []


def test_every_error_is_documented(site: Site) -> None:
    from openprogram_core import errors

    page = site.page("reference/errors")
    for name, thing in vars(errors).items():
        if isinstance(thing, type) and issubclass(thing, errors.OpenProgramError):
            assert f"openprogram_core.errors.{name}" in page.ids


def test_a_diagram_says_in_words_what_it_shows() -> None:
    from xml.etree import ElementTree

    used = "".join(page.read_text(encoding="utf-8") for page in pages())
    for image in sorted((DOCS / "images").glob("*.svg")):
        ElementTree.parse(image)
        assert f"images/{image.name}" in used
        for mention in re.findall(rf"images/{re.escape(image.name)}\n:alt: (.*)", used):
            assert len(mention) > 40


def test_nothing_of_one_machine_and_no_registry_is_named() -> None:
    hosts = ("pypi" + ".org", "python" + "hosted.org", "test.pypi")
    wrong = []
    for path in [*pages(), *DOCS.rglob("*.py"), *DOCS.rglob("*.svg"), *DOCS.rglob("*.css")]:
        if "_build" in path.parts:
            continue
        text = path.read_text(encoding="utf-8")
        found = re.findall(r"(?<![\w.$/}-])/(?:home|root|work|tmp|Users|usr)/[\w./-]*", text)
        found += [host for host in hosts if host in text]
        wrong += [f"{path.relative_to(ROOT)}: {one}" for one in found]
    assert wrong == []


def test_pages_are_short() -> None:
    long = {page.name: page.read_text(encoding="utf-8").count("\n") for page in pages()}
    assert {name: lines for name, lines in long.items() if lines > 400} == {}


def test_every_page_can_be_reached(site: Site) -> None:
    reached: set[Path] = set()
    waiting = [site.folder / "index.html"]
    while waiting:
        path = waiting.pop()
        if path in reached or path not in site.pages:
            continue
        reached.add(path)
        page = site.pages[path]
        waiting += [(path.parent / unquote(urlsplit(link).path)).resolve() for link in page.links]
    built = {page: site.folder / page.relative_to(DOCS).with_suffix(".html") for page in pages()[1:]}
    unreached = [page.name for page, path in built.items() if path not in reached]
    assert unreached == []
