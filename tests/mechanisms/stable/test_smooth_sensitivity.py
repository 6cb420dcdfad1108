"""Smooth sensitivity: the price, the divergences it is made of, the noise, what stays secret, where twins break."""

from __future__ import annotations

import dataclasses
import itertools
import math

import numpy as np
import pytest
from mpmath import mp, mpf  # type: ignore[import-untyped]
from scipy import stats
from scipy.optimize import brentq, minimize_scalar

from discreet.core.answer import NeighborPair, Records
from discreet.core.bits import Bits
from discreet.core.errors import ParameterError
from discreet.core.events import ApproximateLoss, GaussianLoss, LaplaceLoss, PureLoss
from discreet.core.grid import Array
from discreet.core.neighbors import Neighbors
from discreet.mechanisms.ranks.rank_grid import OrderStatistic
from discreet.mechanisms.stable.smooth_sensitivity import (
    SmoothGaussian,
    SmoothLaplace,
    SmoothSensitivity,
    SmoothStudent,
    gaussian_shifted,
    gaussian_shrunk,
    greatest,
    laplace_shrunk,
)
from discreet.noise.deterministic import DeterministicBits
from tests.conformance.audits import Audit, tripled
from tests.mechanisms.trial import MechanismTrial

KINDS: list[type[SmoothSensitivity]] = [SmoothStudent, SmoothLaplace, SmoothGaussian]


def records(values: list[float] | np.ndarray, neighbors: Neighbors = Neighbors.ADD_REMOVE, rows: int = 1) -> Records:
    return Records(np.asarray(values, dtype=np.float64).reshape(-1, 1), rows, neighbors)


def on_the_brink() -> NeighborPair:
    """The median stays, but one more row makes it ready to jump across the gap."""
    low, high = [256.0] * 6, [768.0]
    return NeighborPair(records(low + 4 * high), records(low + 5 * high))


@dataclasses.dataclass(frozen=True)
class GaussianOfLocalSensitivity(SmoothGaussian):
    """Noise for what one row can do here, whatever it can do one row away."""

    def bound(self, found: OrderStatistic, rows: int) -> float:
        return found.smooth_bound(60.0)

    def worst_neighbors(self) -> NeighborPair:
        return on_the_brink()


@dataclasses.dataclass(frozen=True)
class LaplaceOfLocalSensitivity(SmoothLaplace):
    """Noise for what one row can do here, whatever it can do one row away."""

    def bound(self, found: OrderStatistic, rows: int) -> float:
        return found.smooth_bound(60.0)

    def worst_neighbors(self) -> NeighborPair:
        return on_the_brink()


@dataclasses.dataclass(frozen=True)
class BetaOfAnotherNoise(SmoothStudent):
    """A bound that changes faster than this noise can hide."""

    def bound(self, found: OrderStatistic, rows: int) -> float:
        return found.smooth_bound(2 * self.epsilon)

    def worst_neighbors(self) -> NeighborPair:
        return on_the_brink()


@dataclasses.dataclass(frozen=True)
class PublishesTheBound(SmoothStudent):
    """The noise scale beside the release."""

    def release(self, answer: Records, bits: Bits) -> Array:
        cells = np.sort(answer.values[:, 0]).astype(np.int64)
        scale = self.bound(OrderStatistic(cells, self.q, self.cells), 1)
        noisy = super().release(answer, bits)
        return np.stack([noisy, np.full_like(noisy, round(scale))], axis=-1)

    def worst_neighbors(self) -> NeighborPair:
        return on_the_brink()


def slide(epsilon: float, delta: float) -> float:
    """How far Gaussian noise may be moved, in deviations, at the price of half of epsilon and of what delta leaves."""

    def excess(mu: float) -> float:
        near, far = stats.norm.sf([epsilon / 2 / mu - mu / 2, epsilon / 2 / mu + mu / 2])
        return float(near - math.exp(epsilon / 2) * far) - delta / 2 * math.exp(-epsilon / 2)

    return float(brentq(excess, 1e-3, epsilon))


def three_rows_lose(epsilon: float, degrees: int) -> float:
    """What Student's noise loses where a jump is one row away, and three rows bring it about.

    The smooth bound of one row is the jump times exp(-beta / 3), that of the next one exp(beta / 3) times as much.
    """
    bounds = sum(math.exp(epsilon / (2 * degrees) * (i - 1) / 3) for i in range(3))
    move = 2 * math.sqrt(degrees) * math.sinh(epsilon / 2 / (degrees + 1)) / bounds
    return (degrees + 1) * math.asinh(move / (2 * math.sqrt(degrees)))


MOVED = NeighborPair(records(60 * [256.0] + 60 * [768.0]), records(60 * [256.0] + 61 * [768.0]))

REPLACED = NeighborPair(*(records((61 - i) * [256.0] + (60 + i) * [768.0], Neighbors.REPLACE) for i in (0, 1)))

SHRUNK = NeighborPair(records(3 * [0.0]), records(4 * [0.0]))  # the least value stays, the bound falls by exp(beta)
TRIAL = MechanismTrial(
    twins=[GaussianOfLocalSensitivity(), LaplaceOfLocalSensitivity(), BetaOfAnotherNoise(), PublishesTheBound()],
    audits=[
        *(
            Audit(f"the quantile moves{name}", mechanism, pair, claim=claim)
            for name, pair in (("", MOVED), (", a row is replaced", REPLACED))
            for mechanism, claim in (
                (SmoothStudent(2.0), PureLoss(1.0)),
                (SmoothLaplace(2.0, delta=1e-3), LaplaceLoss(1.0)),
                (SmoothGaussian(2.0, delta=0.05), GaussianLoss(1 / slide(2.0, 0.05))),
            )
        ),
        Audit("the bound shrinks", SmoothStudent(2.0, 0.0, 0.0, 2.0**24, 2**24, degrees=1), SHRUNK, PureLoss(1.0)),
        Audit("three rows for one jump", SmoothStudent(6.0), tripled(REPLACED), PureLoss(three_rows_lose(6.0, 3))),
    ],
)


def test_the_price_is_pure_for_heavy_tails_and_has_a_delta_for_light_ones() -> None:
    assert SmoothStudent(0.5).event == PureLoss(0.5)
    assert SmoothLaplace(0.5, delta=1e-7).event == ApproximateLoss(0.5, 1e-7)
    assert SmoothGaussian(0.5, delta=1e-7).event == ApproximateLoss(0.5, 1e-7)


@pytest.mark.parametrize("degrees", [1, 3, 7])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 5.0])
def test_student_s_noise_moved_and_shrunk_loses_no_more_than_epsilon(degrees: int, epsilon: float) -> None:
    """The worst loss over all places, by search."""
    mechanism = SmoothStudent(epsilon, degrees=degrees)

    def logpdf(z: float) -> float:
        """Of Student's law, up to a constant."""
        return -(degrees + 1) / 2 * math.log1p(z * z / degrees)

    def loss(z: float, move: float, shrink: float) -> float:
        return logpdf(z) - (logpdf((z - move) * math.exp(shrink)) + shrink)

    worst = max(
        -minimize_scalar(lambda z: -loss(z, move, shrink), bounds=ends, method="bounded").fun  # noqa: B023
        for move in (-mechanism.slide, 0.0, mechanism.slide)
        for shrink in (-mechanism.beta, 0.0, mechanism.beta)
        for ends in ((-1e3, 0.0), (0.0, 1e3), (-10, 0.0), (0, 10.0))
    )
    assert worst <= epsilon
    alone = -minimize_scalar(lambda z: -loss(z, mechanism.slide, 0.0), bounds=(-20, 20), method="bounded").fun
    assert alone == pytest.approx(epsilon / 2, rel=1e-3)


def test_slide_and_beta_use_what_the_price_allows_and_no_more() -> None:
    for epsilon, delta in itertools.product((0.1, 1.0, 4.0), (1e-9, 1e-6, 1e-3)):
        laplace, gaussian = SmoothLaplace(epsilon, delta=delta), SmoothGaussian(epsilon, delta=delta)
        assert 0.999 * delta < laplace_shrunk(laplace.beta, epsilon / 2) <= delta
        together = gaussian_shrunk(gaussian.beta, epsilon / 2) + math.exp(epsilon / 2) * gaussian_shifted(
            gaussian.slide, epsilon / 2
        )
        assert 0.999 * delta < together <= delta


@pytest.mark.parametrize("kind", KINDS)
def test_the_noise_is_in_proportion_to_the_smooth_bound(kind: type[SmoothSensitivity]) -> None:
    values, mechanism = np.arange(0, 4097, 4), kind(2.0, cells=4096, upper=4096.0)
    scale = mechanism.bound(OrderStatistic(values, 0.5, 4096), 1) / mechanism.slide
    found = mechanism.release(records(values).stacked(20_000), DeterministicBits(1)) - 2048
    unit = {SmoothStudent: stats.t(3), SmoothLaplace: stats.laplace(), SmoothGaussian: stats.norm()}[kind]
    for share in (0.25, 0.6, 0.75):
        assert np.quantile(found, share) == pytest.approx(scale * unit.ppf(share), abs=0.05 * scale + 1)


@pytest.mark.parametrize("kind", KINDS)
def test_a_person_of_several_rows_gets_noise_for_all_of_them(kind: type[SmoothSensitivity]) -> None:
    """At least so many times the noise, and more since the bound must change more slowly."""
    found, mechanism = OrderStatistic(np.arange(0, 1000), 0.5, 1000), kind(2.0)
    assert mechanism.bound(found, 3) > 3 * mechanism.bound(found, 1)
    assert mechanism.bound(found, 3) == pytest.approx(
        found.smooth_bound(mechanism.beta / 3) * sum(math.exp(mechanism.beta * i / 3) for i in range(3))
    )


def test_hardly_any_data_have_a_release_within_bounds() -> None:
    for values, kind in itertools.product(([], [math.nan], [512.0], [2.0, 4.0]), KINDS):
        found = kind().release(records(values).stacked(200), DeterministicBits(1))
        assert found.shape == (200,)
        assert (found >= 0).all()
        assert (found <= 1024).all()


def test_parameters_without_meaning_are_refused() -> None:
    for fields, kind in itertools.product(
        ({"q": 1.5}, {"lower": 2000.0}, {"epsilon": 0.0}, {"epsilon": 1e6}, {"cells": 2.5}, {"q": math.nan}),
        KINDS,
    ):
        with pytest.raises(ParameterError):
            kind(**fields)  # type: ignore[arg-type]


@pytest.mark.parametrize("wrong", [lambda: SmoothLaplace(delta=0.0), lambda: SmoothStudent(degrees=0)])
def test_noise_that_does_not_exist_is_refused(wrong: object) -> None:
    with pytest.raises(ParameterError):
        wrong()  # type: ignore[operator]


def test_too_fine_a_grid_is_refused_whatever_the_data_are() -> None:
    for values in ([], [1.0] * 100):
        with pytest.raises(ParameterError, match="too fine"):
            SmoothGaussian(1e-3, cells=2**50).release(records(values), DeterministicBits(1))


def laplace(z: mpf, scale: mpf) -> mpf:
    return mp.exp(-z / scale) / scale / 2


def gaussian(z: mpf, scale: mpf) -> mpf:
    return mp.npdf(z, 0, scale)


def test_the_deltas_of_shrunk_noise_are_those_of_an_integral() -> None:
    mp.dps = 30
    for beta, epsilon in itertools.product((0.01, 0.04, 0.3), (0.05, 0.5, 2.0)):
        grown, shrunk = mpf(math.e) ** epsilon, mp.exp(-mpf(beta))
        for density, formula, edge in (
            (laplace, laplace_shrunk, (epsilon + beta) / math.expm1(beta)),
            (gaussian, gaussian_shrunk, math.sqrt(2 * (epsilon + beta) / math.expm1(2 * beta))),
        ):
            exact = 2 * mp.quad(
                lambda z, p=density, grown=grown, shrunk=shrunk: p(z, mpf(1)) - grown * p(z, shrunk),
                [edge, edge + 0.5, edge + 2, edge + 10, edge + 80],
            )
            assert formula(beta, epsilon) == pytest.approx(float(exact), rel=1e-4, abs=1e-30)


@pytest.mark.parametrize("epsilon", [0.05, 0.5, 2.0])
def test_the_delta_of_shifted_gaussian_noise_is_the_analytic_one(epsilon: float) -> None:
    mp.dps = 30
    for slide in (0.05, 0.2, 1.0):
        exact = mp.ncdf(slide / 2 - epsilon / slide) - mp.exp(epsilon) * mp.ncdf(-slide / 2 - epsilon / slide)
        assert gaussian_shifted(slide, epsilon) == pytest.approx(float(exact), rel=1e-9)


def test_the_greatest_argument_keeps_its_delta_and_is_hardly_smaller_than_it_could_be() -> None:
    for delta_at, epsilon in itertools.product(
        (laplace_shrunk, gaussian_shrunk, gaussian_shifted), (1e-6, 0.1, 1.0, 30.0)
    ):
        found = greatest(delta_at, epsilon, 1e-6)
        assert 0 < found <= epsilon
        assert delta_at(found, epsilon) <= 1e-6
        assert found > epsilon * 0.99 or delta_at(found * (1 + 1e-4), epsilon) > 1e-6
