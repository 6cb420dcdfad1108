"""No file of the common trials has a table of what is tried: each thing says in its own test file what is to be known.

A table is a list, set, tuple or mapping at the top of a file that names classes or statistics.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from tests.conformance.test_door import holders
from tests.conformance.test_sources import found as sources
from tests.conformance.test_trials import FOUND
from tests.conformance.test_trust_models import found as trust_models
from tests.conformance.walk import statistics

HOME = Path(__file__).parent


@cache
def tried() -> frozenset[str]:
    """The names of everything that a walk finds."""
    return frozenset(one.__name__ for one in (*FOUND, *holders(), *sources(), *trust_models(), *statistics()))


def tables(text: str) -> Iterator[tuple[str, list[str]]]:
    """Every table of a file that names what is tried, with these names; what is made of a class is no name of it."""
    for node in ast.parse(text).body:
        if isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign) and node.value is not None:
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            inside = [part for one in ast.walk(node.value) for part in _parts(one)]
            named = [one.id for one in inside if isinstance(one, ast.Name) and one.id in tried()]
            named += [one.value for one in inside if isinstance(one, ast.Constant) and one.value in tried()]
            if named:
                yield ast.unparse(target), named


def _parts(node: ast.AST) -> list[ast.expr]:
    """The keys and values of a literal."""
    match node:
        case ast.List(parts) | ast.Set(parts) | ast.Tuple(parts):
            return list(parts)
        case ast.Dict(keys, values):
            return [one for one in (*keys, *values) if one is not None]
    return []


def test_no_common_trial_has_a_table_of_what_is_tried() -> None:
    found = [(path.name, *table) for path in sorted(HOME.glob("*.py")) for table in tables(path.read_text())]
    assert not found, "let the test file of each say it: TRIAL, or a name of its own that the trial reads"


def test_the_walk_would_see_a_table() -> None:
    text = "A = {Laplace: 1}\nB = ['TreeCounter']\nC = {'x': 1} | {'Curator': 'no'}\nD = {Laplace(1.0)}\nE = ('mean',)"
    assert [name for name, _ in tables(text)] == ["A", "B", "C", "E"]
