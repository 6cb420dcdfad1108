"""A data set under a condition: one ledger, a secret number of records, every trust model and source alike."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from discreet.core.budget import Budget
from discreet.core.errors import UNTOUCHED, DiscreetError, KeyReused, NotPermitted, ParameterError
from discreet.core.neighbors import Neighbors, Unit
from discreet.learners.bayes.gaussian_nb import GaussianNB
from discreet.ledger.memory_ledger import MemoryLedger
from discreet.ledger.sqlite_ledger import SqliteLedger
from discreet.questions.columns.moments import moments_of
from discreet.questions.filtered import filtered
from discreet.schema.condition_text import condition_of
from discreet.schema.plain_schema import schema_of
from discreet.statistics.moments.count import count
from discreet.statistics.moments.mean import mean
from discreet.statistics.moments.total import total
from discreet.statistics.moments.variance import standard_deviation, variance
from discreet.statistics.ranks.quantile import median
from discreet.statistics.tables.contingency import contingency
from discreet.statistics.tables.histogram import histogram
from discreet.statistics.tables.key_counts import key_counts
from discreet.trust.curator import Curator
from discreet.trust.filtered_trust import FilteredTrust
from discreet.trust.local import Local
from discreet.trust.private_data import PrivateData
from discreet.trust.secure_sum import SecureSum
from discreet.trust.sources.frame import Frame
from discreet.trust.sources.matrix import Matrix
from discreet.trust.sources.source_of import source_of
from tests.trust import trial
from tests.trust.sources.tables import FORMS, NUMBERS, QUESTIONS, SCHEMA, UNITS, numbers_table, questions, table
from tests.trust.trial import TrustTrial

TRIAL = TrustTrial(
    lambda rows, bits: FilteredTrust(
        Curator(Matrix(rows, trial.SCHEMA), bits=bits), condition_of("x0 >= 0", trial.SCHEMA)
    )
)

N = 3000
PEOPLE = {
    "age": [20.0] * (N // 3) + [50.0] * (N // 3) + [80.0] * (N // 3),
    "sex": ["f", "m", None] * (N // 3),
    "town": ["Bern", "Basel"] * (N // 2),
}
DESCRIBED = {"age": (0, 100), "sex": ["f", "m"], "town": str}


def private(budget: float = 1e3, **how: Any) -> PrivateData:
    return PrivateData.of(PEOPLE, DESCRIBED, Budget(budget, 1e-6), **how)


@pytest.mark.parametrize("neighbors", list(Neighbors))
def test_statistics_are_those_of_the_records_that_fulfil_it(neighbors: Neighbors) -> None:
    for statistic, text, wanted in (
        (mean, "age > 30", 65.0),
        (mean, "age > 30 and sex == 'f'", 65.0),
        (total, "sex == 'm'", 50.0 * N / 3),
        (count, "not (sex == 'm')", 2 * N / 3),
        (median, "age < 30 or age > 70", 50.0),
        (median, "age >= 30 and age <= 70", 50.0),
    ):
        found = statistic(private(neighbors=neighbors).where(text), "age", epsilon=100.0)
        assert abs(found.value - wanted) < (31 if "or" in text else 1) * (1 if statistic is not total else 50)
        assert found.receipt.purpose.endswith(f" where {condition_of(text, schema_of(DESCRIBED))}")


def test_the_number_of_records_is_secret_whatever_the_relation() -> None:
    data = private(neighbors=Neighbors.REPLACE)
    assert data.public_size == N
    assert data.where("age > 30").public_size is None
    assert data.curated
    assert not data.where("age > 30").curated


def test_every_statistic_with_a_where_asks_those_records() -> None:
    how: dict[str, Any] = {"bounds": DESCRIBED, "where": "age < 30", "epsilon": 100.0}
    for statistic in (mean, median):
        assert abs(statistic(PEOPLE, "age", **how).value - 20) < 1
    assert abs(variance(PEOPLE, "age", **how).value) < 1
    assert abs(standard_deviation(PEOPLE, "age", **how).value) < 2
    assert abs(count(PEOPLE, "age", **how).value - N / 3) < 3
    assert abs(total(PEOPLE, "age", **how).value - 20 * N / 3) < 300
    assert histogram(PEOPLE, "age", bins=2, **how).counts.round(-1).tolist() == [N / 3, 0]
    assert contingency(PEOPLE, ["sex"], **how).counts.sum() < N / 4
    assert "age < 30" in histogram(PEOPLE, "age", **how).receipt.purpose


def test_conditions_follow_one_another_and_share_the_account() -> None:
    data = PrivateData.of(PEOPLE, DESCRIBED, Budget(1.0))
    twice = data.where("age > 30 or sex == 'f'").where("sex == 'm'")
    assert str(twice.condition) == "(age > 30 or sex == 'f') and sex == 'm'"
    assert twice.ledger is data.ledger
    mean(twice, "age", epsilon=1.0)
    with pytest.raises(DiscreetError):
        mean(data, "age", epsilon=1.0)


def test_a_wrong_condition_costs_nothing() -> None:
    data = private()
    with pytest.raises(ParameterError, match="no column 'size'") as error:
        data.where("size > 3")
    assert error.value.consequence == UNTOUCHED


def test_a_key_stands_for_one_condition(tmp_path: Path) -> None:
    ledger = SqliteLedger.create(tmp_path / "l", Budget(5.0, 1e-6), name="people", neighbors=Neighbors.ADD_REMOVE)
    data = PrivateData.of(PEOPLE, DESCRIBED, ledger)
    first = mean(data.where("age > 30"), "age", epsilon=0.5, key="a")
    assert mean(data.where("age>30"), "age", epsilon=0.5, key="a").value == first.value
    for other in (data.where("age > 31"), data):
        with pytest.raises(KeyReused):
            mean(other, "age", epsilon=0.5, key="a")


def test_a_mechanism_that_needs_the_number_of_records_is_not_asked_where_a_condition_hides_it() -> None:
    from discreet.mechanisms.ranks.quantile import Quantile
    from discreet.questions.question import AllRecords

    data = private(neighbors=Neighbors.REPLACE).where("age > 30")
    mechanism: Any = Quantile(1.0, 0.0, 100.0)
    with data.permit(mechanism.event, "median") as permit, pytest.raises(NotPermitted, match="makes secret"):
        permit.ask(AllRecords(("age",)), mechanism)


def test_keys_of_text_are_counted_among_those_records() -> None:
    found = key_counts(private().where("age > 30 and sex == 'f'"), "town", epsilon=100.0, delta=1e-7)
    assert {key: round(value) for key, value in found.counts.items()} == {"Bern": N // 3 // 3, "Basel": N // 3 // 3}


def test_parties_and_people_bind_the_condition() -> None:
    numbers = {"age": PEOPLE["age"], "sex": PEOPLE["sex"]}
    schema = schema_of({"age": (0, 100), "sex": ["f", "m"]})
    local = PrivateData(Local(Frame(numbers, schema)), MemoryLedger(Budget(200.0)))
    assert abs(mean(local.where("age > 30"), "age", epsilon=200.0).value - 65) < 3
    wards = dict.fromkeys(("a", "b", "c"), numbers)
    with SecureSum.rehearsal(wards, schema, threshold=3) as trust:
        found = count(PrivateData(trust, MemoryLedger(Budget(50.0))).where("sex == 'm'"), "age", epsilon=50.0)
    assert abs(found.value - N) < 5


def test_a_learner_fits_those_records_alone() -> None:
    rng = np.random.default_rng(0)
    x, y = rng.normal(0, 1, 6000), rng.integers(0, 2, 6000)
    odd = np.arange(6000) % 2
    records = {"x": x + 3 * y * odd - 3 * y * (1 - odd), "y": y, "odd": odd}
    for condition, nearer in (("odd", "1"), ("not odd", "0")):
        data = PrivateData.of(records, {"x": (-8, 8), "y": [0, 1], "odd": bool}, Budget(50.0, 1e-6))
        model = GaussianNB(epsilon=50.0, delta=1e-6, target="y").fit(data.where(condition))
        assert str(model.predict(pd.DataFrame({"x": [3.0]}))[0]) == nearer


TABLES = {"mixed": (table(), SCHEMA), "numbers": (numbers_table(), NUMBERS)}
EVERYTHING = ("arrays", "relation")  # forms of which everything is asked: records are chosen before any question
SOME = ("moments 1 False", "histogram", "products")


@cache
def asked(kind: str) -> dict[str, Any]:
    schema = TABLES[kind][1]
    return {name: filtered(one, condition(kind), schema) for name, one in questions(schema).items()}


@cache
def condition(kind: str) -> Any:
    return condition_of("days > 7 and not kind == 'f' or days is missing", TABLES[kind][1])


@cache
def wanted(kind: str, units: str) -> dict[str, Any]:
    """The sums of lists of Python's, and the keys."""
    source = source_of(*TABLES[kind], UNITS[units])
    return {name: source.sum(one).tolist() for name, one in asked(kind).items()} | {"keys": keys(source, kind)}


@pytest.mark.parametrize("form", [*FORMS])
def test_every_source_has_the_same_records(form: str, tmp_path: Path) -> None:
    for kind in ["mixed"] if "categories" in form else TABLES:
        folder = tmp_path / kind
        folder.mkdir()
        rows, schema = TABLES[kind]
        records = FORMS[form](rows, folder)
        for units, unit in UNITS.items():
            own = source_of(records, schema, unit)
            for name in QUESTIONS if form in EVERYTHING else SOME:
                assert own.sum(asked(kind)[name]).tolist() == wanted(kind, units)[name], name
            assert keys(own, kind) == wanted(kind, units)["keys"]


def keys(source: Any, kind: str) -> dict[str, int]:
    found: dict[str, int] = {}
    for batch in source.keys("town", condition(kind)):
        for key, rows in batch.items():
            found[key] = found.get(key, 0) + rows
    return found


def test_one_unit_moves_a_filtered_sum_by_no_more_than_its_rows_may() -> None:
    """The rows of a unit are limited before the condition is looked at."""
    schema = schema_of({"v": (0, 1)})
    unit = Unit("user", column="who", rows=2)
    condition = condition_of("v > 0.5", schema)
    question: Any = filtered(moments_of(schema, "v", 1, False), condition, schema)
    others: dict[str, list[Any]] = {"who": ["b"] * 3, "v": [1.0, 0.0, 1.0]}
    whole = {"who": [*others["who"], *["a"] * 50], "v": [*others["v"], *[1.0, 0.2] * 25]}
    moved = source_of(whole, schema, unit).sum(question) - source_of(others, schema, unit).sum(question)
    assert abs(question.grid.values(moved)).sum() <= question.bound.times(2).radius
