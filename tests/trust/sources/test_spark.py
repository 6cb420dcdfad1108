"""A Spark data frame gives the sums of every other source to the last bit, added up by the executors."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from importlib.util import find_spec
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from discreet.core.bound import Bound
from discreet.core.budget import Budget
from discreet.core.errors import DiscreetError, EngineFailure, NotPermitted, SchemaError
from discreet.core.grid import Grid
from discreet.core.neighbors import Unit
from discreet.noise.deterministic import DeterministicBits
from discreet.questions.question import BoundedSum
from discreet.schema.schema import Category, Number, Schema, Text
from discreet.statistics.moments.count import count
from discreet.statistics.moments.total import total
from discreet.statistics.tables.key_counts import key_counts
from discreet.trust.curator import Curator
from discreet.trust.private_data import PrivateData
from discreet.trust.sources.kept_rows import start
from discreet.trust.sources.source_of import source_of
from discreet.trust.sources.spark import START
from tests.trust.sources.tables import SCHEMA, UNITS, exact_sums, sums, table
from tests.trust.sources.trial import SourceTrial

TRIAL = SourceTrial(None, elsewhere="Spark takes seconds to start: the tests of this file share one session")
pytestmark = [
    pytest.mark.skipif(find_spec("pyspark") is None, reason="pyspark is not installed"),
    pytest.mark.xdist_group("spark"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]


ASKED = ("moments 1 False", "histogram", "days by kind", "products", "rows")


@pytest.mark.parametrize(
    "units", [name if name == "one row" else pytest.param(name, marks=pytest.mark.slow) for name in UNITS]
)
def test_spark_agrees_to_the_last_bit(units: str, spark: Any) -> None:
    frame = spark.createDataFrame(pa.table(table())).repartition(5)
    assert sums(source_of(frame, SCHEMA, UNITS[units]), ASKED) == sums(source_of(table(), SCHEMA, UNITS[units]), ASKED)


def test_a_condition_is_looked_at_where_the_records_are(spark: Any) -> None:
    rng = np.random.default_rng(2)
    people = {"age": rng.integers(0, 100, 2000).astype(float), "sex": rng.choice(["f", "m"], 2000).tolist()}
    people |= {"town": rng.choice(["Rome", "Oslo"], 2000).tolist(), "who": [f"u{i // 2}" for i in range(2000)]}
    schema = Schema({"age": Number(0, 100), "sex": Category(("f", "m")), "town": Text()})
    condition = "age >= 30 and (sex == 'f' or age < 40)"
    frame = spark.createDataFrame(pa.table(people)).repartition(3)
    for unit in (Unit(), Unit("user", "who", rows=2)):
        asked = [
            PrivateData.of(records, schema, Budget(3.0, 1e-4), unit=unit, bits=DeterministicBits(1)).where(condition)
            for records in (frame, people)
        ]
        here, there = (total(one, "age", epsilon=1.0) for one in asked)
        assert here.value == there.value
        assert "where age >= 30" in str(here)
        named, expected = (key_counts(one, "town", epsilon=1.0, delta=1e-6) for one in asked)
        assert named.counts == expected.counts


@pytest.mark.slow
def test_spark_pools_to_the_last_bit(spark: Any) -> None:
    schema = Schema({name: kind for name, kind in SCHEMA.columns.items() if name != "town"})
    frame, person = spark.createDataFrame(pa.table(table())).repartition(5), Unit("user", column="who", pooled=True)
    source, expected = (source_of(records, schema, person) for records in (frame, table()))
    assert exact_sums(source, ASKED) == exact_sums(expected, ASKED)
    assert source.units() == expected.units()
    assert source.units_by_rows(5).tolist() == expected.units_by_rows(5).tolist()
    with pytest.raises(NotPermitted, match="not the number of their rows"):
        list(source.keys("kind"))


def test_only_sums_come_to_the_driver(spark: Any) -> None:
    """Each partition is added up in a process of its own."""
    frame = spark.range(1000).selectExpr("CAST(id AS DOUBLE) AS x").repartition(4)
    driver = os.getpid()

    def of(records: np.ndarray) -> np.ndarray:
        import os

        return np.full((len(records), 1), float(os.getpid() != driver))

    source = source_of(frame, Schema({"x": Number(0, 1000)}))
    question = BoundedSum(of, Bound("l1", 1.0), ("x",))
    assert question.grid.values(source.sum(question)) == [1000.0]


@pytest.mark.slow
def test_a_sample_starts_where_python_says(spark: Any) -> None:
    names = ["ann", "Zoë", "𝄞", "", "O'Brien"]
    frame = spark.createDataFrame([(name,) for name in names], "name string").selectExpr("CAST(name AS BINARY) AS u")
    assert [row[0] for row in frame.selectExpr(START).collect()] == [start(name) for name in names]


def test_a_value_means_the_same_in_every_type_and_beside_any_record(spark: Any) -> None:
    rows = [(i % 2, i % 2 + 0.0, Decimal(i % 2), f"0{i % 2}.0", i % 2 == 1, str(i % 2 == 1)) for i in range(30)]
    types = "a bigint, b double, c decimal(10, 2), d string, e boolean, f string"
    schema = Schema(dict.fromkeys("abcdef", Category((False, True))))
    odd = (None, 0.5, Decimal("0.50"), "x" * 10_000, None, "maybe")

    def of(records: np.ndarray) -> np.ndarray:
        return (records[:, :, None] == np.arange(2)).reshape(len(records), 12).astype(np.float64)

    question = BoundedSum(of, Bound("l1", 6.0), tuple("abcdef"), Grid(0))
    for records in (rows, [*rows, odd]):
        assert source_of(spark.createDataFrame(records, types), schema).sum(question).tolist() == [15] * 12


def test_a_failing_job_does_not_quote_a_record(spark: Any) -> None:
    frame = spark.createDataFrame([("Ann is ill",)], "x string").selectExpr("CAST(x AS DOUBLE) AS x")
    source = source_of(frame, Schema({"x": Number(0, 1)}))
    with pytest.raises(DiscreetError, match="withheld") as caught:
        source.sum(BoundedSum(lambda records: records, Bound("l1", 1.0), ("x",)))
    assert "Ann" not in f"{caught.value}{caught.value.__context__}"


@pytest.mark.slow
def test_what_cannot_be_read_is_refused_by_its_type(spark: Any) -> None:
    frame = spark.createDataFrame([([1.0], 1.0, 2.0, None)], "x array<double>, y double, Y double, day date")
    with pytest.raises(SchemaError, match="the schema has numbers there"):
        source_of(frame, Schema({"day": Number(0, 1)}))
    with pytest.raises(SchemaError, match="neither numbers nor texts"):
        source_of(frame, Schema({"x": Number(0, 1)}))
    with pytest.raises(SchemaError, match="more than one column"):
        source_of(frame, Schema({"y": Number(0, 1)}))
    with pytest.raises(SchemaError, match="no column 'z'"):
        source_of(frame, Schema({"z": Number(0, 1)}))


NUMBER = Schema({"x": Number(0, 10)})


def test_a_failure_of_spark_says_what_was_spent(spark: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    frame = spark.range(500).selectExpr("CASE WHEN id < 400 THEN 1.0 ELSE raise_error('Ann') END AS x")
    data = PrivateData.of(frame, NUMBER, Budget(1.0))
    with pytest.raises(EngineFailure, match="charged, epsilon 1, and stays so; nothing was released") as caught:
        count(data, "x", epsilon=1.0, key="k")
    assert "Ann" not in f"{caught.value}{caught.value.__context__}"
    good = PrivateData(Curator(data._trust._source), data.ledger)  # type: ignore[attr-defined]
    monkeypatch.setattr(good._trust._source, "_frame", spark.range(500).selectExpr("1.0 AS x"))  # type: ignore[attr-defined]
    assert abs(count(good, "x", epsilon=1.0, key="k").value - 500) < 40


def test_a_session_that_was_stopped_is_found_before_the_charge(spark: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    data = PrivateData.of(spark.range(5).selectExpr("1.0 AS x"), NUMBER, Budget(1.0))

    class Stopped:
        sparkSession = property(lambda self: self)

        def range(self, end: int) -> Any:
            raise AttributeError("the session was stopped")

    monkeypatch.setattr(data._trust._source, "_frame", Stopped())  # type: ignore[attr-defined]
    with pytest.raises(EngineFailure, match=r"Nothing was released or spent. Start a session"):
        count(data, "x", epsilon=1.0)
    monkeypatch.setattr(type(data._trust._source), "check_ready", lambda self: None)  # type: ignore[attr-defined]
    with pytest.raises(EngineFailure, match="the same key goes on"):
        count(data, "x", epsilon=1.0)


@pytest.mark.slow
def test_sixteen_threads_on_one_frame_get_what_one_gets(spark: Any) -> None:
    source = source_of(spark.createDataFrame(pa.table(table())).repartition(2), SCHEMA)
    expected = sums(source_of(table(), SCHEMA), ("rows",))
    with ThreadPoolExecutor(16) as pool:
        assert all(found == expected for found in pool.map(lambda _: sums(source, ("rows",)), range(16)))
