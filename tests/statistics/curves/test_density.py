"""Densities from perturbed histograms: densities indeed, with a band, and cells that nobody's record decides."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from discreet.core.budget import Budget
from discreet.core.errors import DiscreetError
from discreet.core.neighbors import Neighbors
from discreet.noise.deterministic import DeterministicBits
from discreet.schema.schema import Category, Number, Schema
from discreet.statistics.curves.density import density
from discreet.statistics.curves.density_estimate import DensityEstimate
from discreet.statistics.curves.kernel_density import kernel_density
from discreet.trust.private_data import PrivateData
from tests.statistics.trial import StatisticTrial

TRIAL = StatisticTrial({"bins": 4})

SCHEMA = Schema({"stay": Number(0, 100), "cost": Number(-1, 1), "ward": Category(("a", "b"))})
rng = np.random.default_rng(8)
STAYS, COSTS = np.clip(rng.gamma(2, 15, 1500), 0, 100), rng.uniform(-1, 0.5, 1500)
TABLE: dict[str, Any] = {"stay": np.append(STAYS, np.nan), "cost": np.append(COSTS, 0.3), "ward": ["a"] * 1501}
QUIET = Budget(1e7)
EVERYWHERE = np.linspace(0, 100, 777)


def stays(seed: int, budget: Budget, **options: Any) -> PrivateData:
    return PrivateData.of(TABLE, SCHEMA, budget, bits=DeterministicBits(seed), **options)


def released(seed: int, budget: Budget, columns: Any = "stay", **options: Any) -> DensityEstimate:
    relation = {"neighbors": options.pop("neighbors")} if "neighbors" in options else {}
    data = stays(seed, budget, **relation)
    return density(data, columns, epsilon=budget.epsilon, delta=budget.delta, **options)


def test_without_noise_it_is_the_histogram() -> None:
    found = released(0, QUIET, bins=20)
    exact, edges = np.histogram(STAYS, bins=20, range=(0, 100), density=True)
    np.testing.assert_allclose(found((edges[:-1] + edges[1:]) / 2), exact, atol=1e-6)
    assert found.count == pytest.approx(1500)
    assert found.integral(10, 35) == pytest.approx(exact[2:7].sum() * 5, abs=1e-6)


def test_without_noise_two_columns_are_the_histogram_of_both() -> None:
    found = released(0, QUIET, ("stay", "cost"), bins={"stay": 10, "cost": 4})
    exact, first, second = np.histogram2d(STAYS, COSTS, bins=(10, 4), range=((0, 100), (-1, 1)), density=True)
    middles = np.stack(np.meshgrid(first[:-1] + 5, second[:-1] + 0.25, indexing="ij"), axis=-1)
    np.testing.assert_allclose(found(middles), exact, atol=1e-6)


def test_it_is_a_density_whatever_the_noise() -> None:
    for budget, neighbors in zip(
        (Budget(0.01), Budget(0.3), Budget(0.5, 1e-6)), [*Neighbors, *Neighbors], strict=False
    ):
        found = released(1, budget, bins=50, neighbors=neighbors)
        assert (found(EVERYWHERE) >= 0).all()
        assert found.integral() == pytest.approx(1.0)
        assert found(np.arange(1.0, 100, 2)).sum() * 2 == pytest.approx(1.0)


def test_it_is_no_farther_from_the_exact_one_than_the_release_was() -> None:
    exact = released(0, QUIET, bins=50)(EVERYWHERE)
    for seed in range(10):
        found = released(seed, Budget(0.1), bins=50)
        raw = found.reading.at(EVERYWHERE[:, None] / 100) / 100
        assert np.square(found(EVERYWHERE) - exact).sum() <= np.square(raw - exact).sum()


def test_the_number_of_cells_depends_on_public_numbers_alone() -> None:
    def cells(rows: int, epsilon: float, **options: Any) -> int:
        relation = {"neighbors": options.pop("neighbors", Neighbors.ADD_REMOVE)}
        data = PrivateData.of(
            np.linspace(0, 1, rows)[:, None], Schema.numeric(0.0, 1.0, 1), Budget(epsilon), **relation
        )
        return density(data, "x0", epsilon=epsilon, **options).reading.masses.size

    assert cells(10, 1.0) == cells(3000, 1.0) == cells(3000, 1.0, expected_size=10_000) == 64
    assert cells(10, 0.1) == 53
    assert cells(100, 1.0, neighbors=Neighbors.REPLACE) < cells(3000, 1.0, neighbors=Neighbors.REPLACE)
    assert cells(10, 1.0, expected_size=1_000_000) == 299


def hits(budget: Budget, bins: int, neighbors: Neighbors, runs: int) -> float:
    exact = released(0, QUIET, bins=bins)(EVERYWHERE)
    found = (released(seed, budget, bins=bins, neighbors=neighbors).band(EVERYWHERE) for seed in range(runs))
    return float(np.mean([((band.low <= exact + 1e-9) & (exact <= band.high + 1e-9)).all() for band in found]))


@pytest.mark.parametrize("budget", [Budget(0.2), Budget(0.2, 1e-3)])
def test_the_band_holds_all_cells_at_once(budget: Budget) -> None:
    """40 runs of a 95 % band: 32 hits or fewer have probability below 1e-3."""
    assert hits(budget, 20, Neighbors.ADD_REMOVE, 40) > 32 / 40


@pytest.mark.slow
@pytest.mark.parametrize("neighbors", list(Neighbors))
@pytest.mark.parametrize(("budget", "bins"), [(Budget(0.5), 10), (Budget(0.5), 60), (Budget(0.2, 1e-3), 30)])
def test_coverage_in_the_long_run(budget: Budget, bins: int, neighbors: Neighbors) -> None:
    """1200 runs: the deviation is 0.63 %; counts are whole, so a band may hold more."""
    assert 0.935 <= hits(budget, bins, neighbors, 1200) <= 0.98


def test_a_band_without_records_has_no_end() -> None:
    data = PrivateData.of(np.zeros((0, 1)), Schema.numeric(0.0, 1.0, 1), Budget(0.1), bits=DeterministicBits(3))
    band = density(data, "x0", epsilon=0.1).band([0.5])
    assert (band.low.item(), band.high.item()) == (0.0, np.inf)


def test_points_have_any_shape_and_there_is_nothing_outside() -> None:
    found = released(0, Budget(1.0), bins=8)
    assert found(np.full((3, 2), 10.0)).shape == (3, 2)
    assert found(10.0).shape == ()
    np.testing.assert_array_equal(found([-1.0, 101.0, np.inf, -np.inf, np.nan]), [0, 0, 0, 0, np.nan])
    assert found([100.0])[0] == found([99.9])[0]
    both = released(0, Budget(1.0), ("stay", "cost"), bins=4)
    assert both(np.zeros((5, 7, 2))).shape == (5, 7)
    with pytest.raises(DiscreetError, match="stay, cost"):
        both([1.0, 2.0, 3.0])


def test_a_sample_is_distributed_like_the_density() -> None:
    found = released(0, Budget(1.0), bins=10)
    drawn = found.sample(20_000)
    np.testing.assert_allclose(np.histogram(drawn, 10, (0, 100))[0] / 20_000, found._shares, atol=0.02)
    assert released(0, Budget(1.0), ("stay", "cost"), bins=4).sample(3).shape == (3, 2)


def test_an_array_with_bounds_will_do() -> None:
    found = density(STAYS, bounds=(0, 100), bins=10, epsilon=1.0)
    assert found.box.columns == ("value",)
    both = density(np.stack([STAYS, COSTS], axis=1), ("a", "b"), bounds=([0, -1], [100, 1]), bins=3)
    assert both.box.volume == pytest.approx(200)


def test_it_is_printed_and_drawn() -> None:
    found = released(0, Budget(1.0), bins=16)
    assert len(str(found).splitlines()) == 2 + 16
    assert str(found).startswith("density of stay, in 16 cells (95% for these data)")
    assert len(found.plot().lines) == 1
    both = released(0, Budget(1.0), ("stay", "cost"), bins=4)
    assert both.plot().get_ylabel() == "cost"
    assert both.to_pandas().index.names == ["stay", "cost"]


def test_there_is_no_band_for_a_population() -> None:
    data = stays(0, Budget(1.0))
    with pytest.raises(DiscreetError, match=r"no interval for the population.*Nothing was released or spent"):
        density(data, "stay", population=True)
    assert data.ledger.balance().certified == 0


def test_a_mistake_is_refused_before_anything_is_spent() -> None:
    data = stays(0, Budget(2.0))
    mistakes: list[Callable[[PrivateData], Any]] = [
        lambda data: density(data, "ward", epsilon=2.0),
        lambda data: density(data, "shoe", epsilon=2.0),
        lambda data: density(data, 7, epsilon=2.0),  # type: ignore[call-overload]
        lambda data: density(data, ("stay", "stay"), epsilon=2.0),
        lambda data: density(data, "stay", bins=0, epsilon=2.0),
        lambda data: density(data, "stay", bins=2**15, epsilon=2.0),
        lambda data: density(data, "stay", expected_size=0, epsilon=2.0),
        lambda data: density(data, "stay", confidence=0.9999, epsilon=2.0),
        lambda data: density(data, "stay", bounds=(0, 1), epsilon=2.0),
        lambda data: density(data, "stay", epsilon=3.0),
        lambda data: density(STAYS, epsilon=2.0),
        lambda data: density(STAYS, bounds=(1, 0), epsilon=2.0),
        lambda data: density(STAYS, bounds=(0, np.nan), epsilon=2.0),
        lambda data: density(STAYS, bounds=3, epsilon=2.0),  # type: ignore[call-overload]
        lambda data: density(STAYS, ("a", "b"), bounds=(0, 1), epsilon=2.0),
        lambda data: density(np.zeros((2, 2, 2)), bounds=(0, 1), epsilon=2.0),
    ]
    for wrong in mistakes:
        with pytest.raises(DiscreetError, match="Nothing was released or spent"):
            wrong(data)
    density(data, "stay", bins=4, epsilon=2.0)


def test_whole_numbers_make_no_comb() -> None:
    """73 values in 50 cells: without regard to the step, every second cell or so would hold twice as many."""
    ages = np.random.default_rng(3).integers(17, 90, 200_000, endpoint=True).astype(float)
    data = PrivateData.of({"age": ages}, Schema({"age": Number(17, 90, step=1)}), Budget(8.0))
    found = density(data, "age", bins=50, epsilon=4.0)
    values = found(np.arange(17.0, 91.0))
    assert np.ptp(values) < 0.1 * values.mean()
    assert found.integral() == pytest.approx(1.0)
    assert found.integral(16.5, 45.5) == pytest.approx(29 / 74, abs=0.01)
    smooth = kernel_density(data, "age", epsilon=4.0)(np.linspace(25.0, 82.0, 600))
    assert np.ptp(smooth) < 0.1 * smooth.mean()
