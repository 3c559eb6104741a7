"""What a run says of its recordings, alone and under xdist, and which recordings have no test."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.pytest_plugin.project import Project

pytest_plugins = ["pytester"]

TWENTY = """
import pytest

@pytest.fixture(scope="module")
def shared(request, ask, openprogram_shared_recording):
    with openprogram_shared_recording(request):
        return ask("shared {module}")

@pytest.mark.openprogram_recording
@pytest.mark.parametrize("number", range(8))
def test_loop(ask, number):
    for turn in range(3):
        assert ask(f"{{number}}, {{turn}}") == f"echo: {{number}}, {{turn}}"

async def test_later(ask_later, openprogram_recording):
    assert await ask_later("hi") == "echo: hi"

def test_shared(shared):
    assert shared == "echo: shared {module}"
"""
RECORDINGS = 2 * (8 + 1 + 1)
CALLS = 2 * (8 * 3 + 1 + 1)


@pytest.fixture
def twenty(project: Project) -> Project:
    project.write(**{name: TWENTY.format(module=name) for name in ("test_a", "test_b")})
    return project


def test_twenty_tests_on_two_workers_are_recorded_and_replayed_with_one_summary(twenty: Project) -> None:
    result = twenty.run_apart("-n", "2", "--openprogram-record=once")
    result.assert_outcomes(passed=20)
    # A module's fixture may be needed by both workers: then either records it, or one replays the other's.
    result.stdout.re_match_lines([r"[0-2] recordings? used, [0-2] calls? replayed, 5[2-4] live calls, "])
    result.stdout.fnmatch_lines([f"{RECORDINGS} recordings made:"])
    assert len(twenty.recordings()) == RECORDINGS

    twenty.live_answers("!")
    Path(twenty.file("recordings/test_a/test_gone.jsonl")).write_bytes(
        twenty.file("recordings/test_a/test_later.jsonl").read_bytes()
    )
    result = twenty.run_apart("-n", "2")
    result.assert_outcomes(passed=20)
    result.stdout.re_match_lines(
        [rf"{RECORDINGS} recordings used, 5[2-4] calls replayed, 0 live calls, 6\d,\d+ "]
    )
    result.stdout.fnmatch_lines(["1 recording without a test*", "  recordings/test_a/test_gone.jsonl"])
    assert str(result.stdout).count("openprogram recordings") == 1


def test_the_numbers_of_one_process(twenty: Project) -> None:
    twenty.record()
    result = twenty.run()
    tokens = f"{CALLS * 1234:,}"
    result.stdout.fnmatch_lines(
        [f"{RECORDINGS} recordings used, {CALLS} calls replayed, 0 live calls, {tokens} tokens saved"]
    )


def test_a_run_without_recordings_says_nothing(project: Project) -> None:
    project.write(test_a="def test_one():\n    pass\n")
    result = project.run("--openprogram-record=none")
    result.assert_outcomes(passed=1)
    result.stdout.no_fnmatch_line("*openprogram recordings*")


def test_recordings_without_a_test_are_listed(project: Project) -> None:
    module = """
    import pytest

    @pytest.mark.openprogram_recording
    @pytest.mark.parametrize("word", ["a", "b"])
    def test_words(ask, word):
        ask(word)

    @pytest.fixture(scope="module")
    def plan(request, ask, openprogram_shared_recording):
        with openprogram_shared_recording(request):
            return ask("plan")

    def test_plan(plan):
        pass
    """
    project.write(test_a=module, test_b=module)
    project.record()
    project.write(
        test_a=module.replace('"a", "b"', '"b"')
        .replace("def plan(", "def scheme(")
        .replace("(plan)", "(scheme)")
    )
    project.file("test_b.py").unlink()
    (project.path / "recordings" / "audio").mkdir()
    (project.path / "recordings" / "audio" / "notes.jsonl").write_text("{}\n", encoding="utf-8")
    project.run("--collect-only").stdout.no_fnmatch_line("*without a test*")
    result = project.run("--openprogram-record=once")
    result.stdout.fnmatch_lines(
        [
            "5 recordings without a test, to delete or rename:",
            "  recordings/test_a/fixture-plan.jsonl",
            "  recordings/test_a/test_words--a.jsonl",
            "  recordings/test_b/fixture-plan.jsonl",
            "  recordings/test_b/test_words--a.jsonl",
            "  recordings/test_b/test_words--b.jsonl",
        ]
    )


@pytest.mark.parametrize("narrowing", [["-k", "words"], ["test_a.py::test_words"], ["--lf"]])
def test_a_run_of_some_tests_takes_no_recording_for_an_orphan(project: Project, narrowing: list[str]) -> None:
    project.write(
        test_a="""
        import pytest

        @pytest.mark.openprogram_recording
        def test_words(ask):
            ask("a")

        @pytest.mark.openprogram_recording
        def test_plan(ask):
            ask("plan")

        @pytest.fixture(scope="module")
        def plan(request, ask, openprogram_shared_recording):
            with openprogram_shared_recording(request):
                return ask("plan")

        def test_shared(plan):
            pass
        """
    )
    project.record()
    result = project.run(*narrowing)
    result.stdout.no_fnmatch_line("*without a test*")


def test_what_was_removed_from_a_test_is_no_business_of_another_tool(project: Project) -> None:
    project.write(test_a="def test_one():\n    pass\n")
    folder = project.path / "recordings" / "test_a"
    folder.mkdir(parents=True)
    (folder / "test_one.yaml").write_text("interactions: []\n", encoding="utf-8")
    result = project.run()
    result.stdout.no_fnmatch_line("*without a test*")
