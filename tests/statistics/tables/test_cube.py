"""Data cubes: which cuboids to measure, against all choices; what comes out, against what was predicted."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations, product
from typing import Any

import numpy as np
import pytest

from discreet.accounting.accountant import pure_epsilon
from discreet.core.budget import Budget
from discreet.core.errors import DiscreetError
from discreet.core.neighbors import Neighbors
from discreet.noise.deterministic import DeterministicBits
from discreet.questions.tables.measurements import Measurements
from discreet.questions.tables.residuals import Shape, closure, subsets
from discreet.schema.schema import Category, Number, Schema
from discreet.statistics.tables.cube import CuboidLattice, cube, cuboids
from discreet.statistics.tables.marginals import Marginals
from discreet.statistics.tables.strategy import Targets, candidates
from discreet.trust.private_data import PrivateData
from tests.statistics.trial import StatisticTrial

TRIAL = StatisticTrial({"bins": 4})

SCHEMA = Schema({"sex": Category(("f", "m")), "age": Number(0, 100), "ward": Category(tuple("abcde"))})
COLUMNS = ("sex", "age", "ward")
rng = np.random.default_rng(6)
PLACES = np.stack([rng.integers(0, size, 700) for size in (2, 10, 5)])
VISITS: dict[str, Any] = {
    "sex": [("f", "m")[i] for i in PLACES[0]],
    "age": PLACES[1] * 10 + 5.0,
    "ward": ["abcde"[i] for i in PLACES[2]],
}
EXACT = np.zeros((2, 10, 5))
np.add.at(EXACT, tuple(PLACES), 1.0)


def visits(seed: int, budget: Budget, **options: Any) -> PrivateData:
    return PrivateData.of(VISITS, SCHEMA, budget, bits=DeterministicBits(seed), **options)


def released(seed: int, budget: Budget, **options: Any) -> Marginals:
    return cube(visits(seed, budget, **options), COLUMNS, epsilon=budget.epsilon, delta=budget.delta)


def least(lattice: CuboidLattice) -> float:
    """By trying all choices that have the finest cuboid."""
    last = len(lattice.cells) - 1
    return min(lattice.error([*some, last]) for number in range(last + 1) for some in combinations(range(last), number))


@pytest.mark.parametrize("shape", [(2, 2, 2), (3, 2, 4), (2, 5, 10), (10, 10, 10)])
def test_the_greedy_choice_is_close_to_the_best(shape: Shape) -> None:
    for norm, slack in (("l1", 1.1), ("l2", 1 + 1e-9)):
        lattice = CuboidLattice(shape, norm)  # type: ignore[arg-type]
        assert lattice.error(lattice.chosen()) <= slack * least(lattice)


@pytest.mark.slow
@pytest.mark.parametrize("shape", [(2, 2, 2, 2), (5, 4, 3, 2), (2, 2, 10, 10), (3, 3, 3, 3), (2, 3, 5, 20)])
def test_the_greedy_choice_is_close_to_the_best_of_32768(shape: Shape) -> None:
    lattice = CuboidLattice(shape, "l1")
    assert lattice.error(lattice.chosen()) <= 1.1 * least(lattice)


def test_the_choice_beats_both_the_finest_cuboid_and_all_of_them() -> None:
    lattice = CuboidLattice((2, 5, 10), "l1")
    finest, everything = lattice.error([7]), lattice.error(range(8))
    assert lattice.error(lattice.chosen()) < 0.8 * min(finest, everything)


@pytest.mark.parametrize("shape", [(2, 3), (3, 2, 4)])
def test_predictions_are_those_of_least_squares(shape: Shape) -> None:
    """`Measurements` computes the same variances in another way, which its own tests hold against matrices."""
    for norm in ("l1", "l2"):
        measurements = cuboids(shape, norm)
        targets = Targets.of(shape, list(subsets(frozenset(range(len(shape))))))
        lattice = CuboidLattice(shape, norm)
        worst = measurements.bound.radius**2 * targets.variances(measurements).max()
        assert worst == pytest.approx(lattice.error(lattice.chosen()), rel=1e-6)


@pytest.mark.parametrize("shape", [(2, 2, 2), (3, 2, 4), (2, 5, 10)])
def test_in_l2_all_cuboids_are_the_best_that_any_weights_can_do(shape: Shape) -> None:
    """The mean over random cuboids is never above the largest; its least value, over all weights, is a product."""
    lattice = CuboidLattice(shape, "l2")
    bound = np.prod([2 * size / (size + 1) for size in shape])
    assert lattice.error(lattice.chosen()) == pytest.approx(bound)
    everything = list(subsets(frozenset(range(len(shape)))))
    targets = Targets.of(shape, everything)
    chances = [
        np.prod([c if axis in one else 1 - c for axis, c in enumerate(size / (2 * size + 2) for size in shape)])
        for one in everything
    ]
    importance = dict(zip(targets.spaces, (targets.shares.T @ np.array(chances)).tolist(), strict=True))
    best = Measurements.weighted(shape, candidates(targets, "l2")["contrasts"], "l2", importance)
    assert best.bound.radius**2 * targets.variances(best) @ chances == pytest.approx(bound, rel=1e-3)


@pytest.mark.parametrize(
    ("budget", "neighbors"), [(Budget(0.5), Neighbors.REPLACE), (Budget(0.5, 1e-6), Neighbors.ADD_REMOVE)]
)
def test_errors_are_as_predicted(budget: Budget, neighbors: Neighbors) -> None:
    """25 releases of all cuboids, of 198 cells: their mean squares are within a few per cent of the variance."""
    ratios, hits = [], []
    for seed in range(25):
        found = released(seed, budget, neighbors=neighbors)
        for table in found:
            gone = tuple(axis for axis, name in enumerate(COLUMNS) if name not in table.columns)
            off = table.counts - EXACT.sum(axis=gone)
            axes = [COLUMNS.index(name) for name in table.columns]
            ratios.append(np.square(off).mean() / found.residuals.variance(axes))
            hits.append(np.abs(off).ravel() <= table.half_width)
    assert np.mean(ratios) == pytest.approx(1.0, abs=0.2)
    assert 0.92 <= np.mean(np.concatenate(hits)) <= 0.985


def test_a_cube_has_a_table_for_every_set_of_columns_at_one_price() -> None:
    found = released(0, Budget(0.5))
    assert len(found) == 8
    assert pure_epsilon(found.receipt.event) <= 0.5
    assert found.strategy == "cuboids"
    for kept in product((False, True), repeat=3):
        names = tuple(name for name, here in zip(COLUMNS, kept, strict=True) if here)
        assert found.marginal(names).counts.ndim == len(names)
    finest = found.marginal(COLUMNS).counts
    assert len(found.to_pandas()) == 3 * 11 * 6
    assert str(found).splitlines()[2].split()[0] == "records"
    np.testing.assert_allclose(found.marginal(["ward"]).counts, finest.sum(axis=(0, 1)), atol=1e-6)
    assert closure([frozenset({0, 1, 2})], (2, 10, 5)) == sorted(
        found.residuals.parts, key=lambda s: (len(s), sorted(s))
    )


def test_a_mistake_is_refused_before_anything_is_spent() -> None:
    data = visits(0, Budget(2.0))
    mistakes: list[Callable[[PrivateData], Any]] = [
        lambda data: cube(data, ("sex", "sex"), epsilon=1.0),
        lambda data: cube(data, ("sex", "shoe"), epsilon=1.0),
        lambda data: cube(data, 7, epsilon=1.0),  # type: ignore[arg-type]
        lambda data: cube(data, (), epsilon=1.0),
        lambda data: cube(data, ("sex", "age"), bins=0, epsilon=1.0),
        lambda data: cube(data, ("sex", "age"), bins=2**20, epsilon=1.0),
        lambda data: cube(data, ("sex", "age"), epsilon=3.0),
    ]
    for wrong in mistakes:
        with pytest.raises(DiscreetError, match="Nothing was released or spent"):
            wrong(data)
    cube(data, ("sex",), epsilon=2.0)


def test_a_cube_of_many_columns_is_refused() -> None:
    schema = Schema({name: Category(("y", "n")) for name in "abcdefgh"})
    data = PrivateData.of({name: ["y"] for name in "abcdefgh"}, schema, Budget(1.0))
    with pytest.raises(DiscreetError, match="ask for `marginals`"):
        cube(data, tuple("abcdefgh"), epsilon=1.0)
