"""Histograms: every cell, the right cells, and quantiles for free."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from discreet.core.budget import Budget
from discreet.core.errors import DiscreetError
from discreet.core.events import LaplaceLoss, PureLoss
from discreet.core.neighbors import Neighbors
from discreet.noise.deterministic import DeterministicBits
from discreet.schema.schema import Category, Number, Schema, Text
from discreet.statistics.tables.histogram import histogram, quantile_of
from discreet.statistics.tables.key_counts import key_counts
from discreet.trust.private_data import PrivateData
from tests.statistics.trial import StatisticTrial

TRIAL = StatisticTrial({"bins": 4})

SCHEMA = Schema({"age": Number(0, 100), "sex": Category(("f", "m")), "town": Text()})
rng = np.random.default_rng(0)
TABLE: dict[str, Any] = {
    "age": np.append(rng.uniform(0, 100, 5000), [np.nan, 100.0, -3.0]),
    "sex": ["f"] * 3000 + ["m"] * 2000 + ["?", None, "f"],
    "town": ["Bern"] * 4000 + ["Zug"] * 1000 + ["Chur", "Visp", None],
}


def data(budget: Budget, neighbors: Neighbors = Neighbors.ADD_REMOVE) -> PrivateData:
    return PrivateData.of(TABLE, SCHEMA, budget, neighbors=neighbors, bits=DeterministicBits(7))


@pytest.mark.parametrize("neighbors", list(Neighbors))
@pytest.mark.parametrize("budget", [Budget(1.0), Budget(1.0, 1e-6)])
def test_a_number_falls_in_its_cell_and_the_ends_are_inside(budget: Budget, neighbors: Neighbors) -> None:
    released = histogram(data(budget, neighbors), "age", bins=4, epsilon=1.0, delta=budget.delta)
    exact, _ = np.histogram(np.clip(TABLE["age"][:5000], 0, 100), bins=4, range=(0, 100))
    exact = exact + np.array([1, 0, 0, 1])
    np.testing.assert_allclose(released.counts, exact, atol=5 * released.half_width)
    assert (released.counts == np.round(released.counts)).all()
    assert released.labels[0][0] == "[0, 25)"


def test_a_category_has_one_cell_per_listed_value() -> None:
    released = histogram(data(Budget(1.0)), "sex", epsilon=1.0)
    assert released.labels == (("f", "m"),)
    np.testing.assert_allclose(released.counts, [3001, 2000], atol=5 * released.half_width)


def test_the_price_does_not_grow_with_the_cells() -> None:
    few = histogram(data(Budget(1.0)), "age", bins=2, epsilon=1.0)
    many = histogram(data(Budget(1.0)), "age", bins=1000, epsilon=1.0)
    assert many.receipt.event == few.receipt.event
    assert many.receipt.event.epsilon == pytest.approx(1.0)  # type: ignore[attr-defined]
    assert len(many.counts) == 1000


@pytest.mark.parametrize(
    ("account", "kind"), [(Budget(1.0), PureLoss), (Budget(1.0, 1e-6), LaplaceLoss)], ids=["pure", "with delta"]
)
def test_whole_noise_is_for_accounts_in_which_losses_just_add_up(account: Budget, kind: type) -> None:
    assert isinstance(histogram(data(account), "age", epsilon=1.0).receipt.event, kind)


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 3.0])
def test_the_noise_is_geometric_and_the_interval_covers(epsilon: float) -> None:
    """Two thousand cells without records; the deviation within five of its own, the interval as tight as whole numbers
    allow: one less would not cover."""
    bits = DeterministicBits(11)
    nothing = PrivateData.of({"age": np.empty(0)}, Schema({"age": Number(0, 100)}), Budget(epsilon), bits=bits)
    released = histogram(nothing, "age", bins=2000, epsilon=epsilon)
    chance = np.exp(-epsilon)
    assert np.square(released.counts).mean() == pytest.approx(2 * chance / (1 - chance) ** 2, rel=5 * np.sqrt(6 / 2000))
    beyond = 2 * chance ** (released.half_width + np.array([1, 0])) / (1 + chance)
    assert beyond[0] <= 0.05 < beyond[1]


def test_negative_counts_are_replaced_by_zero_on_demand() -> None:
    released = histogram(data(Budget(0.1)), "age", bins=1000, epsilon=0.1)
    assert released.counts.min() < 0
    np.testing.assert_array_equal(released.nonnegative().counts, np.maximum(released.counts, 0))


def test_quantiles_are_read_off_at_no_cost() -> None:
    released = histogram(data(Budget(1.0)), "age", bins=100, epsilon=1.0)
    for share in (0.1, 0.5, 0.9):
        assert released.quantile(share) == pytest.approx(np.quantile(TABLE["age"][:5000], share), abs=3)
    assert 0 <= released.quantile(0.0) <= released.quantile(1.0) <= 100


def test_a_quantile_of_exact_counts_is_exact_on_a_line() -> None:
    counts, edges = np.array([10.0, 0.0, 30.0]), np.array([0.0, 1.0, 2.0, 3.0])
    assert quantile_of(counts, edges, 0.125) == pytest.approx(0.5)
    assert quantile_of(counts, edges, 0.625) == pytest.approx(2.5)
    assert quantile_of(np.array([-5.0, -1.0]), np.array([0.0, 1.0, 2.0]), 0.5) == 1.0


def test_common_values_are_named_and_lone_ones_are_not() -> None:
    released = key_counts(data(Budget(1.0, 1e-6)), "town", epsilon=1.0, delta=1e-6)
    assert list(released.counts) == ["Bern", "Zug"]
    assert released.counts["Bern"] == pytest.approx(4000, abs=5 * released.half_width)
    assert "Bern" in str(released)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: histogram(data(Budget(1.0)), "town", epsilon=1.0),
        lambda: histogram(data(Budget(1.0)), "age", bins=0, epsilon=1.0),
        lambda: histogram(data(Budget(1.0)), "height", epsilon=1.0),
        lambda: key_counts(data(Budget(1.0)), "town", epsilon=1.0, delta=0.0),
        lambda: key_counts(data(Budget(1.0, 1e-6)), "sex", epsilon=1.0),
        lambda: histogram(data(Budget(1.0)), "sex", epsilon=1.0).quantile(0.5),
        lambda: histogram(data(Budget(1.0)), "age", epsilon=1.0).quantile(1.5),
    ],
)
def test_a_mistake_is_refused(wrong: object) -> None:
    with pytest.raises(DiscreetError):
        wrong()  # type: ignore[operator]


def test_it_is_printed_and_drawn() -> None:
    released = histogram(data(Budget(1.0)), "sex", epsilon=1.0)
    assert str(released).startswith("sex (95% for these data)")
    assert released.plot().get_ylabel() == "count"
