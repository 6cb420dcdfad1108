"""Identity: equal values share it, in every process; a changed constant, closure or global does not go unnoticed."""

from __future__ import annotations

import functools
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import numpy as np
import pytest

from discreet.core.bound import Bound
from discreet.core.identity import Unidentified, former_identity, former_name, identity, lasting_name
from discreet.core.neighbors import Neighbors
from discreet.learners.bayes.gaussian_nb import GaussianNB
from discreet.learners.preprocessing.scalers import StandardScaler
from discreet.mechanisms.additive.laplace import Laplace
from discreet.mechanisms.online.mwem import MWEM
from discreet.mechanisms.online.queries import Queries
from discreet.questions.block_sum import BlockSum
from discreet.questions.columns.total import count_of
from discreet.questions.question import BoundedSum
from discreet.schema.schema import Number, Schema
from tests.conformance.walk import learners, modules, rooms

LEVEL = 1.0
FORMER = (Path(__file__).parent / "former_names.txt").read_text().split()


def above(level: Any) -> Callable[[Any], Any]:
    return lambda rows: rows > level


def above_global(rows: Any) -> Any:
    return rows > LEVEL


class Threshold:
    def __init__(self, level: float) -> None:
        self.level = level

    def __call__(self, rows: Any) -> Any:
        return rows > self.level


class Limit:
    __slots__ = ("level",)

    @property
    def of(self) -> float:
        return 0.0

    @staticmethod
    def least() -> float:
        return 0.0


def distinct(*values: Any) -> bool:
    return len({identity(value) for value in values}) == len(values)


def test_equal_values_share_an_identity() -> None:
    for make in (
        lambda: above(np.arange(3.0)),
        lambda: functools.partial(above_global, rows={"a": [1, 2.0, None], "b": {1, 2}}),
        lambda: Threshold(2.0).__call__,
        lambda: count_of(Schema({"age": Number(0, 120)}), "age"),
        lambda: MWEM(queries=Queries(np.eye(4))),
        lambda: Fraction(1, 3),
        lambda: np.median,
    ):
        assert identity(make()) == identity(make())
    assert identity(np.float64(1.5)) == identity(1.5)
    twice = [1.0, 2.0]
    assert identity((twice, twice)) == identity(([1.0, 2.0], [1.0, 2.0]))


def test_what_differs_anywhere_has_another_identity(monkeypatch: pytest.MonkeyPatch) -> None:
    assert distinct(1, 1.0, True, "1", b"1", None, -0.0, 0.0, [1], (1,), [[1]], {1}, {1: 1}, np.array(1), np.array([1]))
    assert distinct(above(1.0), above(2.0), above(np.zeros(2)), above(np.zeros(3)), lambda rows: rows >= 1.0)
    assert distinct(Threshold(1.0), Threshold(2.0), functools.partial(above, 1.0), functools.partial(above, 2.0))
    assert distinct(np.mean, np.median, np.sqrt, np.exp, sum, max, Neighbors.ADD_REMOVE, Neighbors.REPLACE)
    assert distinct(Laplace(1.0), Laplace(2.0), *(MWEM(queries=Queries(np.eye(size))) for size in (2, 1001, 1002)))
    before = identity(above_global)
    monkeypatch.setitem(above_global.__globals__, "LEVEL", 2.0)
    assert identity(above_global) != before


def test_an_edited_module_or_class_of_ones_own_is_another(monkeypatch: pytest.MonkeyPatch) -> None:
    helpers = ModuleType("own_helpers")
    monkeypatch.setitem(sys.modules, "own_helpers", helpers)
    levels: dict[str, Any] = {"helpers": helpers}
    exec("def above(rows):\n    import own_helpers\n    return own_helpers.above(rows)", levels)
    functions: list[Any] = [levels["above"], eval("lambda rows: helpers.above(rows)", levels), Threshold(1.0), Limit()]
    seen = []
    for level in (1.0, 2.0):
        exec(f"def above(rows): return rows > {level}", vars(helpers))
        monkeypatch.setattr(Threshold, "scale", level, raising=False)
        monkeypatch.setattr(Limit, "of", property(above(level)))
        seen += [identity(function) for function in functions]
    assert len(set(seen)) == 2 * len(functions)


def test_what_is_reached_by_names_made_up_in_a_function_is_not_known() -> None:
    for function in (lambda rows: eval("LEVEL"), lambda rows: globals()["LEVEL"], lambda rows: __import__("os")):
        with pytest.raises(Unidentified, match="not known before it runs"):
            identity(function)


def test_questions_are_told_apart_by_their_functions_bounds_and_columns() -> None:
    bound = Bound("l1", 1.0)
    assert distinct(
        BoundedSum(above(1.0), bound, ("x0",)),
        BoundedSum(above(2.0), bound, ("x0",)),
        BoundedSum(above(1.0), Bound("l1", 2.0), ("x0",)),
        BoundedSum(above(1.0), bound, ("age",)),
        BlockSum(above(1.0), ("age",), (0.0,), (1.0,), 10),
        BlockSum(above(2.0), ("age",), (0.0,), (1.0,), 10),
        count_of(Schema({"age": Number(0, 120)}), "age"),
    )


def test_what_contains_itself_has_one_and_what_cannot_be_written_has_none() -> None:
    endless: list[Any] = [1]
    endless.append(endless)
    assert identity(endless) != identity([1, [1]])
    with open(os.devnull) as file, pytest.raises(Unidentified):
        identity(above(file))


def test_a_cached_function_is_the_function() -> None:
    assert identity(functools.cache(above(1.0))) == identity(functools.cache(above(1.0)))
    assert distinct(functools.cache(above(1.0)), functools.cache(above(2.0)), above(1.0))


def named(inside: Any, module: ModuleType) -> Iterator[Any]:
    """The classes and functions that are defined in a module, and those in its classes."""
    for part in vars(inside).values():
        if isinstance(part, type | FunctionType) and part.__module__ == module.__name__:
            yield part
            if isinstance(part, type) and part is not inside:
                yield from named(part, module)


def test_nothing_that_can_be_named_shares_its_name() -> None:
    found = {part for room in rooms() for module in modules(room) for part in named(module, module)}
    times = Counter(lasting_name(part) for part in found if "<locals>" not in part.__qualname__)
    assert len(times) > 5000
    assert [name for name, count in times.items() if count > 1] == []


def test_files_may_move(monkeypatch: pytest.MonkeyPatch) -> None:
    values = [GaussianNB, GaussianNB(), [Neighbors.REPLACE], GaussianNB.fit]
    before = [identity(value) for value in values]
    monkeypatch.setattr(GaussianNB, "__module__", "discreet.core.bound")
    monkeypatch.setattr(Neighbors, "__module__", "discreet.core.bound")
    assert [identity(value) for value in values] == before
    assert former_identity(GaussianNB) != before[0]
    assert lasting_name(GaussianNB) == "discreet:GaussianNB"
    assert lasting_name(GaussianNB) != lasting_name(StandardScaler)


def test_former_names_are_those_that_ledgers_hold() -> None:
    """As they were when learners lay in one folder, and a digest of then."""
    assert set(FORMER) <= {former_name(kind) for kind in learners()}
    held = [("scale", StandardScaler), ("fit", GaussianNB), Neighbors.REPLACE, identity]
    assert former_identity(held) == "a42afa4e12df149cee1b30163eb437d75470c73c14ee0e0c25b6c14cfeaee8f3"


def test_another_process_finds_the_same_identity(tmp_path: Path) -> None:
    script = tmp_path / "analysis.py"
    script.write_text(
        "from discreet.core.identity import identity\n"
        "NAMES = {'a', 'b', 'c'}\n"
        "def f(rows, names=frozenset('xyz')):\n    return [row for row in rows if row in NAMES and row in names]\n"
        "print(identity((f, {'x': 1, 'y': 2}, lambda rows: rows * 2)))\n"
    )
    found = {
        subprocess.run(
            [sys.executable, str(script)],
            capture_output=True,
            text=True,
            check=True,
            env=os.environ | {"PYTHONHASHSEED": s},
        ).stdout
        for s in ("1", "2")
    }
    assert len(found) == 1
