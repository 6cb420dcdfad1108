"""An audit that could not see two thirds of the noise is found."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.audit.trial import judged
from discreet.core.events import Composed, DiscreteLoss, Event, GaussianLoss, LaplaceLoss, LossTable, PureLoss, Sampled
from tests.power import refutes_less, weaker


@pytest.mark.partial_audit("it is about such audits")
def test_few_outputs_and_neighbors_that_are_alike_show_nothing() -> None:
    noise = np.random.default_rng(0).normal(size=(2, 20_000))
    many, few = judged(GaussianLoss(1.0), noise[0], noise[1] + 1.0), judged(GaussianLoss(1.0), *noise[:, :60])
    near = judged(GaussianLoss(1.0), noise[0], noise[1] + 0.3)
    assert (many.holds, few.holds, near.holds) == (True, True, True)
    assert (refutes_less(many), refutes_less(few), refutes_less(near)) == (True, False, False)


def test_the_claim_of_more_noise_is_that_of_every_part() -> None:
    event: Event = Composed((Sampled(GaussianLoss(2.0), 0.5), LaplaceLoss(2.0), PureLoss(3.0)))
    assert weaker(event) == Composed((Sampled(GaussianLoss(3.0), 0.5), LaplaceLoss(3.0), PureLoss(2.0)))
    assert weaker(DiscreteLoss(1.0, LossTable(0, (1.0,)), LossTable(0, (1.0,)))) is None
