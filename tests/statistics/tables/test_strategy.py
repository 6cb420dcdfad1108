"""What is measured: the best of several ways, known before any data."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from discreet.core.bound import Norm
from discreet.core.budget import Budget
from discreet.core.errors import ParameterError
from discreet.core.neighbors import Neighbors
from discreet.questions.tables.domain import Domain
from discreet.questions.tables.measurements import Measurements
from discreet.questions.tables.residuals import Measurement, Shape
from discreet.schema.schema import Category, Schema
from discreet.statistics.tables.strategy import NORMS, Strategy, Targets, ways_of
from discreet.trust.private_data import PrivateData

SHAPES = [(2,) * 10, (2,) * 16, (4,) * 8, (10,) * 5, (2, 2, 2, 2, 5, 5, 10), (2, 2, 3, 16, 5, 9, 10, 10)]


def pairs(shape: Shape) -> Targets:
    return Targets.of(shape, [frozenset(pair) for pair in combinations(range(len(shape)), 2)])


def error(targets: Targets, measurements: Measurements) -> float:
    """The mean variance of a cell, for noise of deviation one for each unit of length."""
    return measurements.bound.radius**2 * float(targets.variances(measurements).mean())


def chosen(shape: Shape, budget: Budget, neighbors: Neighbors = Neighbors.ADD_REMOVE) -> Strategy:
    schema = Schema({f"c{i}": Category(tuple(map(str, range(size)))) for i, size in enumerate(shape)})
    data = PrivateData.of({name: [] for name in schema.columns}, schema, budget, neighbors=neighbors)
    domain, targets = Domain.of(schema, tuple(schema.columns), (0,) * len(shape)), pairs(shape)
    return Strategy.best(data, domain, targets, budget, ways_of(targets), np.mean)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("norm", NORMS)
def test_least_squares_beats_marginals_that_do_not_know_of_each_other(shape: Shape, norm: Norm) -> None:
    """Each of m marginals by itself has noise of variance m^2 in l1, and m in l2."""
    targets, ways = pairs(shape), ways_of(pairs(shape))[norm]
    alone = len(targets.wanted) ** (2 if norm == "l1" else 1)
    equal = error(
        targets, Measurements.even(shape, [Measurement(axes) for axes in targets.wanted], norm, targets.spaces)
    )
    best = min(error(targets, measurements) for measurements in ways.values())
    assert error(targets, ways["marginals"]) <= equal * (1 + 1e-3) < alone
    assert best <= error(targets, ways["marginals"])


@pytest.mark.parametrize("shape", SHAPES)
def test_in_l2_contrasts_are_at_least_as_good_as_anything_else(shape: Shape) -> None:
    targets = pairs(shape)
    ways = ways_of(targets)["l2"]
    least = min(error(targets, measurements) for measurements in ways.values())
    assert error(targets, ways["contrasts"]) <= least * (1 + 1e-3)


def test_parities_of_binary_columns_are_those_of_barak() -> None:
    """One coefficient for each set of at most two columns; a marginal's cell has a quarter of four of them."""
    targets = pairs((2,) * 16)
    parities = ways_of(targets)["l1"]["parities"]
    assert len(parities.members) == parities.total_size == 1 + 16 + 120
    even = Measurements.even((2,) * 16, parities.members, "l1", targets.spaces)
    np.testing.assert_allclose(targets.variances(even), 0.25)
    assert error(targets, parities) < error(targets, even)
    assert error(targets, parities) < error(targets, ways_of(targets)["l1"]["marginals"])


@pytest.mark.parametrize(
    ("shape", "budget", "name"),
    [
        ((2, 2, 2), Budget(1.0), "table"),
        ((2,) * 16, Budget(1.0), "parities"),
        ((10,) * 5, Budget(1.0), "marginals"),
        ((10,) * 6, Budget(1.0, 1e-6), "contrasts"),
    ],
)
def test_the_strategy_follows_from_shape_and_budget(shape: Shape, budget: Budget, name: str) -> None:
    found = chosen(shape, budget)
    assert found.name == name


def test_signed_measurements_are_avoided_where_replacement_makes_them_dear() -> None:
    add, replace = (chosen((10,) * 6, Budget(1.0, 1e-6), one) for one in Neighbors)
    assert add.measurements.bound.nonnegative is False
    assert replace.measurements.bound.nonnegative is True


def test_marginals_of_too_many_parts_are_refused() -> None:
    with pytest.raises(ParameterError, match="too many parts"):
        Targets.of((2,) * 20, [frozenset(range(20))])
