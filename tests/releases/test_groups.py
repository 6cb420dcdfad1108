"""Statistics of groups: of each group's own records, all at the price of one, with honest intervals."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from discreet.core.budget import Budget
from discreet.core.errors import UNTOUCHED, ParameterError
from discreet.core.neighbors import Neighbors
from discreet.ledger.memory_ledger import MemoryLedger
from discreet.noise.deterministic import DeterministicBits
from discreet.statistics.curves.distribution import distribution
from discreet.statistics.hypotheses.t_test import t_test
from discreet.statistics.moments.count import count
from discreet.statistics.moments.grouped import grouped
from discreet.statistics.moments.mean import mean
from discreet.statistics.moments.total import total
from discreet.statistics.moments.variance import standard_deviation, variance
from discreet.statistics.ranks.quantile import median, quantile
from discreet.statistics.tables.contingency import contingency
from discreet.statistics.tables.histogram import histogram
from discreet.trust.private_data import PrivateData
from discreet.trust.secure_sum import SecureSum

N = 6000
RNG = np.random.default_rng(3)
PEOPLE: dict[str, Any] = {
    "stay": RNG.gamma(3.0, 4.0, N),
    "sex": RNG.choice(["f", "m"], N).tolist(),
    "age": RNG.integers(17, 91, N),
    "children": RNG.integers(0, 3, N),
}
SCHEMA = {"stay": (0, 60), "sex": ["f", "m"], "age": (17, 90), "children": range(3)}
EDGES = [18, 25, 45, 98]
MASKS = [
    (PEOPLE["age"] >= low) & (PEOPLE["age"] < high) & (np.array(PEOPLE["sex"]) == sex)
    for sex in ("f", "m")
    for low, high in ((18, 25), (25, 45), (45, 98))
]
STAY = np.clip(PEOPLE["stay"], 0, 60)
TRUTH: list[tuple[Callable[..., Any], Callable[[Any], Any]]] = [
    (count, len),
    (total, np.sum),
    (mean, np.mean),
    (variance, np.var),
    (standard_deviation, np.std),
    (median, np.median),
]


def private(seed: int | None = None, budget: Budget | None = None, **how: Any) -> PrivateData:
    bits = None if seed is None else DeterministicBits(seed)
    return PrivateData.of(PEOPLE, SCHEMA, budget or Budget(1.0), bits=bits, **how)


@pytest.mark.parametrize("neighbors", list(Neighbors))
def test_intervals_of_all_groups_hold_the_truth(neighbors: Neighbors) -> None:
    """Twelve runs of 95 % intervals for six groups: fewer than 58 of 72 hits have probability below 1e-6."""
    for statistic, truth in TRUTH:
        exact = np.array([truth(STAY[mask]) for mask in MASKS])
        hits = 0
        for seed in range(12):
            found = statistic(private(seed, neighbors=neighbors), "stay", by=["sex", "age"], edges=EDGES)
            low, high = found.interval
            hits += int(((low <= exact + 1e-9) & (exact <= high + 1e-9)).sum())
        assert hits >= 58, statistic


def test_groups_are_labelled_by_their_values_and_edges() -> None:
    found = mean(private(), "stay", by=["sex", "age"], edges=EDGES)
    assert found.name == "mean of stay by sex and age"
    assert found.labels["sex"] == ("f", "f", "f", "m", "m", "m")
    assert found.labels["age"] == 2 * ("[18, 25)", "[25, 45)", "[45, 98]")
    assert [one.name for one in found.series] == ["mean"]
    assert count(private(), by="children").labels == {"children": ("0", "1", "2")}
    several = quantile(private(), "stay", [0.9, 0.1], by="sex")
    assert [one.name for one in several.series] == ["0.9 quantile", "0.1 quantile"]
    assert several["0.9 quantile"].values.min() > several["0.1 quantile"].values.max()


def test_all_groups_cost_what_one_statistic_does() -> None:
    for statistic in (total, mean, variance, standard_deviation):
        one, many = statistic(private(), "stay"), statistic(private(), "stay", by=["sex", "children"])
        assert many.receipt.event == one.receipt.event
    assert count(private()).receipt.event == count(private(), by="sex").receipt.event
    assert median(private(), "stay", method="tree").receipt.event == median(private(), "stay", by="sex").receipt.event


def test_all_records_are_counted_without_a_column() -> None:
    people = {"age": [20.0, None] * 500, "sex": ["f"] * 1000}
    how: dict[str, Any] = {"bounds": {"age": (0, 100), "sex": ["f", "m"]}, "epsilon": 50.0}
    assert abs(count(people, **how).value - 1000) < 3
    assert abs(count(people, where="age is missing", **how).value - 500) < 3
    by_sex = count(people, by="sex", **how)
    assert by_sex.values.round(-1).tolist() == [1000, 0]


def test_records_are_counted_where_their_first_column_holds_lists() -> None:
    """None of its values is read, so that its type does not matter."""
    pandas, polars, arrow = (pytest.importorskip(name) for name in ("pandas", "polars", "pyarrow"))
    duckdb, people = pytest.importorskip("duckdb"), {"tags": [["a", "b"], []] * 50, "age": [20.0, 30.0] * 50}
    relation = duckdb.sql("select ['a', 'b'] as tags, range as age from range(100)")
    for table in (people, pandas.DataFrame(people), polars.DataFrame(people), arrow.table(people), relation):
        assert abs(count(table, epsilon=50.0).value - 100) < 3


def test_tables_have_the_cells_of_their_edges() -> None:
    found = histogram(private(), "age", edges=EDGES, epsilon=1.0)
    exact = np.histogram(PEOPLE["age"], EDGES)[0]
    assert np.abs(found.counts - exact).max() < 15
    assert found.labels == (("[18, 25)", "[25, 45)", "[45, 98]"),)
    both = contingency(private(), ["age", "sex"], edges=EDGES, epsilon=1.0)
    assert np.abs(both.counts.ravel(order="F") - [mask.sum() for mask in MASKS]).max() < 15
    assert histogram(private(), "children", bins=10).labels == (("0", "1", "2"),)


def test_the_grouped_table_takes_several_columns_too() -> None:
    found = grouped(private(), "stay", by=("sex", "age"), edges=EDGES, where="children > 0")
    wanted = [STAY[mask & (PEOPLE["children"] > 0)] for mask in MASKS]
    assert np.abs(found["count"].values - [len(one) for one in wanted]).max() < 20
    assert np.abs(found["mean"].values - [one.mean() for one in wanted]).max() < 3


def test_parties_release_groups_together() -> None:
    with SecureSum.rehearsal({"a": PEOPLE, "b": PEOPLE}, SCHEMA, threshold=2) as trust:
        found = mean(PrivateData(trust, MemoryLedger(Budget(5.0))), "stay", by="sex", epsilon=5.0)
    sexes = np.array(PEOPLE["sex"])
    assert np.abs(found.values - [STAY[sexes == sex].mean() for sex in ("f", "m")]).max() < 1


def test_what_makes_no_groups_is_refused_before_a_charge() -> None:
    data = private()
    wrong: list[dict[str, Any]] = [
        {"by": "age"},
        {"by": "absent"},
        {"by": []},
        {"by": ["sex", "sex"]},
        {"by": "sex", "edges": EDGES},
        {"by": "age", "edges": [3]},
        {"by": "age", "edges": {"sex": EDGES}},
        {"by": "age", "edges": list(range(2**13 + 2))},
    ]
    for options in wrong:
        for statistic in (mean, count, total, variance, standard_deviation, median):
            with pytest.raises(ParameterError) as error:
                statistic(data, "stay", **options)
            assert error.value.consequence == UNTOUCHED
    mean(data, "stay", by="sex", epsilon=1.0)


def test_groups_of_public_size_are_not_taken_for_the_whole() -> None:
    """Where a record is replaced, the number of all is public, and that of a group is not."""
    data = PrivateData.of(PEOPLE, SCHEMA, Budget(50.0), neighbors=Neighbors.REPLACE)
    found = mean(data, "stay", by="sex", epsilon=20.0)
    sexes = np.array(PEOPLE["sex"])
    assert np.abs(found.values - [STAY[sexes == sex].mean() for sex in ("f", "m")]).max() < 1
    tests = t_test(data, "stay", mean=float(STAY[sexes == "f"].mean()), by="sex", epsilon=20.0)
    assert abs(tests.group("f").value - STAY[sexes == "f"].mean()) < 1


def test_other_results_than_numbers_come_for_each_group_with_one_receipt() -> None:
    found = distribution(private(), "stay", by=["sex", "children"], epsilon=1.0, bins=8)
    assert found.labels["sex"] == ("f",) * 3 + ("m",) * 3
    one = found.group("m", "2")
    assert one.receipt == found.receipt
    chosen = (np.array(PEOPLE["sex"]) == "m") & (PEOPLE["children"] == 2)
    middle = float(np.median(STAY[chosen]))
    assert abs(float(one(middle)) - 0.5) < 0.25
    assert len(found) == 6 * 9
    assert list(found.tabulated().labels) == ["sex", "children", "stay"]
    assert found.to_pandas().index.names == ["sex", "children", "stay"]
    with pytest.raises(KeyError, match="is not among"):
        found.group("x", "2")
