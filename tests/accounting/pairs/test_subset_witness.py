from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import ndtr

from discreet.accounting.accountant import epsilon_interval
from discreet.accounting.pairs.subset_witness import subset_witness
from discreet.accounting.pairs.tabulation import table_below
from discreet.core.events import GaussianLoss, Repeated, Sampled
from tests.accounting import profiles

Law = list[float]


def laws(multiplier: float, quiet: float, cells: int) -> tuple[Law, Law, Law]:
    """A, B and C of the witness, with the losses above `quiet` merged into cells."""
    losses = np.linspace(quiet, quiet + 12 / multiplier, cells)
    z = np.append(losses * multiplier, np.inf)
    p, q = (np.diff(-ndtr(shift - z)) for shift in (0.5 / multiplier, -0.5 / multiplier))
    rest, most = 1 - p.sum() - q.sum(), 1 - 2 * q.sum()
    return [*p, *q, rest], [*q, *p, rest], [*q, *q, most]


def worst(multiplier: float, quiet: float) -> float:
    """How far the profile of two of the laws exceeds the Gaussian one."""
    found = laws(multiplier, quiet, 200)
    return max(
        profiles.of_atoms(one, other, epsilon) - profiles.gaussian(multiplier, epsilon)
        for epsilon in np.linspace(0.0, 4 / multiplier, 101).tolist()
        for one in found
        for other in found
    )


def test_the_witness_keeps_the_gaussian_promise_and_only_just() -> None:
    for multiplier in (0.5, 1.0, 3.0, 20.0):
        quiet = subset_witness(multiplier, 0.1).quiet
        assert worst(multiplier, quiet) < 1e-12
        assert worst(multiplier, 0.9 * quiet) > 1e-5


def test_the_pair_is_that_of_samples_with_and_without_the_record() -> None:
    for multiplier, rate in ((1.0, 0.1), (0.7, 0.6)):
        pair = subset_witness(multiplier, rate)
        a, b, c = (np.array(law) for law in laws(multiplier, pair.quiet, 4000))
        one, other = ((1 - rate) * c + rate * law for law in (a, b))
        table = table_below(pair, 1e-3, -40.0)
        for epsilon in (0.0, 0.05, 0.2, 0.6):
            exact = profiles.of_atoms(one.tolist(), other.tolist(), epsilon)
            found = float(table.masses @ np.maximum(-np.expm1(epsilon - table.losses), 0.0))
            assert found <= exact * (1 + 1e-5)
            assert found == pytest.approx(exact, rel=5e-3)


def test_samples_of_fixed_size_are_enclosed_within_a_hundredth() -> None:
    for rate, multiplier, times, delta in ((0.01, 1.0, 1000, 1e-5), (0.05, 3.0, 500, 1e-6), (0.1, 0.6, 10, 1e-8)):
        event = Repeated(Sampled(GaussianLoss(multiplier), rate, "fixed_size"), times)
        found = epsilon_interval(event, delta)
        assert 0.99 * found.upper <= found.lower <= found.upper
        assert math.isfinite(found.upper)
