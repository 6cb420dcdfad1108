"""Workloads: every method answers the same queries, error bars hold, and the choice between them is public."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from discreet.core.budget import Budget
from discreet.core.errors import BudgetExceeded, ParameterError
from discreet.core.neighbors import Neighbors
from discreet.ledger.sqlite_ledger import SqliteLedger
from discreet.noise.deterministic import DeterministicBits
from discreet.questions.tables.domain import Domain
from discreet.schema.schema import Category, Number, Schema
from discreet.statistics.tables.workload import workload
from discreet.trust.private_data import PrivateData
from discreet.trust.sources.source_of import source_of
from tests.statistics.trial import StatisticTrial

TRIAL = StatisticTrial(
    {"bins": 4},
    {"queries": ["all", [3]], "max_iter": [0]},
    {"queries": [[], [{}], [{"x": 0}] * 1000, [{"z": 0}], np.full((1, 16), 1e300)], "max_iter": [10**6]},
)

SCHEMA = Schema({"age": Number(0, 80), "sex": Category(("f", "m")), "smokes": Category(("yes", "no"))})
RECORDS = 4000
rng = np.random.default_rng(1)
TABLE: dict[str, Any] = {
    "age": np.clip(rng.gamma(4, 8, RECORDS), 0, 79.9),
    "sex": rng.choice(["f", "m"], RECORDS, p=[0.6, 0.4]).tolist(),
    "smokes": rng.choice(["yes", "no"], RECORDS, p=[0.3, 0.7]).tolist(),
}
SOURCE = source_of(TABLE, SCHEMA)  # opened once for all
COLUMNS = ("age", "sex", "smokes")
DOMAIN = Domain.of(SCHEMA, COLUMNS, 8)
EXACT = np.histogramdd(
    np.stack([TABLE["age"], np.array(TABLE["sex"]) == "m", np.array(TABLE["smokes"]) == "no"], axis=1),
    bins=[np.linspace(0, 80, 9), np.array([0, 0.5, 1]), np.array([0, 0.5, 1])],
)[0]
QUERIES: list[dict[str, Any]] = [
    {"age": (0, 40)},
    {"sex": "f", "smokes": "yes"},
    {"age": (20, 30), "sex": ["f", "m"]},
    {},
]


def data(budget: Budget, seed: int = 0, neighbors: Neighbors = Neighbors.ADD_REMOVE) -> PrivateData:
    return PrivateData.of(SOURCE, SCHEMA, budget, neighbors=neighbors, bits=DeterministicBits(seed))


def exact(conditions: list[dict[str, Any]]) -> np.ndarray:
    return np.array([EXACT.ravel() @ DOMAIN.where(one) for one in conditions])


@pytest.mark.parametrize("method", ["queries", "cells", "mwem", "boosting"])
@pytest.mark.parametrize(
    ("budget", "neighbors"), [(Budget(1.0), Neighbors.REPLACE), (Budget(1.0, 1e-6), Neighbors.ADD_REMOVE)]
)
def test_every_method_answers_within_its_error_bars(method: Any, budget: Budget, neighbors: Neighbors) -> None:
    """An interval misses one time in twenty at most; of 16 more than 8 have a chance of 2e-8."""
    conditions = [*DOMAIN.marginals(2), {}]
    missed = 0
    for seed in range(16):
        found = workload(
            data(budget, seed, neighbors),
            COLUMNS,
            conditions,
            bins=8,
            epsilon=1.0,
            delta=budget.delta,
            method=method,
            max_iter=2 if method == "boosting" else 6,
        )
        off = np.abs(found.values - exact(conditions)) > found.half_widths
        missed += bool(off.any()) if found.together else bool(off[seed])
    assert found.method == method
    assert found.together == (method in ("mwem", "boosting"))
    assert missed <= 8


@pytest.mark.parametrize("method", ["cells", "mwem"])
def test_the_table_answers_further_queries_at_no_cost(method: Any) -> None:
    found = workload(data(Budget(4.0)), COLUMNS, QUERIES, bins=8, epsilon=4.0, method=method)
    assert found.table is not None
    assert found.table.shape == DOMAIN.shape
    assert found.count({"age": (0, 40)}) == pytest.approx(found.values[0])
    assert found.count({"sex": "f"}) == pytest.approx(float(EXACT[:, 0].sum()), abs=600)


def test_noise_on_each_query_makes_no_table() -> None:
    found = workload(data(Budget(1.0)), COLUMNS, QUERIES, bins=8, epsilon=1.0, method="queries")
    with pytest.raises(ParameterError, match="there is no table"):
        found.count({})


def test_a_matrix_of_weights_is_a_workload_too() -> None:
    weights = rng.random((3, DOMAIN.size))
    found = workload(data(Budget(1.0)), COLUMNS, weights, bins=8, epsilon=1.0)
    np.testing.assert_allclose(found.values, weights @ EXACT.ravel(), atol=5 * found.half_widths.max())
    assert found.labels == ("query 0", "query 1", "query 2")


def test_without_queries_every_cell_of_every_pair_of_columns_is_counted() -> None:
    found = workload(data(Budget(1.0)), ("sex", "smokes"), epsilon=1.0)
    assert found.labels[:2] == ("sex f", "sex m")
    assert len(found.labels) == 4 + 4
    assert str(found).startswith("8 queries on sex, smokes (95% for these data)")


FEW = [{"age": (0, 40)}, {"age": (40, 80)}]
MANY = [*DOMAIN.marginals(3), *DOMAIN.marginals(2), *DOMAIN.marginals(1)]


@pytest.mark.parametrize(("conditions", "better", "worse"), [(FEW, "queries", "cells"), (MANY, "cells", "queries")])
def test_the_method_with_the_smaller_error_bars_is_taken(conditions: Any, better: str, worse: Any) -> None:
    best = workload(data(Budget(1.0)), COLUMNS, conditions, bins=8, epsilon=1.0)
    other = workload(data(Budget(1.0)), COLUMNS, conditions, bins=8, epsilon=1.0, method=worse)
    assert best.method == better
    assert best.half_widths.max() < other.half_widths.max()


def test_mwem_is_taken_where_noise_would_drown_the_few_records() -> None:
    schema = Schema({f"q{i}": Category(("yes", "no")) for i in range(14)})
    answers = np.random.default_rng(0).random((2000, 14)) < np.linspace(0.2, 0.8, 14)
    table = {name: np.where(answers[:, i], "yes", "no").tolist() for i, name in enumerate(schema.columns)}
    pairs = list(Domain.of(schema, tuple(table), 1).marginals(2))
    columns = {name: np.array(values) for name, values in table.items()}
    counts = [np.all([columns[name] == value for name, value in one.items()], axis=0).sum() for one in pairs]
    off = {}
    methods: list[tuple[Any, int | None]] = [("best", 2000), ("cells", None), ("queries", None)]
    for method, records in methods:
        people = PrivateData.of(table, schema, Budget(1.0), bits=DeterministicBits(0))
        found = workload(people, tuple(table), pairs, epsilon=1.0, method=method, expected_size=records)
        off[found.method] = float(np.abs(found.values - counts).max())
    assert off["mwem"] < min(off["cells"], off["queries"])


def test_the_choice_does_not_depend_on_the_records() -> None:
    empty: dict[str, list[Any]] = {"age": [], "sex": [], "smokes": []}
    nobody = PrivateData.of(empty, SCHEMA, Budget(1.0), bits=DeterministicBits(0))
    somebody = data(Budget(1.0))
    found = [workload(one, COLUMNS, QUERIES, bins=8, epsilon=1.0, expected_size=100) for one in (nobody, somebody)]
    assert found[0].method == found[1].method
    assert found[0].receipt.event == found[1].receipt.event


@pytest.mark.parametrize("method", ["queries", "cells", "mwem", "boosting"])
def test_a_key_gives_the_same_answers_again_and_costs_nothing(method: Any, tmp_path: Any) -> None:
    ledger = SqliteLedger.create(tmp_path / "one.ledger", Budget(1.0), name="people", neighbors=Neighbors.ADD_REMOVE)
    people = PrivateData.of(TABLE, SCHEMA, ledger)
    first, again = (
        workload(people, COLUMNS, QUERIES, bins=8, epsilon=1.0, method=method, max_iter=3, key="k") for _ in range(2)
    )
    np.testing.assert_array_equal(first.values, again.values)
    np.testing.assert_array_equal(first.half_widths, again.half_widths)
    assert again.receipt.replayed
    with pytest.raises(BudgetExceeded):
        workload(people, COLUMNS, QUERIES, bins=8, epsilon=1.0, method=method, max_iter=3)


def test_for_a_population_intervals_are_wider_and_mwem_has_none() -> None:
    here, beyond = (
        workload(data(Budget(1.0)), COLUMNS, QUERIES, bins=8, method="cells", population=one) for one in (False, True)
    )
    np.testing.assert_array_less(here.interval.high, beyond.interval.high)
    with pytest.raises(ParameterError, match="no interval for the population"):
        workload(data(Budget(1.0)), COLUMNS, QUERIES, bins=8, method="mwem", population=True)


def test_what_has_no_meaning_is_refused_before_anything_is_charged() -> None:
    people = data(Budget(1.0))
    for queries in (np.ones((2, 5)), np.full((1, DOMAIN.size), 2.0), [], [{"age": (0, 7)}], [{"town": "Rome"}]):
        with pytest.raises(ParameterError):
            workload(people, COLUMNS, queries, bins=8)
    with pytest.raises(ParameterError, match="method is 'magic'"):
        workload(people, COLUMNS, QUERIES, bins=8, method="magic")  # type: ignore[arg-type]
    workload(people, COLUMNS, QUERIES, bins=8, epsilon=1.0)


@pytest.mark.parametrize(("method", "max_iter"), [("mwem", 0), ("mwem", 5000), ("boosting", 1), ("boosting", 2.5)])
def test_a_number_of_iterations_without_meaning_is_refused_by_its_name(method: Any, max_iter: Any) -> None:
    account = data(Budget(1.0))
    with pytest.raises(ParameterError, match=r"max_iter is .* Nothing was released or spent"):
        workload(account, COLUMNS, QUERIES, bins=8, method=method, max_iter=max_iter)
    assert account.ledger.balance().certified == 0
