"""A receipt can be read by people."""

from __future__ import annotations

import math

import pytest

from discreet.core.events import (
    KINDS,
    ApproximateLoss,
    Composed,
    ConcentratedLoss,
    DiscreteLoss,
    Event,
    GaussianLoss,
    LaplaceLoss,
    LossTable,
    NoPromise,
    Parallel,
    PureLoss,
    RenyiLoss,
    Repeated,
    Sampled,
)
from discreet.core.events_in_words import in_words

TABLE = LossTable(0, (1.0,))
WORDS: dict[Event, str] = {
    PureLoss(0.5): "epsilon 0.5",
    ApproximateLoss(0.0, 5e-7): "a failure with chance 5e-07",
    ApproximateLoss(1.0, 1e-6): "epsilon 1 and delta 1e-06",
    GaussianLoss(14.3325): "Gaussian noise, 14.33 sensitivities",
    LaplaceLoss(3.0): "Laplace noise, 3 sensitivities",
    ConcentratedLoss(0.125): "concentrated, rho 0.125",
    RenyiLoss((2.0, math.inf), (0.1, 0.5)): "a Renyi curve of 2 orders, epsilon 0.5",
    DiscreteLoss(0.5, LossTable(-1, (0.2, 0.3, 0.5)), TABLE): "epsilon 0.5, and mostly less (tabulated)",
    DiscreteLoss(1.0, LossTable(0, (0.9,), 0.1), TABLE): "a loss tabulated at 1 and 1 points",
    Repeated(PureLoss(0.1), 3): "3 x (epsilon 0.1)",
    Composed((PureLoss(0.1), PureLoss(0.2))): "epsilon 0.1 + epsilon 0.2",
    Composed(()): "nothing",
    Sampled(GaussianLoss(1.0), 0.01, "fixed_size"): "(Gaussian noise, 1 sensitivities) on a fixed-size sample of 0.01",
    Parallel((PureLoss(0.1), PureLoss(0.1))): "the dearest of: epsilon 0.1",
    NoPromise("k-anonymity"): "no promise (k-anonymity)",
}


@pytest.mark.parametrize("event", WORDS, ids=lambda event: event.kind)
def test_an_event_is_told_in_words(event: Event) -> None:
    assert in_words(event) == WORDS[event]


def test_every_kind_has_its_words() -> None:
    assert {event.kind for event in WORDS} == set(KINDS)
