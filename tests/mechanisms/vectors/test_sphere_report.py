"""Reports on the sphere: their price, their shape, their bound."""

from __future__ import annotations

import dataclasses
import itertools
import math

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.spatial.distance import pdist
from scipy.special import ndtr
from scipy.stats import norm

from discreet.accounting.accountant import epsilon, pure_epsilon
from discreet.core.answer import Answer, NeighborPair, whole_numbers
from discreet.core.bits import Bits
from discreet.core.bound import Bound, Norm
from discreet.core.errors import NotPermitted, ParameterError
from discreet.core.events import DiscreteLoss, LossTable, PureLoss, Repeated
from discreet.core.grid import Array, Grid
from discreet.core.neighbors import Neighbors
from discreet.mechanisms.selection.randomized_response import RandomizedResponse
from discreet.mechanisms.vectors.sphere_report import (
    LARGEST,
    ROUNDING,
    Ball,
    SphereReport,
    advantage,
    cap_for,
    promised,
)
from discreet.noise.cap import Cap, leaning_gaussian
from discreet.noise.deterministic import DeterministicBits
from tests.conformance.audits import Audit
from tests.mechanisms.trial import MechanismTrial


@dataclasses.dataclass(frozen=True)
class SmallerChance(SphereReport):
    """Draws outside the cap are kept two thirds as often as epsilon allows: it spends ln(1.5) more."""

    @property
    def cap(self) -> Cap:
        return dataclasses.replace(super().cap, chance=super().cap.chance / 1.5)


@dataclasses.dataclass(frozen=True)
class ForgetsToLift(SphereReport):
    """Contributions inside the ball are not brought to its surface: short ones have a smaller cap."""

    def release(self, answer: Answer, bits: Bits) -> Array:
        short = answer.grid.values(answer.steps) / answer.bound.radius
        return leaning_gaussian(bits, short.reshape(-1, answer.size), 2.0**20, self.cap).astype(np.float64)

    def worst_neighbors(self) -> NeighborPair:
        bound = Bound("l2", 2.0**20)
        return NeighborPair(*(whole_numbers([steps], bound, Neighbors.REPLACE) for steps in (2**19, -(2**20))))


def people(contributions: Array, bound: Bound) -> Answer:
    grid = Grid.of_radius(bound.radius)
    return Answer(grid.cut(contributions).astype(np.int64), grid, bound, Neighbors.REPLACE)


OPPOSITE = NeighborPair(
    *(whole_numbers([0, sign * 2**20, 0], Bound("l2", 2.0**20), Neighbors.REPLACE) for sign in (1, -1))
)
CORNERS = NeighborPair(
    *(
        whole_numbers(one, Bound("linf", 2.0**20, nonnegative=True), Neighbors.REPLACE)
        for one in ([0, 0], [2**20, 2**20])
    )
)
TRIAL = MechanismTrial(
    alone="what one person reports: no relation, unit or sum plays a part",
    twins=[SmallerChance(), ForgetsToLift()],
    audits=[
        Audit("a number", SphereReport(), SphereReport().worst_neighbors()),
        Audit("opposite vectors", SphereReport(1.5), OPPOSITE, view=lambda reports: reports[:, 1]),
        Audit("opposite corners", SphereReport(1.5), CORNERS, view=lambda reports: reports.sum(axis=1)),
    ],
)


@pytest.mark.parametrize("price", [2.0**-40, 1e-6, 0.1, 1.0, 4.0, 8.0, 40.0])
def test_the_price_is_epsilon(price: float) -> None:
    assert pure_epsilon(SphereReport(price).event) == pytest.approx(price, rel=1e-9)


def test_many_reports_cost_less_than_pure_ones() -> None:
    report, pure = (epsilon(Repeated(event, 100), 1e-6) for event in (SphereReport(2.0).event, PureLoss(2.0)))
    assert report < 0.9 * pure


def laws(stddev: float, dimension: int, cap: Cap) -> Array:
    """The probabilities of every grid point, for many directions: weights that are added up."""
    reach = int(9 * stddev)
    points = np.arange(-reach, reach + 1)
    masses = ndtr((points + 0.5) / stddev) - ndtr((points - 0.5) / stddev)
    all_points = np.array(list(itertools.product(points, repeat=dimension)))
    all_masses = np.prod(masses[all_points + reach], axis=-1)
    directions = np.random.default_rng(0).normal(size=(60, dimension))
    special = itertools.product([-1.0, 0.0, 1.0], repeat=dimension)
    directions = np.vstack([directions, [one for one in special if any(one)]])
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    inside = all_points @ directions.T >= cap.threshold * stddev
    weighed = np.where(inside, 1 - cap.chance, cap.chance) * all_masses[:, None]
    return (weighed / weighed.sum(axis=0))[all_masses > 0].T


def worst(probabilities: Array) -> tuple[float, float]:
    """The greatest loss, and the greatest total variation, between any two."""
    logs = np.log(probabilities)
    return float(np.ptp(logs, axis=0).max()), float(pdist(probabilities, "cityblock").max() / 2)


def test_no_two_contributions_differ_by_more_on_a_coarse_grid() -> None:
    """All probabilities, added up: rounding moves a draw by at most half the diagonal of a cell."""
    for price, (stddev, dimension) in itertools.product((0.3, 1.0, 4.0), ((1.0, 2), (3.0, 2), (1.0, 3))):
        rounding = math.sqrt(dimension) / (2 * stddev)
        cap = cap_for(price, rounding)
        loss, variation = worst(laws(stddev, dimension, cap))
        assert loss <= price
        assert variation <= advantage(cap, rounding)
        forgetful, _ = worst(laws(stddev, dimension, cap_for(price, 0.0)))
        assert forgetful > price


def test_all_rounding_together_is_within_what_the_cap_allows_for() -> None:
    """The terms of sphere_report.md, for the most coordinates: lengths, cells, the product in float64."""
    size, longest = LARGEST + 1, math.sqrt(LARGEST + 1) + 16
    lengths = (size + 8) * 2.0**-52 * longest
    cells = math.sqrt(size) / (2 * 2.0**28)
    product = size * 2.0**-53 * (longest + 1)
    assert 1.1 * (lengths + cells + product) < ROUNDING


@pytest.mark.parametrize("price", [0.1, 1.0, 3.0, 5.0])
def test_two_opposite_contributions_lose_what_the_event_says(price: float) -> None:
    """The continuous law: one cap, its opposite, and the space between them."""
    report = SphereReport(price)
    mass = norm.sf(report.cap.threshold)
    whole = 1 + math.expm1(price) * mass
    exact = LossTable(-1, (mass / whole, 1 - (math.exp(price) + 1) * mass / whole, math.exp(price) * mass / whole))
    np.testing.assert_allclose(report.event.remove.probabilities, exact.probabilities, atol=1e-4)
    assert report.event.remove.probabilities[2] >= exact.probabilities[2] * (1 - 1e-5)


@pytest.mark.parametrize("price", [0.05, 0.5, 1.0, 2.0, 4.0, 5.5])
def test_no_other_plane_has_less_error(price: float) -> None:
    """Asi, Feldman and Talwar's scale, f(t) (p / (1 - q) - (1 - p) / q) for cap mass 1 - q and odds p, maximised."""

    def scale(threshold: float) -> float:
        q = norm.cdf(threshold)
        p = 1 / (1 + math.exp(-price) * q / (1 - q))
        return float(norm.pdf(threshold) * (p / (1 - q) - (1 - p) / q))

    best = minimize_scalar(lambda threshold: -scale(threshold), bounds=(0.0, 6.0), method="bounded")
    assert SphereReport(price).stddev(Bound("l2", 1.0), 3, Neighbors.REPLACE) == pytest.approx(-1 / best.fun, rel=2e-5)


def test_reports_have_the_mean_and_the_deviation_they_say() -> None:
    """Five deviations of every mean; the covariance is that of noise, along the contribution and across it."""
    for price, size in itertools.product((0.5, 4.0), (1, 8, 64)):
        bound, runs = Bound("l2", 3.0), 400_000 // (size + 7)
        truth = np.full(size, 2.9 / math.sqrt(size))
        reports = SphereReport(price).release(people(np.tile(truth, (runs, 1)), bound), DeterministicBits(1))
        deviation = SphereReport(price).stddev(bound, size, Neighbors.REPLACE)
        np.testing.assert_allclose(reports.mean(axis=0), truth, atol=5 * deviation / math.sqrt(runs))
        np.testing.assert_allclose(reports.std(axis=0), deviation, rtol=5 / math.sqrt(runs))
        along = reports @ truth / np.linalg.norm(truth)
        assert along.std() == pytest.approx(deviation, rel=5 / math.sqrt(runs))


def test_a_large_epsilon_gives_no_more_deviation_than_it_says() -> None:
    bound = Bound("l2", 1.0)
    truth = np.tile([0.6, 0.8], (5_000, 1))
    reports = SphereReport(12.0).release(people(truth, bound), DeterministicBits(1))
    deviation = SphereReport(12.0).stddev(bound, 2, Neighbors.REPLACE)
    assert (reports @ [0.6, 0.8]).std() < 0.8 * deviation
    assert (reports @ [0.8, -0.6]).std() == pytest.approx(deviation, rel=0.05)
    np.testing.assert_allclose(reports.mean(axis=0), [0.6, 0.8], atol=5 * deviation / math.sqrt(5_000))


def test_the_ball_holds_the_bound_and_touches_it() -> None:
    norms: list[Norm] = ["l1", "l2", "linf"]
    for size, norm_, nonnegative in itertools.product((1, 2, 5), norms, (False, True)):
        bound = Bound(norm_, 2.0, nonnegative)
        corners = np.array(list(itertools.product([-2.0, 0.0, 2.0], repeat=size)))
        rows = bound.clip(np.vstack([corners, np.random.default_rng(0).normal(0, 2, (2000, size))]))
        ball = Ball.around(bound, size)
        distances = np.linalg.norm(rows - ball.center, axis=1)
        assert distances.max() == pytest.approx(ball.radius, rel=1e-9)


@pytest.mark.parametrize("bound", [Bound("linf", 2.0, nonnegative=True), Bound("l1", 1.0, nonnegative=True)])
def test_contributions_of_any_bound_are_reported_without_bias(bound: Bound) -> None:
    truth = bound.clip(np.tile([1.0, 0.0, 0.25], (40_000, 1)))
    reports = SphereReport(2.0).release(people(truth, bound), DeterministicBits(1))
    deviation = SphereReport(2.0).stddev(bound, 3, Neighbors.REPLACE)
    np.testing.assert_allclose(reports.mean(axis=0), truth[0], atol=5 * deviation / 200)
    np.testing.assert_allclose(reports.std(axis=0), deviation, rtol=5 / 200)


def test_what_is_outside_its_bound_is_moved_into_it() -> None:
    inside, outside = (people(np.tile([size, 0.0], (2000, 1)), Bound("l2", 1.0)) for size in (1.0, 2.0**30))
    first, second = (SphereReport().release(one, DeterministicBits(1)) for one in (inside, outside))
    assert (first == second).mean() > 0.99


def test_reports_are_on_the_grid_of_the_answer() -> None:
    one = whole_numbers([1, 0], Bound("l2", 1.0), Neighbors.REPLACE).stacked(20_000)
    reports = SphereReport(0.5).release(one, DeterministicBits(1))
    assert (reports == np.rint(reports)).all()
    np.testing.assert_allclose(reports.mean(axis=0), [1, 0], atol=5 * 5.1 / math.sqrt(20_000))


def test_no_people_make_no_reports() -> None:
    assert SphereReport().release(people(np.empty((0, 3)), Bound("l2", 1.0)), DeterministicBits(1)).shape == (0, 3)
    assert SphereReport().release(people(np.empty((4, 0)), Bound("linf", 1.0)), DeterministicBits(1)).shape == (4, 0)


def test_its_promise_can_be_told_from_others() -> None:
    assert promised(SphereReport(0.37).event)
    assert not promised(RandomizedResponse(0.37).event)
    assert not promised(PureLoss(0.37))
    assert not promised(DiscreteLoss(1000.0, LossTable(0, (1.0,)), LossTable(0, (1.0,))))


def test_a_sum_that_people_join_is_refused() -> None:
    with pytest.raises(NotPermitted, match="Ask under local trust"):
        SphereReport().release(whole_numbers([1], Bound("l2", 1.0)), DeterministicBits(1))


def test_too_many_coordinates_are_refused() -> None:
    one = np.broadcast_to(np.int64(0), LARGEST + 1)
    with pytest.raises(ParameterError, match=f"at most {LARGEST}"):
        SphereReport().release(Answer(one, Grid(0), Bound("l2", 1.0), Neighbors.REPLACE), DeterministicBits(1))


@pytest.mark.parametrize("price", [0.0, -1.0, math.inf, math.nan, 701.0, "1"])
def test_an_epsilon_without_meaning_is_refused(price: float) -> None:
    with pytest.raises(ParameterError, match="Nothing was released or spent"):
        SphereReport(price)
