"""Tests of every kind, and fixtures of every scope."""

from __future__ import annotations

from tests.pytest_plugin.project import Project, without_internals

pytest_plugins = ["pytester"]


def test_parameters_classes_and_modules_are_marked_as_one(project: Project) -> None:
    project.write(
        test_a="""
        import pytest
        pytestmark = pytest.mark.openprogram_recording

        @pytest.mark.parametrize("word", ["a", "b"])
        def test_words(ask, word):
            assert ask(word) == f"echo: {word}"

        class TestIt:
            def test_method(self, ask):
                assert ask("hi") == "echo: hi"
        """
    )
    project.record()
    assert project.recordings() == [
        "recordings/test_a/TestIt.test_method.jsonl",
        "recordings/test_a/test_words--a.jsonl",
        "recordings/test_a/test_words--b.jsonl",
    ]
    project.live_answers("!")
    project.run().assert_outcomes(passed=3)


def test_a_single_parameter_may_be_marked(project: Project) -> None:
    project.write(
        test_a="""
        import pytest

        LIVE = pytest.param("live", marks=pytest.mark.openprogram_recording)

        @pytest.mark.parametrize("kind", ["fake", LIVE, "other"])
        def test_kinds(ask, kind):
            if kind == "live":
                ask("hi")
        """
    )
    project.record()
    assert project.recordings() == ["recordings/test_a/test_kinds--live.jsonl"]
    project.run().assert_outcomes(passed=3)


def test_unittest_cases(project: Project) -> None:
    project.write(
        test_a="""
        import asyncio, unittest
        import pytest
        from conftest import ask_async

        @pytest.mark.openprogram_recording
        class Case(unittest.TestCase):
            def test_sync(self):
                self.assertEqual(asyncio.run(ask_async("hi")), "echo: hi")

        @pytest.mark.openprogram_recording
        class AsyncCase(unittest.IsolatedAsyncioTestCase):
            async def test_async(self):
                self.assertEqual(await ask_async("hi"), "echo: hi")
        """
    )
    project.pytester.syspathinsert()
    project.record()
    project.live_answers("!")
    project.run().assert_outcomes(passed=2)


ASYNC = """
import pytest

@pytest.mark.openprogram_recording
{mark}
async def test_one(ask_later):
    for word in ("a", "b"):
        assert await ask_later(word) == f"echo: {{word}}"

@pytest.fixture
async def asked(ask_later):
    return await ask_later("before")

@pytest.mark.openprogram_recording
{mark}
async def test_two(asked, ask_later):
    assert asked == "echo: before"
    assert await ask_later("after") == "echo: after"
"""


def test_async_tests_and_fixtures_under_asyncio(project: Project) -> None:
    project.write(test_a=ASYNC.format(mark=""))
    project.record()
    project.live_answers("!")
    project.run().assert_outcomes(passed=2)


def test_async_tests_and_fixtures_under_anyio_with_asyncio_and_trio(project: Project) -> None:
    project.write(test_a=ASYNC.format(mark="@pytest.mark.anyio"))
    strict = ("-o", "asyncio_mode=strict")
    project.record(*strict)
    project.live_answers("!")
    result = project.run(*strict)
    result.assert_outcomes(passed=4)
    names = [name.rpartition("/")[2] for name in project.recordings()]
    assert names == [
        "test_one--asyncio.jsonl",
        "test_one--trio.jsonl",
        "test_two--asyncio.jsonl",
        "test_two--trio.jsonl",
    ]


SHARED = """
import pytest

@pytest.fixture(scope="module")
def plan(request, ask, openprogram_shared_recording):
    with openprogram_shared_recording(request):
        return ask("make a plan")

@pytest.fixture(scope="session", params=["x", "y"])
def mood(request, ask, openprogram_shared_recording):
    with openprogram_shared_recording(request, name=f"mood-{request.param}") as recording:
        said = ask(request.param)
        assert recording.calls == 1
        return said

def test_plan(plan):
    assert plan == "echo: make a plan"

@pytest.mark.openprogram_recording
def test_both(plan, ask):
    assert ask(f"go on with {plan}") == "echo: go on with echo: make a plan"

def test_mood(mood):
    assert mood in ("echo: x", "echo: y")
"""


def test_fixtures_of_a_module_and_of_the_session_have_recordings_of_their_own(project: Project) -> None:
    project.write(test_a=SHARED)
    result = project.record()
    assert project.recordings() == [
        "recordings/fixture-mood-x.jsonl",
        "recordings/fixture-mood-y.jsonl",
        "recordings/test_a/fixture-plan.jsonl",
        "recordings/test_a/test_both.jsonl",
    ]
    assert project.rows("recordings/test_a/fixture-plan.jsonl")[0]["test"] == "fixture plan of test_a.py"
    result.stdout.fnmatch_lines(["*4 live calls*"])
    project.live_answers("!")
    result = project.run()
    result.assert_outcomes(passed=4)
    result.stdout.fnmatch_lines(["4 recordings used, 4 calls replayed, 0 live calls, 4,936 tokens saved"])
    result.stdout.no_fnmatch_line("*without a test*")
    # One test alone needs what it needs and nothing else.
    project.run("-k", "test_plan").assert_outcomes(passed=1, deselected=3)


def test_a_fixture_that_is_set_up_for_every_test_records_once(project: Project) -> None:
    project.write(
        test_a="""
        import pytest

        @pytest.fixture
        def plan(request, ask, openprogram_shared_recording):
            with openprogram_shared_recording(request):
                return ask("make a plan")

        @pytest.mark.parametrize("number", range(3))
        def test_plan(plan, number):
            assert plan == "echo: make a plan"
        """
    )
    for mode in ("once", "rewrite"):
        result = project.record(mode=mode)
        result.stdout.fnmatch_lines(["1 recording used, 2 calls replayed, 1 live call, *"])
    assert project.recordings() == ["recordings/test_a/fixture-plan.jsonl"]


def test_a_fixture_without_a_recording_or_with_another_one_is_an_error(project: Project) -> None:
    project.write(test_a=SHARED)
    result = project.run("-k", "test_plan")
    result.assert_outcomes(errors=1, deselected=3)
    result.stdout.fnmatch_lines(
        ["there is no recording recordings/test_a/fixture-plan.jsonl for fixture plan of test_a.py*"]
    )
    project.record()
    project.write(test_a=SHARED.replace("make a plan", "make another plan"))
    result = project.run("-k", "test_plan")
    result.assert_outcomes(errors=1, deselected=3)
    result.stdout.fnmatch_lines(
        [
            "_* ERROR at setup of test_plan _*",
            "replay mismatch at call 0, field context.messages[[]0].content: *",
            "call 0 has 1 difference from this request:",
            "*openprogram_shared_recording(request, skip=[[]*",
            "record it anew: pytest test_a.py --openprogram-record=rewrite",
            "It happened here:",
            "E *ReplayMismatch: *",
        ]
    )
    without_internals(result)
    project.write(test_a=SHARED.replace('return ask("make a plan")', "pass"))
    result = project.run("-k", "test_plan")
    result.stdout.fnmatch_lines(["fixture plan of test_a.py made no provider call*"])
    without_internals(result)


def test_a_fixture_that_fails_keeps_its_old_recording(project: Project) -> None:
    project.write(test_a=SHARED)
    project.record()
    before = project.file("recordings/test_a/fixture-plan.jsonl").read_bytes()
    project.write(test_a=SHARED.replace('return ask("make a plan")', 'ask("x"); 1 / 0'))
    project.run("--openprogram-record=rewrite", "-k", "test_plan").assert_outcomes(errors=1, deselected=3)
    assert project.file("recordings/test_a/fixture-plan.jsonl").read_bytes() == before
    assert len(project.recordings()) == 4


def test_settings_come_from_the_project_the_class_and_the_test(project: Project) -> None:
    project.extend_conftest(
        """
import openprogram_core
from openprogram_core.redaction import ValueRule

class Team:
    @openprogram_core.hookimpl
    def secret_rules(self):
        return [ValueRule(name="team", literals=("team_",), pattern="team_[0-9]+", matches=("team_12",))]

@pytest.fixture(scope="session")
def openprogram_recording_config():
    return {"plugins": [Team()], "skip": ["options.metadata.run"]}
"""
    )
    project.write(
        test_a="""
        import itertools, os
        import pytest

        def number():
            return os.urandom(8).hex()

        @pytest.mark.openprogram_recording(skip=["options.metadata.trace"])
        class TestIt:
            @pytest.mark.openprogram_recording(skip=["options.metadata.span"], order="any-order")
            def test_one(self, ask, openprogram_recording):
                words = ["a", "b"]
                if openprogram_recording.action == "replay":
                    words.reverse()
                for word in words:
                    ask(word + " team_4711", run=number(), trace=number(), span=number())
        """
    )
    project.record()
    (name,) = project.recordings()
    assert "team_4711" not in project.file(name).read_text(encoding="utf-8")
    project.run().assert_outcomes(passed=1)
