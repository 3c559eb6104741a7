"""What is wrong with a marker, its plugins or the configuration: one line, before any call, in every mode."""

from __future__ import annotations

import pytest

from tests.pytest_plugin.project import Project, without_internals

pytest_plugins = ["pytester"]

MODES = ["none", "once", "rewrite", "live"]
MISTAKES = {
    "skips=['a']": "takes path, skip, plugins, order, allow_hosts; not 'skips'",
    "skip='options.seed'": "skip is a list: skip=['options.seed']",
    "skip=5": "skip is a list: skip=[...], not 5",
    "skip=[5]": "skip are field names, paths and FieldSkips, not 5",
    "skip=['a[']": "field path 'a[': ",
    "skip=['messages[*].id']": "is 'context.messages[*].id' meant?",
    "skip=['option.seed']": "field path 'option.seed': ",
    "order='random'": "order is 'ordered' or 'any-order', not 'random'",
    "plugins=[Team]": "plugin 'Team': is the class Team; pass an instance: Team()",
    "plugins=Team()": "plugins is a list: plugins=[...], not a Team",
    "plugins=[Misspelled()]": "plugin 'Misspelled': unknown hook 'secret_rule'. The hooks are ",
    "allow_hosts=[5]": "allow_hosts are names or addresses, not 5",
    "path=5": "path is a string or a path, not 5",
    "'a.jsonl', 'b.jsonl'": "takes one argument without a name, the path",
    "'a.jsonl', path='b.jsonl'": "takes one path, with or without its name",
}
HEAD = """
import openprogram_core
import pytest

class Team:
    @openprogram_core.hookimpl
    def field_skips(self):
        return []

class Misspelled:
    @openprogram_core.hookimpl
    def secret_rule(self):
        return []

@pytest.fixture
def early(ask):
    ask("early")
"""
TEST = """
@pytest.mark.openprogram_recording({given})
def test_{number}(early, ask):
    ask("hi")
"""


@pytest.mark.parametrize("mode", MODES)
def test_a_mistake_in_the_marker_is_one_line_and_nothing_is_called(project: Project, mode: str) -> None:
    project.extend_conftest("\ndef answer(model, context, options):\n    print('the service was called')\n")
    project.write(
        test_a=HEAD
        + "".join(TEST.format(given=given, number=number) for number, given in enumerate(MISTAKES))
        + "\ndef test_sound():\n    pass\n"
    )
    result = project.run(f"--openprogram-record={mode}", "-s")
    result.assert_outcomes(errors=len(MISTAKES), passed=1)
    without_internals(result)
    lines = result.stdout.lines
    for number, said in enumerate(MISTAKES.values()):
        heading = next(at for at, line in enumerate(lines) if f" ERROR at setup of test_{number} " in line)
        assert said in lines[heading + 1]
        assert "ecord it" not in lines[heading + 1]
        assert lines[heading + 2].startswith(("_____", "====="))
    assert project.recordings() == []
    result.stdout.no_fnmatch_line("*the service was called*")
    result.stdout.no_fnmatch_line("* at 0x*")


def test_a_mistake_of_a_fixture_or_of_the_project_is_one_line(project: Project) -> None:
    project.write(
        test_a="""
        import pytest

        @pytest.fixture
        def plan(request, ask, openprogram_shared_recording):
            with openprogram_shared_recording(request, order="random"):
                return ask("make a plan")

        @pytest.fixture
        def skipped(request, ask, openprogram_shared_recording):
            with openprogram_shared_recording(request, skip=["a["]):
                return ask("make a plan")

        def test_plan(plan):
            pass

        def test_skipped(skipped):
            pass
        """,
        test_b="""
        import pytest

        @pytest.fixture(scope="session")
        def openprogram_recording_config():
            return ["skip"]

        def test_one(openprogram_recording):
            pass
        """,
    )
    result = project.run("--openprogram-record=once")
    result.assert_outcomes(errors=3)
    without_internals(result)
    result.stdout.fnmatch_lines(
        [
            "openprogram_shared_recording: order is 'ordered' or 'any-order', not 'random'",
            "field path 'a[[]': *",
            "the fixture openprogram_recording_config gives a dict of settings, not a list",
        ]
    )


def test_a_broken_configuration_is_not_mended_by_recording(project: Project) -> None:
    home = project.path / "home"
    home.mkdir()
    (home / "config.toml").write_text("mode = \n", encoding="utf-8")
    project.write(test_a=HEAD + TEST.format(given="", number=1))
    result = project.run_apart("--openprogram-record=none")
    result.assert_outcomes(errors=1)
    without_internals(result)
    result.stdout.fnmatch_lines(["*config.toml, line 1*"])
    result.stdout.no_fnmatch_line("*ecord it*")


def test_live_needs_no_plugin_of_others(project: Project) -> None:
    project.write(
        test_a=HEAD + "@pytest.mark.openprogram_recording(plugins=[Team()], skip=['a'])\n"
        "def test_one(ask):\n    ask('hi')\n"
    )
    project.record(mode="live")
