"""The tests of a file run in one worker, beside those of all files that name the same group."""

from __future__ import annotations

import re
from typing import Any

import pytest
from xdist.scheduler import LoadScopeScheduling

from tests.workers import ROOT, ByGroup, group


def test_a_group_is_that_of_the_file_or_the_one_it_names() -> None:
    assert group("tests/trust/sources/test_spark.py") == "spark"
    for file in ("tests/core/test_grid.py", "src/discreet/core/grid.py"):
        assert group(file) == file


def test_whoever_needs_a_server_is_in_the_group_of_those_who_do() -> None:
    """Else each worker would start one."""
    for path in (ROOT / "tests" / "trust").rglob("test_*.py"):
        for server in re.findall(r"^def test_\w+\([^)]*\b(spark|postgres): ", path.read_text(), flags=re.MULTILINE):
            assert group(path.relative_to(ROOT).as_posix()) == server


def test_the_workers_of_this_run_are_given_groups(request: pytest.FixtureRequest) -> None:
    (made,) = request.config.hook.pytest_xdist_make_scheduler.get_hookimpls()[-1:]
    assert made.function.__module__ == "conftest"
    scheduler: Any = ByGroup.__new__(ByGroup)
    assert isinstance(scheduler, LoadScopeScheduling)
    assert scheduler._split_scope("tests/trust/sources/test_query.py::test_a[x::y]") == "postgres"
