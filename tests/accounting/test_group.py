from __future__ import annotations

import math

import numpy as np
import pytest

from discreet.accounting.group import group
from discreet.core.errors import ParameterError, Unaccountable
from discreet.core.events import (
    ApproximateLoss,
    Composed,
    ConcentratedLoss,
    Event,
    GaussianLoss,
    LaplaceLoss,
    NoPromise,
    Parallel,
    PureLoss,
    RenyiLoss,
    Repeated,
    Sampled,
)


@pytest.mark.parametrize(
    ("event", "grown"),
    [
        (PureLoss(0.5), PureLoss(1.5)),
        (LaplaceLoss(6.0), LaplaceLoss(2.0)),
        (GaussianLoss(6.0), GaussianLoss(2.0)),
        (ConcentratedLoss(0.1), ConcentratedLoss(0.9)),
        (Repeated(PureLoss(0.5), 4), Repeated(PureLoss(1.5), 4)),
        (Composed((PureLoss(0.5), LaplaceLoss(3.0))), Composed((PureLoss(1.5), LaplaceLoss(1.0)))),
        (Parallel((PureLoss(0.5), PureLoss(0.2))), PureLoss(1.5)),
    ],
)
def test_three_units_cost_by_their_currency(event: Event, grown: Event) -> None:
    found = group(event, 3)
    assert repr(found)[:12] == repr(grown)[:12]
    if isinstance(found, ConcentratedLoss) and isinstance(grown, ConcentratedLoss):
        assert found.rho == pytest.approx(grown.rho)
    else:
        assert found == grown


def test_an_approximate_promise_grows_by_the_chain_of_hops() -> None:
    """P1 <= e^eps P2 + delta, thrice: e^(3 eps) P4 + delta (1 + e^eps + e^(2 eps))."""
    found = group(ApproximateLoss(0.2, 1e-6), 3)
    assert isinstance(found, ApproximateLoss)
    assert found.epsilon == pytest.approx(0.6)
    assert found.delta >= 1e-6 * math.expm1(0.6) / math.expm1(0.2) * (1 - 1e-12)
    assert found.delta == pytest.approx(1e-6 * math.expm1(0.6) / math.expm1(0.2), rel=1e-12)
    certain = group(ApproximateLoss(0.0, 1e-6), 5)
    assert isinstance(certain, ApproximateLoss)
    assert certain.delta == pytest.approx(5e-6)


def test_laplace_trade_offs_iterate_to_the_longer_shift() -> None:
    """1 - f(1 - f(a)) for one shift of Laplace noise is the trade-off of two shifts."""

    def power(level: np.ndarray, shift: float) -> np.ndarray:
        at = np.where(level < 0.5, -np.log(2 * level), np.log(2 * (1 - level))) - shift
        return np.where(at > 0, np.exp(-np.abs(at)) / 2, 1 - np.exp(-np.abs(at)) / 2)

    levels = np.linspace(0.01, 0.99, 99)
    assert power(power(levels, 0.7), 0.7) == pytest.approx(power(levels, 1.4))


def test_a_group_of_one_changes_nothing() -> None:
    for event in (Sampled(GaussianLoss(1.0), 0.1), RenyiLoss((2.0,), (1.0,)), PureLoss(0.3)):
        assert group(event, 1) == event


@pytest.mark.parametrize(
    "event", [Sampled(GaussianLoss(1.0), 0.1), RenyiLoss((2.0,), (1.0,)), Parallel((PureLoss(0.5), GaussianLoss(2.0)))]
)
def test_currencies_without_a_rule_are_refused_by_name(event: Event) -> None:
    with pytest.raises(Unaccountable, match="no rule for groups"):
        group(Composed((PureLoss(0.1), event)), 2)


def test_a_release_without_a_promise_and_a_group_of_none_are_refused() -> None:
    with pytest.raises(Unaccountable):
        group(NoPromise("swapping"), 2)
    with pytest.raises(ParameterError, match="size"):
        group(PureLoss(1.0), 0)
