"""The Johnson-Lindenstrauss mechanism: its price for either relation, its law, its bound."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.linalg import eigh
from scipy.stats import gamma, norm

from discreet.accounting.accountant import delta, epsilon
from discreet.accounting.calibration import calibrate
from discreet.core.answer import Records
from discreet.core.bits import Bits
from discreet.core.budget import Budget
from discreet.core.errors import ParameterError
from discreet.core.events import Composed, DiscreteLoss, GaussianLoss
from discreet.core.grid import Array, Steps
from discreet.core.neighbors import Neighbors
from discreet.mechanisms.vectors.johnson_lindenstrauss import (
    FARTHEST,
    GaussianWeights,
    JohnsonLindenstrauss,
    exchanged,
    loss_of,
)
from discreet.noise.deterministic import DeterministicBits
from tests.conformance.audits import Audit
from tests.mechanisms.trial import MechanismTrial

SIZES = [(31, 20), (51, 20), (11, 20), (36, 30)]


@dataclasses.dataclass(frozen=True)
class TooLittleNoise(JohnsonLindenstrauss):
    """Two thirds of the regularisation."""

    def release(self, records: Records, bits: Bits) -> Array:
        return JohnsonLindenstrauss(self.multiplier / 1.5, self.projections, self.radius).release(records, bits)


class DrawnAgain(JohnsonLindenstrauss):
    """Projections in fresh directions, whenever asked, at the price of the first."""

    def release(self, records: Records, bits: Bits) -> Array:
        return np.concatenate([super(DrawnAgain, self).release(records, bits) for _ in range(2)], axis=-2)


AGAIN = DrawnAgain(1.0)


def gamma_deltas(projections: int, ratio: float, at: float) -> tuple[float, float]:
    """The closed form: Gamma laws of one shape, one wider by the ratio; row removed, and row added."""
    shape, slope = projections / 2, 1 - 1 / ratio
    above, below = (sign * at / slope + shape * math.log(ratio) / slope for sign in (1, -1))
    removed = gamma.sf(above / ratio, shape) - math.exp(at) * gamma.sf(above, shape)
    added = gamma.cdf(below, shape) - math.exp(at) * gamma.cdf(below / ratio, shape) if below > 0 else 0.0
    return float(removed), float(added)


def tabulated(event: DiscreteLoss, at: float) -> list[float]:
    found = []
    for table in (event.remove, event.add):
        losses = event.step * (table.first + np.arange(len(table.probabilities)))
        found.append(table.infinity + float(np.array(table.probabilities) @ np.maximum(-np.expm1(at - losses), 0.0)))
    return found


TRIAL = MechanismTrial(
    twins=[
        TooLittleNoise(),
        Audit(
            "fresh directions", AGAIN, AGAIN.worst_neighbors(), view=lambda found: np.square(found[..., 0]).sum(axis=1)
        ),
    ],
    audits=[
        Audit(f"{neighbors.value}, {rows} rows", mechanism, mechanism.worst_neighbors(), slow=slow)
        for neighbors, rows, slow in (
            (Neighbors.ADD_REMOVE, 1, True),
            (Neighbors.REPLACE, 1, False),
            (Neighbors.ADD_REMOVE, 3, False),
            (Neighbors.REPLACE, 3, True),
        )
        for mechanism in [JohnsonLindenstrauss(2.0 * rows, 3, 2.0**20, rows, neighbors)]
    ],
)


@pytest.mark.parametrize(("projections", "ratio"), [(1, 2.0), (4, 6.0), (30, 1.2), (2952, 1 + 1 / 168), (3, 1e4)])
def test_the_table_is_just_above_the_closed_form_in_both_directions(projections: int, ratio: float) -> None:
    event = loss_of(projections, math.log(ratio))
    for at in (0.0, 0.1, 1.0, 3.0):
        for exact, found in zip(gamma_deltas(projections, ratio, at), tabulated(event, at), strict=True):
            assert exact * (1 - 1e-8) <= found <= exact * 1.01 + 1e-5 * (ratio > 100) + 1e-20


@pytest.mark.parametrize(
    ("price", "projections", "needed"), [(1.0, 2952, 167.8), (1.0, 328, 59.68), (0.5, 738, 165.25), (0.1, 328, 509.1)]
)
def test_it_needs_as_little_noise_as_the_exact_loss_allows(price: float, projections: int, needed: float) -> None:
    found = calibrate(JohnsonLindenstrauss(projections=projections), Budget(price, 1e-6))
    assert found.multiplier == pytest.approx(needed, rel=1e-3)
    exact = max(gamma_deltas(projections, 1 + 1 / found.multiplier, price))
    assert 0.99e-6 < exact <= 1e-6


def test_nothing_but_the_row_s_own_length_counts() -> None:
    """One row more among others: the wider law is wider by at most 1 + |v|^2 / w, in one direction alone."""
    generator = np.random.default_rng(1)
    for _ in range(50):
        others, row = generator.normal(size=(6, 4)), generator.normal(size=4)
        base = others.T @ others + 3.0 * np.eye(4)
        ratios = eigh(base + np.outer(row, row), base, eigvals_only=True)
        assert ratios[:3] == pytest.approx(np.ones(3))
        assert 1 < ratios[3] <= 1 + row @ row / 3.0


@pytest.mark.parametrize("rows", [1, 3])
def test_rows_that_are_replaced_widen_and_narrow_by_no_more_than_rows_that_come_and_go(rows: int) -> None:
    generator = np.random.default_rng(2)
    for _ in range(200):
        both = generator.normal(size=(2, rows, 5))
        first, second = both / np.linalg.norm(both, axis=-1, keepdims=True)
        ratios = eigh(first.T @ first + 2 * np.eye(5), second.T @ second + 2 * np.eye(5), eigvals_only=True)
        assert ratios[ratios > 1].prod() <= 1.5**rows * (1 + 1e-9)
        assert ratios[ratios < 1].prod() >= 1.5**-rows * (1 - 1e-9)


def test_replacing_costs_a_removal_and_an_addition() -> None:
    """Orthogonal rows: two independent sums of squares. One integral over the second, the first in closed form."""
    projections, ratio, at = 40, 1.2, 1.0
    shape, slope, half = projections / 2, 1 - 1 / ratio, projections * math.log(ratio) / 2

    def given(square: float) -> float:
        lost = half - slope * square
        return float(gamma.pdf(square, shape)) * (
            gamma_deltas(projections, ratio, at - lost)[0] if at > lost - half else -math.expm1(at - lost)
        )

    exact = quad(given, 0, 120, limit=400)[0]
    mechanism = JohnsonLindenstrauss(1 / (ratio - 1), projections, neighbors=Neighbors.REPLACE)
    assert exact < delta(mechanism.event, at) < 1.002 * exact


def widest(moved: float) -> float:
    """The greatest ratio of variances when a row of any length moves by `moved` regularisations, squared."""
    return 1 + moved / 2 + math.sqrt(moved + moved**2 / 4)


def test_a_row_of_any_length_that_moves_by_one_vector_needs_far_more() -> None:
    """The other relation of johnson_lindenstrauss.md: no pair is worse than the formula, and long rows reach it."""
    generator = np.random.default_rng(3)
    for _ in range(200):
        row, step = generator.normal(size=3) * 10 ** generator.uniform(-1, 2), generator.normal(size=3)
        step *= 0.7 / np.linalg.norm(step)
        pair = [np.outer(a, a) + np.eye(3) for a in (row, row + step)]
        ratios = eigh(*pair, eigvals_only=True)
        assert 1 / widest(0.49) * (1 - 1e-6) <= ratios[0] <= ratios[2] <= widest(0.49) * (1 + 1e-6)
    row, step = np.array([1e4, 0.0]), np.array([0.0, 0.7])
    pair = [np.outer(a, a) + np.eye(2) for a in (row, row + step)]
    assert eigh(*pair, eigvals_only=True)[1] == pytest.approx(widest(0.49), rel=1e-3)
    needed = [1e4, 1e6]
    while needed[1] / needed[0] > 1.001:
        middle = math.sqrt(needed[0] * needed[1])
        fits = epsilon(exchanged(loss_of(2952, math.log(widest(1 / middle)))), 1e-6) <= 1
        needed = [needed[0], middle] if fits else [middle, needed[1]]
    assert needed[1] == pytest.approx(5.3e4, rel=0.06)


def test_next_to_no_noise_promises_nothing() -> None:
    assert delta(JohnsonLindenstrauss(1.0, rows=1000).event, 5.0) == 1.0
    assert delta(JohnsonLindenstrauss(2.0**-40).event, 5.0) > 0.99
    assert delta(JohnsonLindenstrauss(1.0, projections=100, neighbors=Neighbors.REPLACE).event, 5.0) > 0.99


def test_more_rows_of_one_unit_cost_more() -> None:
    prices = [epsilon(JohnsonLindenstrauss(50.0, 10, rows=rows).event, 1e-6) for rows in (1, 2, 8)]
    assert prices[0] < prices[1] < prices[2]
    assert prices[2] == pytest.approx(epsilon(loss_of(10, 8 * math.log(1.02)), 1e-6), rel=1e-3)


def mixture_delta(step: float, at: float) -> float:
    """One projection of one row of length one, regularisation one, weights rounded to a coarse step: integrated."""
    weights = step * np.arange(-int(9 / step), int(9 / step) + 1)
    chances = norm.cdf(weights + step / 2) - norm.cdf(weights - step / 2)
    points = np.linspace(-12, 12, 24_001)
    p = (norm.pdf(points[:, None] - weights) @ chances) * (points[1] - points[0])
    q = norm.pdf(points) * (points[1] - points[0])
    return float(np.maximum(p - math.exp(at) * q, 0.0).sum())


def test_rounded_weights_cost_no_more_than_gaussian_noise_of_a_small_shift() -> None:
    """The argument for rounding, on a step so coarse that it matters: a tenth of the noise pays for it."""
    step, lent = 0.5, 0.1
    bound = Composed((loss_of(1, math.log1p(1 / (1 - lent))), GaussianLoss(math.sqrt(lent) / (step / 2))))
    for at in (0.5, 1.0, 2.0):
        assert gamma_deltas(1, 2.0, at)[0] < mixture_delta(step, at) < delta(bound, at)


def test_sums_of_many_rows_do_not_wrap_around(monkeypatch: pytest.MonkeyPatch) -> None:
    """Weights of 16 deviations each, for 4,096 rows: as much as two hundred million rows add with chance weights."""
    for multiplier in (2.0**-40, 1.0, 2.0**40):
        mechanism = JohnsonLindenstrauss(multiplier, 1, radius=1.0)
        weight = 16 * 2**mechanism.fineness
        drawn = "discreet.mechanisms.vectors.johnson_lindenstrauss.rounded_gaussian"
        monkeypatch.setattr(drawn, lambda bits, shape, scale, w=weight: np.full(shape, w))
        rows = Records(np.tile([0.5, -0.25], (4096, 1)), 1, Neighbors.ADD_REMOVE)
        released = mechanism.release(rows, DeterministicBits(0))
        np.testing.assert_allclose(released, [[4096 * 16 * 0.5, -4096 * 16 * 0.25]], rtol=1e-3, atol=1e-3)


def test_projections_have_the_covariance_of_the_rows_and_the_regularisation() -> None:
    generator = np.random.default_rng(5)
    table = generator.normal(size=(5000, 3)) @ np.array([[0.2, 0.1, 0.0], [0.0, 0.1, 0.1], [0.0, 0.0, 0.05]])
    mechanism = JohnsonLindenstrauss(20.0, 2000, radius=1.0)
    released = mechanism.release(Records(table, 1, Neighbors.ADD_REMOVE), DeterministicBits(1))
    assert released.shape == (2000, 3)
    exact = table.T @ table
    spread = np.sqrt(2 / 2000) * (np.trace(exact) + 3 * 20.0)
    assert np.abs(mechanism.estimated(released) - exact).max() < 4 * spread
    scores = released / np.sqrt(np.diag(exact) + 20.0)
    assert np.abs(scores).max() < 5.5
    assert (np.abs(scores) < 1).mean() == pytest.approx(0.683, abs=0.02)


def test_rows_are_shortened_and_missing_values_count_as_zero() -> None:
    rows = np.array([[3.0, 4.0], [np.nan, 0.2], [np.inf, 0.1], [0.0, 0.5]])
    kept = np.array([[0.6, 0.8], [0.0, 0.0], [0.0, 0.0], [0.0, 0.5]])
    mechanism = JohnsonLindenstrauss(2.0, 5, radius=1.0)
    found, expected = (
        mechanism.release(Records(values, 1, Neighbors.ADD_REMOVE), DeterministicBits(2)) for values in (rows, kept)
    )
    assert found == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("rows", [0, 1, 5000])
def test_releases_are_on_the_grid_of_the_rows_whatever_these_are(rows: int) -> None:
    records = Records(np.full((rows, 2), 0.3), 1, Neighbors.ADD_REMOVE)
    released = JohnsonLindenstrauss(2.0, 3, radius=1.0).release(records.stacked(2), DeterministicBits(3))
    assert released.shape == (2, 3, 2)
    assert (released * 2**19 == np.rint(released * 2**19)).all()


def test_another_relation_or_larger_units_than_were_paid_for_are_refused() -> None:
    values = np.zeros((2, 2))
    with pytest.raises(ParameterError, match="replace neighbors"):
        JohnsonLindenstrauss().release(Records(values, 1, Neighbors.REPLACE), DeterministicBits(0))
    with pytest.raises(ParameterError, match="units of 3"):
        JohnsonLindenstrauss(rows=2).release(Records(values, 3, Neighbors.ADD_REMOVE), DeterministicBits(0))
    assert JohnsonLindenstrauss(rows=2).release(Records(values, 1, Neighbors.ADD_REMOVE), DeterministicBits(0)).any()


@pytest.mark.parametrize(
    "field", [{"multiplier": 0.0}, {"projections": 0}, {"projections": 1.5}, {"radius": 0.0}, {"rows": 0}]
)
def test_numbers_without_meaning_are_refused(field: dict[str, float]) -> None:
    with pytest.raises(ParameterError, match="Nothing was released or spent"):
        JohnsonLindenstrauss(**field)  # type: ignore[arg-type]


@pytest.mark.parametrize(("fine", "cells"), SIZES)
def test_sums_of_the_longest_rows_are_exact_and_rounded_to_the_nearest(fine: int, cells: int) -> None:
    rng = np.random.default_rng(4)
    weights, most = GaussianWeights(fine, cells), int(math.ldexp(FARTHEST, fine))
    drawn = rng.integers(-most, most, size=(5, 4096), endpoint=True)
    drawn[0], drawn[1] = most, -most
    rows = rng.integers(-(2**cells), 2**cells, size=(4096, 3))
    rows[:, 0] = 2**cells
    exact = drawn.astype(object) @ rows.astype(object)
    totals = [(part @ rows.astype(np.float64)).astype(np.int64) for part in weights.parts(drawn)]
    for fewer in (1, max(1, fine - 12), fine):
        found = weights.rounded(totals, fewer).ravel().tolist()
        near = [(value + 2 ** (fewer - 1)) >> fewer for value in exact.ravel().tolist()]
        fits = [place for place, value in enumerate(near) if abs(value) < 2 ** (62 - weights.width)]
        assert [found[place] for place in fits] == [near[place] for place in fits]
    assert len(fits) == exact.size


@pytest.mark.parametrize(("fine", "cells"), SIZES)
def test_weights_beyond_sixteen_deviations_are_cut(fine: int, cells: int) -> None:
    weights, most = GaussianWeights(fine, cells), int(math.ldexp(FARTHEST, fine))

    def value(parts: list[Steps]) -> int:
        return sum(int(part[0]) << (weights.width * place) for place, part in enumerate(parts))

    for drawn, kept in ((most + 5, most), (-most - 5, -most), (most - 1, most - 1), (-1, -1)):
        assert value(weights.parts(np.array([drawn]))) == kept


def test_weights_are_standard_normal_and_fresh_for_every_row() -> None:
    rows = np.zeros((5000, 2))
    rows[0, 0] = rows[4999, 1] = 1000.0
    weights = GaussianWeights(31, 20)
    found = weights.rounded(weights.sums(rows, 4000, DeterministicBits(1)), 31) / 1000
    assert np.abs(found.mean(axis=0)).max() < 5 / math.sqrt(4000)
    assert found.std(axis=0) == pytest.approx([1.0, 1.0], abs=5 / math.sqrt(8000))
    assert abs(float((found[:, 0] * found[:, 1]).mean())) < 5 / math.sqrt(4000)
