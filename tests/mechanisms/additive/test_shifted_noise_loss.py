"""What moved and shrunk noise costs, against integrals."""

from __future__ import annotations

import itertools
import math

import pytest
from mpmath import mp, mpf  # type: ignore[import-untyped]

from discreet.mechanisms.additive.shifted_noise_loss import (
    gaussian_shifted,
    gaussian_shrunk,
    greatest,
    laplace_shrunk,
)


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
