"""The Gaussian filter against exact profiles: prices dominate, rooms keep the share."""

from __future__ import annotations

import math
import random
from fractions import Fraction

import numpy as np
import pytest
from scipy.special import log_ndtr, ndtr
from scipy.stats import norm

from discreet.accounting.accountant import delta as delta_of
from discreet.accounting.filters.amount import DELTA_UNITS, LOSS_UNITS, NOTHING, Amount
from discreet.accounting.filters.gaussian_filter import ASIDE, GaussianFilter, distance, gaussian_price, price_beside
from discreet.core.errors import ParameterError
from discreet.core.events import (
    ApproximateLoss,
    Composed,
    ConcentratedLoss,
    Event,
    GaussianLoss,
    LaplaceLoss,
    Parallel,
    PureLoss,
    Repeated,
    Sampled,
)

TRAINING = Repeated(Sampled(GaussianLoss(1.0), 0.01), 300)


def profile(square: float, t: np.ndarray) -> np.ndarray:
    """Delta of a Gaussian release: Balle and Wang 2018, Theorem 8, for every real t."""
    if square == 0:
        return np.maximum(0.0, -np.expm1(np.minimum(t, 0.0)))
    mu = math.sqrt(square)
    return np.asarray(ndtr(mu / 2 - t / mu) - np.exp(t + log_ndtr(-mu / 2 - t / mu)))


def with_response(epsilon: float, square: float, t: np.ndarray) -> np.ndarray:
    """Delta of randomized response together with a Gaussian release."""
    p = 1 / (1 + math.exp(-epsilon))
    return p * profile(square, t - epsilon) + (1 - p) * profile(square, t + epsilon)


def worst(epsilon: float, rest: float, whole: float) -> float:
    """The most by which randomized response and G(rest) exceed G(whole), over all t."""
    reach = epsilon + 8 * math.sqrt(whole) + whole
    t = np.linspace(-reach, reach, 4001)
    return float((with_response(epsilon, rest, t) - profile(whole, t)).max())


def loss(price: Amount | None) -> float:
    assert price is not None
    return price.loss / LOSS_UNITS


@pytest.mark.parametrize("epsilon", [0.01, 0.1, 0.7, 2.0, 6.0])
@pytest.mark.parametrize("rest", [0.0, 1e-4, 1e-2, 0.3, 4.0])
def test_the_total_variation_distance_decides_and_the_price_is_the_least(epsilon: float, rest: float) -> None:
    price = price_beside(epsilon, rest)
    assert worst(epsilon, rest, rest + price) <= 1e-14
    if price > 1e-9:
        assert worst(epsilon, rest, rest + 0.99 * price) > 1e-13
    t = np.array([0.0])
    assert distance(epsilon, rest) == pytest.approx(with_response(epsilon, rest, t)[0], rel=1e-12)


def test_the_last_loss_costs_its_dominating_gaussian_and_an_early_one_its_square() -> None:
    for epsilon in (0.01, 0.1, 1.0, 5.0):
        mu = -2 * norm.ppf(1 / (1 + math.exp(epsilon)))
        assert price_beside(epsilon, 0.0) == pytest.approx(mu**2, rel=1e-9)
        assert price_beside(epsilon, epsilon**2) < 1.2 * epsilon**2
        assert price_beside(epsilon, 16 * epsilon**2) < 1.02 * epsilon**2


def test_a_charge_and_what_it_leaves_are_no_worse_than_the_room() -> None:
    for room in (1e-4, 0.05, 0.4):
        for epsilon in (0.01, 0.05, 0.1):
            taken = loss(gaussian_price(PureLoss(epsilon), room))
            if taken <= room:
                assert worst(epsilon, room - taken, room) <= 1e-14
                assert worst(epsilon, (room - taken) * 1.02 + 1e-6, room) > 0


def test_many_losses_at_once_cost_about_what_they_cost_one_by_one() -> None:
    for times, epsilon in ((2, 0.05), (7, 0.03), (7, 0.07), (9, 0.06), (40, 0.01), (1000, 0.002)):
        room = 0.05
        left = room
        for _ in range(times):
            left -= loss(gaussian_price(PureLoss(epsilon), left))
        together = loss(gaussian_price(Repeated(PureLoss(epsilon), times), room))
        assert room - left <= together * (1 + 1e-6)
        assert together <= 1.1 * (room - left)


def test_gaussian_noise_costs_its_square_exactly() -> None:
    assert gaussian_price(GaussianLoss(8.0), 0.0) == Amount(LOSS_UNITS // 64, 0)
    assert loss(gaussian_price(Repeated(GaussianLoss(10.0), 7), 0.1)) == pytest.approx(0.07, rel=1e-12)


def test_failures_are_charged_apart_and_parallel_parts_by_the_dearest() -> None:
    approximate = gaussian_price(Repeated(ApproximateLoss(0.1, 1e-8), 3), 1.0)
    assert approximate is not None
    assert approximate.delta == math.ceil(3 * Fraction(1e-8) * DELTA_UNITS)
    assert approximate.loss == pytest.approx(loss(gaussian_price(Repeated(PureLoss(0.1), 3), 1.0)) * LOSS_UNITS)
    parts = Parallel((GaussianLoss(2.0), PureLoss(0.1)))
    assert loss(gaussian_price(parts, 1.0)) == pytest.approx(0.25)
    assert loss(gaussian_price(Repeated(parts, 3), 1.0)) == pytest.approx(0.75)


@pytest.mark.parametrize(
    "event", [ConcentratedLoss(0.1), TRAINING, PureLoss(30.0), Parallel((TRAINING, PureLoss(0.1)))]
)
def test_without_anything_put_aside_what_is_neither_bounded_nor_gaussian_has_no_price(event: Event) -> None:
    assert gaussian_price(event, 1.0) is None


def test_the_whole_room_keeps_the_share_and_hardly_more_does_not() -> None:
    for epsilon, share in ((0.5, 1e-6), (1.0, 1e-9), (8.0, 1e-5), (1e-4, 1e-30)):
        rule = GaussianFilter.of(epsilon, Fraction(share), Fraction(0))
        whole = rule.cap.loss / LOSS_UNITS
        kept = share * (1 - 1 / ASIDE)
        assert delta_of(GaussianLoss(whole**-0.5), epsilon) <= kept * (1 + 1e-8)
        assert delta_of(GaussianLoss((1.0001 * whole) ** -0.5), epsilon) > kept
        assert rule.sound
        assert not GaussianFilter(epsilon, rule.share, None, Amount(rule.cap.loss * 1001 // 1000, 0)).sound


@pytest.mark.parametrize("first", [TRAINING, Repeated(LaplaceLoss(2.0), 3), PureLoss(0.9), ConcentratedLoss(0.01)])
def test_the_room_beside_a_first_plan_keeps_the_share_with_it(first: Event) -> None:
    rule = GaussianFilter.of(2.0, Fraction(1e-6), Fraction(0), first)
    room = rule.cap.loss / LOSS_UNITS
    assert room > 0
    assert delta_of(Composed((first, GaussianLoss(room**-0.5))), 2.0) <= 1e-6
    assert delta_of(Composed((first, GaussianLoss((1.1 * room) ** -0.5))), 2.0) > 0.9e-6
    assert rule.sound
    assert not GaussianFilter(2.0, rule.share, first, Amount(rule.cap.loss * 6 // 5, 0)).sound
    assert rule.opening(first) == NOTHING
    with pytest.raises(ParameterError, match="needs delta"):
        GaussianFilter.of(0.1, Fraction(1e-12), Fraction(0), first)


def test_a_first_plan_of_the_whole_share_leaves_no_room() -> None:
    needed = delta_of(TRAINING, 1.5)
    rule = GaussianFilter.of(1.5, Fraction(needed), Fraction(0), TRAINING)
    assert rule.cap == NOTHING
    price = rule.price(PureLoss(1e-6), NOTHING)
    assert price is not None
    assert not price.within(rule.cap)


def test_certified_and_used_go_from_nothing_to_the_budget() -> None:
    rule = GaussianFilter.of(1.0, Fraction(1e-6), Fraction(0))
    assert rule.certified(NOTHING) == 0.0
    assert rule.used(NOTHING) == pytest.approx(0.0, abs=1e-9)
    assert rule.certified(rule.cap) == pytest.approx(1.0, rel=1e-6)
    assert rule.certified(rule.cap) <= 1.0
    assert rule.used(rule.cap) == pytest.approx(1.0)
    assert rule.certified(rule.cap + rule.cap) > 1.3


def test_one_kind_of_noise_costs_to_the_unit_what_fractions_say() -> None:
    """Charges of one kind are priced with whole numbers: as of several kinds, of which all but one cost nothing."""
    draw = random.Random(5)
    for _ in range(300):
        size, room = 10 ** draw.uniform(-7, 1), draw.choice([10 ** draw.uniform(-8, 3), draw.uniform(0, 20), 0.0])
        for event in (PureLoss(size), LaplaceLoss(1 / size), GaussianLoss(1 / size), Repeated(PureLoss(size), 7)):
            mixed = Composed((event, ApproximateLoss(0.0, 1e-9)))
            alone, beside = gaussian_price(event, room), gaussian_price(mixed, room)
            assert alone is not None
            assert beside is not None
            assert alone.loss == beside.loss
            if isinstance(event, GaussianLoss):
                assert Fraction(alone.loss, LOSS_UNITS) >= 1 / Fraction(event.multiplier) ** 2
                assert Fraction(alone.loss - 1, LOSS_UNITS) < 1 / Fraction(event.multiplier) ** 2
