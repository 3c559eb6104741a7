"""Names of recordings: any file system takes them, and two tests never share one because of that."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from openprogram_pytest.naming import safe_name
from tests.pytest_plugin.project import Project

pytest_plugins = ["pytester"]


@given(st.text(max_size=200), st.booleans())
@settings(deadline=None)
def test_a_name_is_safe_everywhere(name: str, fold_case: bool) -> None:
    safe = safe_name(name, fold_case=fold_case)
    assert re.fullmatch(r"[A-Za-z0-9_-]([A-Za-z0-9._-]{0,98}[A-Za-z0-9_])?", safe)
    assert safe.partition(".")[0].lower() not in {"con", "nul", "aux", "prn", "com1", "lpt9"}
    assert not fold_case or safe == safe.lower()
    assert safe == safe_name(name, fold_case=fold_case)


@given(st.lists(st.text(max_size=30), min_size=2, max_size=6, unique=True))
@settings(deadline=None)
def test_different_names_stay_different_even_where_case_does_not_count(names: list[str]) -> None:
    safe = [safe_name(name, fold_case=True) for name in names]
    assert len({name.casefold() for name in safe}) == len(names)


@pytest.mark.parametrize("name", ["test_agent", "TestAgent.test_x", "gpt-4o", "a.b_c"])
def test_an_ordinary_name_stays_as_it_is(name: str) -> None:
    assert safe_name(name) == name


def test_names_of_classes_parameters_and_odd_ids(project: Project) -> None:
    project.write(
        test_a="""
        import pytest

        LONG = pytest.param("long", id="ü" * 150)

        @pytest.mark.openprogram_recording
        class TestAgent:
            def test_plain(self, ask):
                ask("hi")

            @pytest.mark.parametrize("model", ["gpt-4o", "GPT-4o", "a/b:c", "", LONG])
            def test_models(self, ask, model):
                ask(model)
        """
    )
    project.record()
    names = [name.removeprefix("recordings/test_a/") for name in project.recordings()]
    assert len(names) == 6
    assert {"TestAgent.test_plain.jsonl", "TestAgent.test_models--gpt-4o.jsonl"} < set(names)
    hashed = r"TestAgent\.test_models--(gpt-4o|a-b-c|x|xfc[xfc-]*)-[0-9a-f]{8}\.jsonl"
    assert sum(re.fullmatch(hashed, name) is not None for name in names) == 4
    project.run().assert_outcomes(passed=6)


def test_a_collision_is_an_error_that_names_both(project: Project) -> None:
    project.write(
        test_a="""
        import pytest

        @pytest.mark.openprogram_recording("shared.jsonl")
        def test_one(ask):
            ask("hi")

        @pytest.mark.openprogram_recording(path="SHARED.jsonl")
        def test_two(ask):
            ask("hi")

        @pytest.mark.openprogram_recording("own.jsonl")
        def test_three(ask):
            ask("hi")
        """
    )
    result = project.run("--openprogram-record=once")
    result.assert_outcomes(errors=2, passed=1)
    result.stdout.fnmatch_lines(
        ["the recording * is claimed by test_a.py::test_two and by test_a.py::test_one: rename one*"]
    )
    assert [path.name for path in project.path.glob("*.jsonl")] == ["own.jsonl"]
