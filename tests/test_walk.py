"""Four kinds of user reach their result from the built wheel, in few lines and without a warning."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

from tests.walk import SCRIPTS, installed, walked

REACHED = {
    "analyst": ("mean of age: ", ["ages.svg"]),
    "platform_engineer": ("stranger is refused: ", ["team.ledger"]),
    "scikit_learn_user": ("right, scaled first", ["scores.svg"]),
    "statistics_office": ("maternity", ["receipt.json", "report.html", "sex_by_department.csv"]),
}


def test_every_path_is_walked_from_the_wheel(tmp_path: Path) -> None:
    """In one process, which loads its libraries once; `make walk` walks each path from a fresh start."""
    printed = walked(installed(tmp_path), SCRIPTS, tmp_path)
    for path, (words, made) in REACHED.items():
        assert words in printed
        assert {*made} <= {file.name for file in (tmp_path / path).iterdir()}


def test_a_warning_or_a_failure_on_a_path_is_noticed(tmp_path: Path) -> None:
    for name, line in {"warns": "import warnings; warnings.warn('dear user')", "fails": "raise SystemExit(1)"}.items():
        script = tmp_path / f"{name}.py"
        script.write_text(line)
        with pytest.raises(RuntimeError, match="dear user" if name == "warns" else script.name):
            walked(Path(sys.executable), [script], tmp_path)


def test_each_path_takes_fewer_than_twenty_lines() -> None:
    assert {script.stem for script in SCRIPTS} == set(REACHED)
    for script in SCRIPTS:
        text = script.read_text(encoding="utf-8")
        docstring = len((ast.get_docstring(ast.parse(text)) or "").splitlines())
        assert len([line for line in text.splitlines() if line.strip()]) - docstring < 20, script.stem
