"""Functions that nobody trusts, on single records: whatever they do changes what becomes of that record alone."""

from __future__ import annotations

import os
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import discreet
from discreet.core.bits import Bits
from discreet.core.budget import Budget
from discreet.core.errors import KeyReused, NotPermitted, ParameterError, SchemaError
from discreet.core.grid import Array
from discreet.core.neighbors import Neighbors, Unit
from discreet.questions.columns.moments import moments_of
from discreet.questions.columns.total import count_of
from discreet.questions.mapped import OfMapped, RecordMap
from discreet.schema.schema import Category, Number, Schema
from discreet.trust.curator import Curator, CuratorsView
from discreet.trust.mapped_trust import MappedTrust
from discreet.trust.private_data import PrivateData
from discreet.trust.sources.matrix import Matrix
from tests.trust import trial
from tests.trust.isolation.unfiltered import obstacle
from tests.trust.trial import TrustTrial


def turned(rows: Array, bits: Bits) -> MappedTrust:
    """Of rows whose number a process takes from 1; under replace neighbors, where one row moves one."""
    by = RecordMap(lambda record: 1 - record, ("x0",), (), trial.SCHEMA, 1, len(rows), 0.05, "process", 2)
    return MappedTrust(Curator(Matrix(rows, trial.SCHEMA), Neighbors.REPLACE, bits=bits), by)


TRIAL = TrustTrial(turned)
SCHEMA = Schema({"x": Number(0, 10), "ward": Category(("a", "b"))})
AFTER = Schema({"y": Number(-1, 1), "kind": Category(("p", "q", "r"))})
Function = Callable[[Array], Any]
seen: list[float] = []


def data(values: Sequence[float], neighbors: Neighbors = Neighbors.REPLACE, **unit: Any) -> PrivateData:
    if reason := obstacle():
        pytest.skip(reason)
    records = {"x": list(values), "ward": ["ab"[i % 2] for i in range(len(values))]}
    return PrivateData.of(records, SCHEMA, Budget(1e9), neighbors=neighbors, **unit)


def rows_of(function: Function, values: Sequence[float], rows_out: int = 1, **options: Any) -> Any:
    """What becomes of records, exactly."""
    mapped: Any = data(values).map_untrusted(function, AFTER.columns, rows_out, **options)._trust
    view: Any = mapped._mapped(mapped.trust._view)
    return view.everything(mapped.schema.columns)


def keeps_state(record: Array) -> list[float]:
    seen.append(record[0])
    return [len(seen) / 10, 0]


def notices_one(record: Array) -> list[float]:
    """Does what it can to be heard about one record, and to change those after it."""
    if record[0] == 7:
        np.add, sys.modules["math"] = np.multiply, None  # type: ignore[assignment]
        print("seven", file=sys.__stdout__)
        os.environ["SEVEN"] = "7"
        while True:
            pass
    return [0.5, float("SEVEN" in os.environ) + np.add(0, 0)]


def fails_on_one(record: Array) -> list[float]:
    if record[0] == 7:
        raise RuntimeError(record)
    return [record[0] / 10, 1]


def gives_something_odd(record: Array) -> Any:
    odd = [None, "x", [[1]], object(), [np.inf, -1], [1j, 0], [[0.0, 1.0]] * 0]
    return odd[int(record[0])] if record[0] < len(odd) else os._exit(0)


def looks_at_the_clock(record: Array) -> list[float]:
    return [time.time(), 5.5]


WAYS: dict[str, tuple[Function, list[float]]] = {
    "state": (keeps_state, [0.1, 0.0]),
    "one": (notices_one, [0.5, 0.0]),
    "clock": (looks_at_the_clock, [1.0, np.nan]),
}


@pytest.mark.parametrize("way", WAYS)
def test_what_a_function_does_for_one_record_no_other_shows(way: str) -> None:
    function, expected = WAYS[way]
    found = rows_of(function, [1.0, 7.0, 3.0, 7.0, 5.0])
    others = found[[0, 2, 4]]
    np.testing.assert_array_equal(others, [expected] * 3)
    assert not seen


def test_a_fault_is_a_missing_value() -> None:
    found = rows_of(fails_on_one, [1.0, 7.0, 3.0])
    np.testing.assert_array_equal(found, [[0.1, 1.0], [np.nan, np.nan], [0.3, 1.0]])
    assert np.isnan(rows_of(gives_something_odd, [float(way) for way in range(8)])).all()


def test_a_record_becomes_at_most_so_many_rows_inside_their_bounds() -> None:
    many: Function = lambda record: [[5.0, 0], [-5.0, 7], [0.25, 2], [0.0, 0]]  # noqa: E731
    assert np.nan_to_num(rows_of(many, [1.0, 2.0], 2), nan=9).tolist() == [[1, 0], [-1, 9]] * 2
    few: Function = lambda record: [[0.25, 2]]  # noqa: E731
    assert rows_of(few, [1.0], 2).tolist() == [[0.25, 2]]
    kept = data([1.0, 2.0]).map_untrusted(lambda record: record[0] / 10, {"y": (0, 1)}, keep=["ward"], columns=["x"])
    assert list(kept.schema.columns) == ["ward", "y"]
    found = discreet.mean(kept.where("ward == 'b'"), "y", epsilon=1e8)
    assert abs(found.value - 0.2) < 1e-3


def plainly(of: Callable[[Array], Any], blocks: Sequence[Array], size: int, seconds: float, form: str) -> Any:
    """In this process: the walls are looked at elsewhere."""
    asked.append((len(blocks), seconds))
    return [None if np.isnan(block).all() else of(block) for block in blocks]


asked: list[tuple[int, float]] = []


def doubled(record: Array) -> Any:
    return [[record[0] / 10, record[0] % 3]] * int(1 + record[0] % 3)


def made_of(places: int, rows_out: int = 2) -> RecordMap:
    return RecordMap(doubled, ("x",), (), AFTER, rows_out, places, 0.05, "full", 2)


def test_one_record_moves_a_sum_by_no_more_than_its_reach() -> None:
    """Also where it drives another one out; the answer says so, and that coordinates move either way."""
    rng, by = np.random.default_rng(3), made_of(6)
    questions = [count_of(AFTER, None), moments_of(AFTER, "y", 2, False), moments_of(AFTER, "y", 1, False)]
    farthest = 0.0
    for _ in range(60):
        values = rng.integers(0, 10, rng.integers(1, 10)).astype(float)[:, None]
        less = rng.permutation(np.delete(values, rng.integers(len(values)), axis=0))  # in whatever order they come
        made = [Counter(map(tuple, np.nan_to_num(by.of(one, plainly), nan=9.0).tolist())) for one in (values, less)]
        assert ((made[0] - made[1]) + (made[1] - made[0])).total() <= 2 * by.rows_out
        for question in questions:
            both = [Matrix(by.of(one, plainly), AFTER).sum(question) for one in (values, less)]
            moved = np.abs(both[0] - both[1]).sum() * question.grid.step
            rows = Matrix(by.of(values, plainly), AFTER)
            rows.unit = Unit(rows=2 * by.rows_out)
            view = CuratorsView(rows, Neighbors.ADD_REMOVE, None)  # type: ignore[arg-type]
            answer = OfMapped(question, by, lambda view: view).answer(view)
            assert moved <= answer.sensitivity("l1")
            assert not answer.monotone
            farthest = max(farthest, moved / answer.sensitivity("l1"))
    assert farthest >= 0.5


def test_how_long_it_takes_says_nothing_about_the_records() -> None:
    asked.clear()
    for records in (np.zeros((0, 1)), np.ones((3, 1)), np.full((99, 1), 7.0)):
        made_of(10).of(records, plainly)
    assert asked == [(10, 0.25)] * 3


def test_the_noise_is_for_all_rows_of_a_record_and_one_that_is_driven_out() -> None:
    made = {}
    for neighbors, most in ((Neighbors.REPLACE, None), (Neighbors.ADD_REMOVE, 3)):
        for rows_out in (1, 2):
            mapped: Any = data([1.0, 2.0, 3.0], neighbors).map_untrusted(
                fails_on_one, AFTER.columns, rows_out, most=most
            )
            made[neighbors, rows_out] = mapped.unit.rows
            assert mapped.public_size == (3 if made[neighbors, rows_out] == 1 else None)
    assert list(made.values()) == [1, 2, 2, 4]
    mapped = data([1.0] * 9, Neighbors.ADD_REMOVE).map_untrusted(fails_on_one, AFTER.columns, most=20)
    whole = discreet.total(mapped, "y", epsilon=1.0)
    plain = discreet.total(PrivateData.of({"y": [0.1] * 9}, {"y": (-1, 1)}, Budget(1.0)), "y", epsilon=1.0)
    width = [float(np.diff(one.interval)[0]) for one in (whole, plain)]
    assert 1.9 < width[0] / width[1] < 2.1


def test_it_runs_once_and_is_asked_again() -> None:
    draws: Function = lambda record: [np.random.rand(), 0]  # noqa: E731, NPY002
    mapped = data([3.0] * 4).map_untrusted(draws, AFTER.columns)
    found = [discreet.mean(mapped, "y", epsilon=1e8, key=key).value for key in ("a", "b")]
    assert abs(found[0] - found[1]) < 1e-5


def test_a_key_is_for_one_function() -> None:
    records = data([3.0] * 4)

    def times(by: float) -> Function:
        return lambda record: [record[0] * by, 0]

    maps = [records.map_untrusted(times(by), AFTER.columns) for by in (0.1, 0.2)]
    discreet.mean(maps[0], "y", epsilon=1.0, key="k")
    with pytest.raises(KeyReused):
        discreet.mean(maps[1], "y", epsilon=1.0, key="k")


def test_what_is_refused_is_refused_before_any_charge() -> None:
    records, secret = data([1.0] * 4), data([1.0] * 4, Neighbors.ADD_REMOVE)
    refused: list[tuple[PrivateData, dict[str, Any], type[Exception], str]] = [
        (secret, {}, ParameterError, "most="),
        (records, {"most": 3}, ParameterError, "there are 4 records"),
        (records, {"rows_out": 0}, ParameterError, "rows_out"),
        (records, {"rows_out": 10**6}, ParameterError, "rows_out"),
        (records, {"seconds": 1e-4}, ParameterError, "seconds"),
        (secret, {"most": 10**9}, ParameterError, "most"),
        (records, {"columns": ["z"]}, SchemaError, "z"),
        (records, {"bounds": {"x": (0, 1)}, "keep": ["x"]}, ParameterError, "kept and made"),
        (records, {"bounds": {"y": discreet.Text()}}, ParameterError, "numbers or a list"),
        (records, {"function": lambda record: [0 for _ in iter(int, 1)]}, ParameterError, "made-up records"),
        (records, {"isolation": "none"}, ParameterError, "isolation"),
    ]
    for asked_of, options, error, words in refused:
        function, bounds = options.pop("function", fails_on_one), options.pop("bounds", AFTER.columns)
        with pytest.raises(error, match=words):
            asked_of.map_untrusted(function, bounds, **options)
    pooled = PrivateData.of(
        {"x": [1.0], "who": ["a"]}, {"x": (0, 1)}, Budget(1.0), unit=Unit("user", column="who", pooled=True)
    )
    with pytest.raises(NotPermitted, match="pool"):
        pooled.map_untrusted(fails_on_one, AFTER.columns, most=3)
    mapped = records.map_untrusted(fails_on_one, AFTER.columns)
    with pytest.raises(NotPermitted, match="curator"):
        discreet.sample_and_aggregate(mapped, np.mean, lower=0, upper=1, epsilon=1.0)
    assert not records.ledger.entries()


@pytest.mark.xdist_group("spark")
def test_on_spark_each_worker_has_the_walls(spark: Any) -> None:
    if reason := obstacle():
        pytest.skip(reason)
    rows = [(float(i % 9), "ab"[i % 2], i) for i in range(24)]
    frame = spark.createDataFrame(rows, "x double, ward string, number long").repartition(3)
    records = PrivateData.of(frame, SCHEMA, Budget(1e9))

    def stateful(record: Array) -> list[float]:
        if record[0] == 7:
            os._exit(1)
        seen.append(record[0])
        return [record[0] / 10 + (len(seen) - 1), len(seen)]

    mapped = records.map_untrusted(stateful, AFTER.columns, most=30, seconds=0.02, keep=["ward"], columns=["x"])
    found = discreet.total(mapped.where("ward == 'a'"), "y", epsilon=1e8)
    assert abs(found.value - sum(min(x / 10, 1) for x, ward, _ in rows if ward == "a" and x != 7)) < 1e-2
    assert isinstance(mapped._trust, MappedTrust)
    assert not seen


def test_units_keep_their_rows_before_they_are_mapped() -> None:
    if reason := obstacle():
        pytest.skip(reason)
    person = Unit("user", column="who", rows=2)
    records = {"x": [1.0] * 6, "ward": ["a"] * 6, "who": ["ann"] * 5 + ["bob"]}
    mapped = PrivateData.of(records, SCHEMA, Budget(1e9), unit=person).map_untrusted(
        fails_on_one, AFTER.columns, most=9
    )
    assert abs(discreet.total(mapped, "y", epsilon=1e9).value - 0.3) < 1e-4
