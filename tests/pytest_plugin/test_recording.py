"""One test's recording: made, replayed, replaced, and everything that makes the test fail."""

from __future__ import annotations

import pytest

from tests.pytest_plugin.project import Project, without_internals

pytest_plugins = ["pytester"]

ONE = """
import pytest

@pytest.mark.openprogram_recording
def test_one(ask):
    assert ask("hi") == "echo: hi"
"""
FILE = "recordings/test_a/test_one.jsonl"


def test_without_a_recording_the_test_fails_and_says_how_to_record_it(project: Project) -> None:
    project.write(test_a=ONE)
    result = project.run()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            f"there is no recording {FILE} for test_a.py::test_one. *: "
            "pytest test_a.py::test_one --openprogram-record=once"
        ]
    )
    result.stdout.fnmatch_lines(["1 test without a recording*--openprogram-record=once*"])
    assert project.recordings() == []


def test_once_records_what_is_missing_and_replays_ever_after(project: Project) -> None:
    project.write(test_a=ONE)
    result = project.record()
    result.stdout.fnmatch_lines(["openprogram: --openprogram-record=once: *", "*1 live call*", f"*{FILE}"])
    assert project.recordings() == [FILE]
    header, request, *_ = project.rows(FILE)
    assert header["test"] == "test_a.py::test_one"
    assert request["context"]["messages"][0]["content"] == "hi"
    before = project.file(FILE).read_bytes()

    project.live_answers(", and more")
    for mode in ("none", "once"):
        result = project.run(f"--openprogram-record={mode}")
        result.assert_outcomes(passed=1)
        result.stdout.fnmatch_lines(["1 recording used, 1 call replayed, 0 live calls, 1,234 tokens saved"])
    assert project.file(FILE).read_bytes() == before


def test_rewrite_replaces_a_recording_only_when_the_test_passed(project: Project) -> None:
    project.write(test_a=ONE)
    project.record()
    before = project.file(FILE).read_bytes()
    project.live_answers(", and more")
    result = project.run("--openprogram-record=rewrite")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["1 recording not kept, the test did not pass:", f"  {FILE}"])
    assert project.file(FILE).read_bytes() == before

    project.write(test_a=ONE.replace('"echo: hi"', '"echo: hi, and more"'))
    project.record(mode="rewrite")
    assert project.file(FILE).read_bytes() != before
    assert project.recordings() == [FILE]
    project.run().assert_outcomes(passed=1)


def test_a_test_that_fails_in_its_teardown_keeps_the_old_recording(project: Project) -> None:
    project.write(
        test_a=ONE.replace("def test_one(ask)", "def test_one(ask, late)")
        + "@pytest.fixture\ndef late():\n    yield\n    assert not 'late'\n"
    )
    project.run("--openprogram-record=once").assert_outcomes(passed=1, errors=1)
    assert project.recordings() == []


@pytest.mark.parametrize("body", ["pytest.skip('later')", "pytest.xfail('one day')", "assert 0"])
def test_a_test_that_does_not_pass_leaves_nothing(project: Project, body: str) -> None:
    project.write(test_a=f"{ONE}    {body}\n")
    project.run("--openprogram-record=once")
    assert project.recordings() == []
    assert not (project.path / "recordings").exists()


def test_calls_that_were_not_made_fail_the_test(project: Project) -> None:
    project.write(test_a=ONE + "    ask('again')\n    ask('and again')\n")
    project.record()
    project.write(test_a=ONE)
    result = project.run()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        ["*recorded '3 calls', incoming '1 call, not made: 1, 2'*", "record it anew: pytest *=rewrite"]
    )


def test_a_mismatch_that_was_caught_fails_the_test_with_the_whole_report(project: Project) -> None:
    project.write(test_a=ONE)
    project.record()
    project.write(
        test_a="""
        import pytest

        @pytest.mark.openprogram_recording
        def test_one(ask):
            for prompt in ("bye", "hi"):
                try:
                    ask(prompt)
                except Exception:
                    pass
        """
    )
    result = project.run()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "replay mismatch at call 0, field context.messages[[]0].content: recorded 'hi', incoming 'bye'",
            "call 0 has 1 difference from this request:",
            '*skip it: @pytest.mark.openprogram_recording(skip=[[]"context.messages[[][*]].content"])',
            "record it anew: pytest test_a.py::test_one --openprogram-record=rewrite",
        ]
    )


def test_a_mismatch_that_ends_the_test_comes_with_its_report(project: Project) -> None:
    project.write(test_a=ONE)
    project.record()
    project.write(test_a=ONE.replace('ask("hi")', 'ask("bye")'))
    result = project.run()
    result.assert_outcomes(failed=1)
    result.stdout.re_match_lines(
        [
            "_+ test_one _+",
            r"replay mismatch at call 0, field context\.messages\[0\]\.content: recorded .hi., incoming",
            "call 0 has 1 difference from this request:",
            "record it anew: pytest test_a.py::test_one --openprogram-record=rewrite",
            "It happened here:",
            "> .*ask..bye..",
            "E .*ReplayMismatch: replay mismatch at call 0",
            "FAILED test_a.py::test_one - .*ReplayMismatch",
        ],
    )
    assert result.stdout.str().count("call 0 has 1 difference") == 1
    without_internals(result)


def test_the_report_advises_what_a_marked_test_can_do(project: Project) -> None:
    module = """
    import pytest

    @pytest.mark.openprogram_recording
    def test_one(ask):
        for word, run in WORDS:
            ask(word, run=run)
    """
    project.write(test_a=module.replace("WORDS", "[('a', '1'), ('b', '1')]"))
    project.record()
    project.write(test_a=module.replace("WORDS", "[('a', '2'), ('b', '2')]"))
    result = project.run()
    advice = '@pytest.mark.openprogram_recording(skip=["options.metadata.run"])'
    assert advice in result.stdout.str()
    result.stdout.no_fnmatch_line("*replaying(*")
    project.write(test_a=module.replace("WORDS", "[('b', '1'), ('a', '1')]"))
    result = project.run()
    assert '@pytest.mark.openprogram_recording(order="any-order")' in result.stdout.str()
    # And it helps.
    for given in ('skip=["options.metadata.run"]', 'order="any-order"'):
        words = "[('a', '2'), ('b', '2')]" if "skip" in given else "[('b', '1'), ('a', '1')]"
        marked = module.replace("openprogram_recording", f"openprogram_recording({given})")
        project.write(test_a=marked.replace("WORDS", words))
        project.run().assert_outcomes(passed=1)


def test_a_call_in_a_fixture_of_a_test_without_recording_shows_no_internals(project: Project) -> None:
    project.write(
        test_a=ONE.replace("def test_one(ask)", "def test_one(ask, early)")
        + "@pytest.fixture\ndef early(ask):\n    ask('early')\n"
    )
    result = project.run()
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines([f"E *UnrecordedCallError: there is no recording {FILE} for *"])
    without_internals(result)


@pytest.mark.parametrize("mode", ["once", "live"])
def test_a_marked_test_that_makes_no_call_fails(project: Project, mode: str) -> None:
    project.write(test_a="import pytest\n@pytest.mark.openprogram_recording\ndef test_one():\n    pass\n")
    result = project.run(f"--openprogram-record={mode}")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["test_a.py::test_one made no provider call*take the marker*"])
    assert project.recordings() == []


def test_a_test_that_fails_by_itself_is_not_blamed_for_its_calls(project: Project) -> None:
    project.write(test_a=ONE)
    project.record()
    project.write(test_a=ONE.replace("    assert", "    assert False\n    assert"))
    result = project.run()
    result.assert_outcomes(failed=1)
    result.stdout.no_fnmatch_line("*not made*")


def test_live_calls_the_service_and_writes_nothing(project: Project) -> None:
    project.write(test_a=ONE)
    result = project.record(mode="live")
    result.stdout.fnmatch_lines(["0 recordings used, 0 calls replayed, 1 live call, 0 tokens saved"])
    result.stdout.fnmatch_lines(["1,234 tokens spent on live calls"])
    assert project.recordings() == []


def test_a_recording_that_cannot_be_read_fails_the_test_and_says_where(project: Project) -> None:
    project.write(test_a=ONE)
    project.record()
    path = project.file(FILE)
    path.write_text("\n".join(path.read_text(encoding="utf-8").splitlines()[:-1]) + "\n", encoding="utf-8")
    result = project.run()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines([f"*{FILE}*call 0: *Record it anew*pytest test_a.py::test_one *=rewrite"])
    result.stdout.fnmatch_lines(["1 recording that cannot be read; --openprogram-record=rewrite makes *"])
    result.stdout.no_fnmatch_line("*without a recording*")
    without_internals(result)


def test_a_call_after_the_test_is_refused(project: Project) -> None:
    module = ONE.replace("def test_one(ask)", "def test_one(ask, late)")
    module += "@pytest.fixture\ndef late(ask):\n    yield\n    ask('bye')\n"
    project.write(test_a=ONE)
    project.record()
    project.write(test_a=module)
    for mode in ("none", "rewrite"):
        result = project.run(f"--openprogram-record={mode}")
        result.assert_outcomes(passed=1, errors=1)
        result.stdout.fnmatch_lines(
            ["*UnrecordedCallError: a provider call after the end of test_a.py::test_o*"]
        )


def test_calls_of_the_tests_own_fixtures_belong_to_its_recording(project: Project) -> None:
    project.write(
        test_a="""
        import pytest

        @pytest.fixture(scope="module")
        def wide(ask):
            return ask("wide")

        @pytest.fixture
        def own(ask):
            return ask("own")

        @pytest.mark.openprogram_recording
        def test_one(own, wide, ask):
            assert (own, wide, ask("hi")) == ("echo: own", "echo: wide", "echo: hi")

        def test_two(own, openprogram_recording):
            assert own == "echo: own"
        """
    )
    project.record()
    prompts = [row["context"]["messages"][0]["content"] for row in project.rows(FILE) if "context" in row]
    assert prompts == ["own", "hi"]
    assert project.recordings() == [FILE, "recordings/test_a/test_two.jsonl"]
    project.run().assert_outcomes(passed=2)


def test_the_fixture_may_be_asked_for_inside_the_test(project: Project) -> None:
    module = """
    def test_one(request, ask):
        request.getfixturevalue("openprogram_recording")
        ask("hi")
        CALLS
    """
    project.write(test_a=module.replace("CALLS", "ask('again')"))
    result = project.run()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*there is no recording*"])
    project.record()
    project.run().assert_outcomes(passed=1)
    project.write(test_a=module.replace("CALLS", ""))
    result = project.run()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*recorded '2 calls', incoming '1 call, not made: 1'*"])


def test_a_run_that_is_interrupted_leaves_no_draft(project: Project) -> None:
    project.write(test_a=ONE + "    raise KeyboardInterrupt\n")
    result = project.run_apart("--openprogram-record=once")
    assert result.ret == pytest.ExitCode.INTERRUPTED
    assert not (project.path / "recordings").exists()


def test_the_fixture_tells_what_is_going_on(project: Project) -> None:
    project.write(
        test_a="""
        def test_one(openprogram_recording, ask, pytestconfig):
            assert openprogram_recording.calls == 0
            ask("hi")
            assert openprogram_recording.calls == 1
            assert openprogram_recording.path == pytestconfig.rootpath / "recordings/test_a/test_one.jsonl"
            mode = pytestconfig.getoption("openprogram_record")
            expected = {"none": "replay", "once": "record", "live": "live"}[mode]
            assert openprogram_recording.action == expected
        """
    )
    project.record()
    project.run().assert_outcomes(passed=1)
    project.record(mode="live")
