"""F-LD, which promises nothing: it makes groups alike."""

from __future__ import annotations

from discreet.as_published.fair_lagrangian_dual import fair_lagrangian_dual
from discreet.deep.fair.constraint import DemographicParity
from discreet.deep.fair.descent import Descent
from discreet.deep.fair.multipliers import PublishedMultipliers
from tests.deep.fair.test_fair_training import found_by, linear, people


def trained(rate: float, epochs: int) -> tuple[float, PublishedMultipliers]:
    """How far groups are apart, and the multipliers."""
    (x, y, group), model = people(5000), linear()
    descent = Descent(multiplier_rate=rate)
    found = fair_lagrangian_dual(model, DemographicParity(), x, y, group, descent, count=2, batch=500, epochs=epochs)
    return found_by(model, DemographicParity())[1], found


def test_the_public_baseline_is_fair_without_noise() -> None:
    plain, _ = trained(1e-9, 10)
    fair, multipliers = trained(1.0, 30)
    assert fair < 0.4 * plain
    assert (multipliers.values > 0).all()
