"""Marginals: in agreement with one another, with errors as they were predicted."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from discreet.accounting.accountant import delta, pure_epsilon
from discreet.core.budget import Budget
from discreet.core.errors import DiscreetError, ParameterError
from discreet.core.neighbors import Neighbors
from discreet.noise.deterministic import DeterministicBits
from discreet.schema.schema import Category, Number, Schema, Text
from discreet.statistics.tables.contingency import contingency
from discreet.statistics.tables.marginals import Marginals, marginals
from discreet.trust.private_data import PrivateData
from discreet.trust.sources.source_of import source_of
from tests.statistics.trial import StatisticTrial

TRIAL = StatisticTrial({"bins": 4}, extreme={"sets": [((), ("x",)), (("x", "y"),) * 1000]})

NAMES = tuple("abcdefg")
YES = Category(("yes", "no"))
SCHEMA = Schema({**dict.fromkeys(NAMES, YES), "ward": Category(("u", "v", "w")), "age": Number(0, 90), "note": Text()})
rng = np.random.default_rng(4)
ANSWERS: dict[str, Any] = {name: rng.choice(["yes", "no"], 900, p=[0.1, 0.9]).tolist() for name in NAMES}
ANSWERS["ward"] = [None, *rng.choice(["u", "v", "w"], 899).tolist()]
ANSWERS["age"] = rng.uniform(0, 90, 900)
ANSWERS["note"] = [""] * 900
SOURCE = source_of(ANSWERS, SCHEMA)  # opened once for all


def people(seed: int, budget: Budget, **options: Any) -> PrivateData:
    return PrivateData.of(SOURCE, SCHEMA, budget, bits=DeterministicBits(seed), **options)


def released(seed: int, budget: Budget, columns: tuple[str, ...] = NAMES, **options: Any) -> Marginals:
    return marginals(people(seed, budget, **options), columns, bins=4, epsilon=budget.epsilon, delta=budget.delta)


@lru_cache
def exact(columns: tuple[str, ...], among: tuple[str, ...]) -> np.ndarray:
    """By another way: the table of these columns, over the records that have a value in all the others."""
    kept = [i for i in range(900) if all(ANSWERS[name][i] is not None for name in among)]
    sizes = [4 if name == "age" else len(SCHEMA.category(name).values) for name in columns]
    table = np.zeros(sizes)
    for i in kept:
        place = tuple(
            int(ANSWERS[name][i] // 22.5) if name == "age" else SCHEMA.category(name).values.index(ANSWERS[name][i])
            for name in columns
        )
        table[place] += 1
    return table


CASES = [
    (Budget(0.5), NAMES),
    (Budget(0.5, 1e-6), NAMES),
    (Budget(0.5), ("a", "b", "ward", "age")),
    (Budget(0.5, 1e-6), ("a", "ward", "age")),
]


def test_all_of_them_cost_no_more_than_was_given() -> None:
    for budget, columns in CASES:
        event = released(0, budget, columns).receipt.event
        if budget.delta == 0:
            assert pure_epsilon(event) <= budget.epsilon
        else:
            assert delta(event, budget.epsilon) <= budget.delta


def test_marginals_agree_where_they_overlap() -> None:
    for (budget, columns), neighbors in zip(CASES, list(Neighbors) * 2, strict=True):
        found = released(1, budget, columns, neighbors=neighbors)
        for first, second in combinations(found, 2):
            for name in set(first.columns) & set(second.columns):
                sums = [table.counts.sum(axis=1 - table.columns.index(name)) for table in (first, second)]
                np.testing.assert_allclose(sums[0], sums[1], rtol=1e-9, atol=1e-6)
                np.testing.assert_allclose(sums[0], found.marginal([name]).counts, rtol=1e-9, atol=1e-6)


@pytest.mark.parametrize(("budget", "columns"), CASES)
def test_bars_hold_the_exact_counts_as_often_as_they_say(budget: Budget, columns: tuple[str, ...]) -> None:
    """Bars are those of a single Laplace variable, so up to 96.6 %.

    25 releases of 15 cells or more, correlated; the bounds are what these were seen to keep with room to spare.
    """
    hits, squares = [], []
    for seed in range(25):
        found = released(seed, budget, columns)
        for names in (*found.wanted, (columns[0],), ()):
            table = found.marginal(names)
            off = np.abs(table.counts - exact(names, columns))
            hits.append(off <= table.half_width)
            variance = found.residuals.variance([columns.index(name) for name in names])
            squares.append(np.square(off).mean() / variance)
    assert 0.925 <= np.mean(np.concatenate([np.ravel(one) for one in hits])) <= 0.985
    assert np.mean(squares) == pytest.approx(1.0, abs=0.2)


def test_consistent_marginals_are_nearer_than_independent_ones() -> None:
    """21 marginals of seven columns: each by itself would have noise of 21 / epsilon."""
    pairs = list(combinations(NAMES, 2))
    found = [released(seed, Budget(0.5)) for seed in range(10)]
    squares = [np.square(one.marginal(pair).counts - exact(pair, NAMES)).mean() for one in found for pair in pairs]
    assert np.mean(squares) < 0.2 * 2 * (len(pairs) / 0.5) ** 2


def test_the_sets_that_are_wanted_may_be_named() -> None:
    sets = [("a", "b", "c"), ("ward",), ("age", "a")]
    found = marginals(people(0, Budget(1.0)), sets=sets, bins={"age": 3}, epsilon=1.0)
    assert [table.counts.shape for table in found] == [(2, 2, 2), (3,), (3, 2)]
    assert found.domain.columns == ("a", "b", "c", "ward", "age")
    with pytest.raises(ParameterError, match="was asked for"):
        found.marginal(["b", "age"])


def test_a_single_marginal_is_the_table_itself() -> None:
    alone = marginals(people(0, Budget(1.0)), ("a", "ward"), epsilon=1.0)
    table = contingency(people(0, Budget(1.0)), ("a", "ward"), epsilon=1.0)
    assert alone.receipt.event == table.receipt.event
    np.testing.assert_allclose(alone.marginal(["a", "ward"]).counts, table.counts)


def test_negative_counts_can_be_removed_and_counts_made_whole() -> None:
    found = released(3, Budget(0.1), ("a", "b", "ward", "age"))
    assert min(table.counts.min() for table in found) < 0
    tame, whole = found.nonnegative(), found.whole()
    assert min(table.counts.min() for table in tame) >= -1e-6
    for table in whole:
        np.testing.assert_allclose(table.counts, np.rint(table.counts), atol=1e-6)
        assert table.counts.min() >= -1e-6
    assert tame.receipt == found.receipt


def test_they_are_printed_and_escaped() -> None:
    schema = Schema({"<b>": YES, "c": YES, "d": YES})
    data = PrivateData.of({"<b>": ["yes"], "c": ["no"], "d": ["no"]}, schema, Budget(1.0))
    found = marginals(data, ("<b>", "c", "d"), epsilon=1.0)
    assert str(found).startswith("3 marginals of <b>, c, d, measured by ")
    assert "<b>" not in found._repr_html_()
    frame = found.to_pandas()
    assert frame.loc[("<b> by c", "yes, no"), "count"] == found.marginal(["<b>", "c"]).counts[0, 1]
    assert str(released(0, Budget(1.0))).endswith("... and 44 more")


def test_a_mistake_is_refused_before_anything_is_spent() -> None:
    data = people(0, Budget(2.0))
    mistakes: list[Callable[[PrivateData], Any]] = [
        lambda data: marginals(data, 7, epsilon=1.0),  # type: ignore[arg-type]
        lambda data: marginals(data, ("a", "a"), epsilon=1.0),
        lambda data: marginals(data, "ab", epsilon=1.0),
        lambda data: marginals(data, ("a", "shoe"), epsilon=1.0),
        lambda data: marginals(data, ("a", "note"), epsilon=1.0),
        lambda data: marginals(data, ("a", "age"), bins=0, epsilon=1.0),
        lambda data: marginals(data, ("a", "b"), sets=[("a", "c")], epsilon=1.0),
        lambda data: marginals(data, sets=[("a", "a")], epsilon=1.0),
        lambda data: marginals(data, sets=["ab"], epsilon=1.0),
        lambda data: marginals(data, sets=[("a", "b"), ("b", "a")], epsilon=1.0),
        lambda data: marginals(data, sets=[], epsilon=1.0),
        lambda data: marginals(data, ("a", "b"), sets=[], epsilon=1.0),
        lambda data: marginals(data, ("a", "age"), bins=2**21, epsilon=1.0),
        lambda data: marginals(data, ("a", "b"), epsilon=3.0),
    ]
    for wrong in mistakes:
        with pytest.raises(DiscreetError, match="Nothing was released or spent"):
            wrong(data)
    marginals(data, ("a", "b"), epsilon=2.0)


@pytest.mark.slow
@pytest.mark.parametrize(("budget", "columns"), CASES)
def test_coverage_in_the_long_run(budget: Budget, columns: tuple[str, ...]) -> None:
    """All cells of 600 releases."""
    hits = []
    for seed in range(600):
        found = released(seed, budget, columns, neighbors=list(Neighbors)[seed % 2])
        hits += [np.abs(table.counts - exact(table.columns, columns)).ravel() <= table.half_width for table in found]
    assert 0.935 <= np.mean(np.concatenate(hits)) <= 0.97
