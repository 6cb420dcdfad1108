"""The tables of mistakes: each is one in today's code, and its tests are there."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from tests.mutants.__main__ import mutants

ROOT = Path(__file__).parents[1]


@cache
def text_of(file: str) -> str:
    return (ROOT / "src" / "discreet" / file).read_text(encoding="utf-8")


def test_every_mistake_has_its_place_in_the_code_and_tests_that_are_there() -> None:
    tables = mutants()
    assert len(tables) > 2000
    assert [(one.file, one.old) for one in tables if text_of(one.file).count(one.old) != 1] == []
    files = {test.partition("::")[0] for one in tables for test in one.tests}
    assert [file for file in sorted(files) if not (ROOT / "tests" / file).exists()] == []
