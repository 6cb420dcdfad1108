"""The cover of a loss by a Gaussian one: no delta is above it, its slacks add up, and it is nearly the least."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from discreet.accounting.accountant import delta as delta_of
from discreet.accounting.closed_forms import gaussian_delta
from discreet.accounting.filters.amount import DELTA_UNITS, LOSS_UNITS, NOTHING
from discreet.accounting.filters.gaussian_cover import covering_room, covers
from discreet.accounting.filters.gaussian_filter import ASIDE, GaussianFilter
from discreet.accounting.jumps import CompositionWithJumps
from discreet.accounting.loss_distribution import (
    ACCURACY,
    FEW,
    ROUGH,
    SEEN,
    DeltaCurve,
    _fitted,
    curve_above,
    delta_above,
)
from discreet.accounting.pairs.directions import directions
from discreet.accounting.tilted_frame import AtDelta
from discreet.core.events import ApproximateLoss, ConcentratedLoss, Event, GaussianLoss, PureLoss, Repeated, Sampled

STEPS = Sampled(GaussianLoss(1.0), 0.05)
TRAINING = Repeated(STEPS, 40)
FIXED = Sampled(GaussianLoss(2.0), 0.1, "fixed_size")
WHOLE, SLACK = 0.5, 1e-7


def excess(event: Event, room: float, slack: float) -> float:
    """The most by which delta exceeds that of G(room) and the slack, as a share of the slack."""
    points = np.linspace(0.0, 4.0, 9).tolist()
    return max(delta_of(event, t) - gaussian_delta(room**-0.5, t) - slack for t in points) / slack


def test_a_covering_room_is_above_delta_everywhere_and_nearly_the_least() -> None:
    for event, least in ((TRAINING, 0.9), (STEPS, 0.8), (FIXED, 0.3)):
        room = covering_room(event, WHOLE, SLACK)
        assert room is not None
        assert excess(event, room, SLACK * room / WHOLE) <= 1e-6
        assert excess(event, least * room, SLACK * least * room / WHOLE) > 0


def test_a_cover_covers_both_directions() -> None:
    """A sample with pure noise loses more where the unit is removed, at large epsilon, than where it is added."""
    event = Repeated(Sampled(PureLoss(3.0), 0.05), 3)
    room = covering_room(event, WHOLE, SLACK)
    assert room is not None
    for direction in directions(event):
        for t in (0.0, 0.05, 0.2, 0.5, 1.0, 2.0):
            most = gaussian_delta(room**-0.5, t) + SLACK * room / WHOLE
            assert delta_above([direction], t) <= most * (1 + 1e-9)


def test_the_curve_bounds_delta_at_every_point() -> None:
    for direction in directions(TRAINING):
        curve = curve_above(direction, 1e-8)
        assert curve is not None
        assert curve.deltas[-1] <= 1.01e-8
        for index in (0, 100, 300, 599):
            exact = delta_above([direction], float(curve.losses[index]))
            assert exact * (1 - 1e-3) <= curve.deltas[index] <= 1.05 * exact


def test_a_curve_is_what_its_points_are_one_by_one() -> None:
    """With jumps and without, as a sample at a tiny rate says nothing or jumps; never below, but for the last bits."""
    with_jumps = set()
    for event in (TRAINING, Repeated(Sampled(GaussianLoss(1.0), 1e-9), 1000)):
        for direction in directions(event):
            curve = curve_above(direction, 1e-10)
            assert curve is not None
            some, aims = np.arange(0, len(curve.losses), 20), np.geomspace(1e-10, *SEEN).tolist()
            fits = [_fitted(direction, AtDelta(delta), ROUGH * ACCURACY, FEW).composition for delta in aims]
            with_jumps |= {isinstance(fit, CompositionWithJumps) for fit in fits}
            apart = [min(fit.log_delta_above(loss) for fit in fits) for loss in curve.losses[some].tolist()]
            np.testing.assert_allclose(np.log(curve.deltas[some]), apart, rtol=1e-6, atol=1e-9)
            assert (np.log(curve.deltas[some]) >= np.array(apart) - 1e-12).all()
    assert with_jumps == {True, False}


def test_what_is_left_beyond_the_end_of_a_curve_must_be_within_the_slack() -> None:
    curve = DeltaCurve(np.array([0.0, 1.0]), np.array([0.01, 1e-6]))
    assert covers(1.0, 1.1e-6, curve)
    assert not covers(1.0, 0.9e-6, curve)


def test_losses_whose_exponentials_overflow_are_covered_by_slack_alone() -> None:
    losses = np.array([0.0, 1.0, 800.0, 2000.0])
    assert covers(1.0, 1e-6, DeltaCurve(losses, np.array([0.01, 0.9e-6, 0.9e-6, 0.9e-6])))
    assert not covers(1.0, 1e-6, DeltaCurve(losses, np.array([0.01, 1.1e-6, 0.9e-6, 0.9e-6])))


def test_nothing_covers_a_loss_without_a_distribution_or_with_failures_above_the_slack() -> None:
    assert covering_room(ConcentratedLoss(0.1), WHOLE, SLACK) is None
    assert covering_room(Repeated(Sampled(ApproximateLoss(0.1, 1e-3), 0.1), 2), WHOLE, SLACK) is None
    assert covering_room(TRAINING, WHOLE, 0.0) is None
    assert covering_room(TRAINING, 0.0, SLACK) is None


def test_charges_that_fill_the_room_keep_the_share_and_are_nearly_as_many_as_could_be() -> None:
    rule = GaussianFilter.of(4.0, Fraction(1e-6), Fraction(0))
    spent, times, step = NOTHING, 0, Sampled(GaussianLoss(2.0), 0.05)
    while (price := rule.price(Repeated(step, 100), spent)) and (spent + price).within(rule.cap):
        spent, times = spent + price, times + 1
    assert times >= 3
    assert delta_of(Repeated(step, 100 * times), 4.0) <= 1e-6
    assert delta_of(Repeated(step, 150 * times), 4.0) > 1e-6


def test_the_slacks_come_out_of_the_share() -> None:
    rule = GaussianFilter.of(4.0, Fraction(1e-6), Fraction(0))
    room = rule.cap.loss / LOSS_UNITS
    kept = rule.share / DELTA_UNITS * (1 - 1 / ASIDE)
    assert delta_of(GaussianLoss(room**-0.5), 4.0) <= kept * (1 + 1e-9)
