"""Sums of normal and Laplace variables, against closed forms and independent integrals."""

from __future__ import annotations

from itertools import pairwise

import mpmath as mp  # type: ignore[import-untyped]
import numpy as np
import pytest

from discreet.releases.law import Law, LawWithSquare


def normal_plus_laplace(stddev: float, scale: float, distance: float) -> float:
    """The chance to be farther than this from zero, by integration of the one density over the other, by hand."""
    s, b, q = mp.mpf(stddev), mp.mpf(scale), mp.mpf(distance)
    tilted = mp.e ** (s * s / (2 * b * b)) / 2
    shifted = mp.e ** (-q / b) * mp.ncdf(q / s - s / b) - mp.e ** (q / b) * mp.ncdf(-q / s - s / b)
    return float(2 * (mp.ncdf(-q / s) + tilted * shifted))


@pytest.mark.parametrize("stddev", [0.05, 0.3, 1.0, 5.0])
@pytest.mark.parametrize("scale", [0.01, 0.5, 2.0])
@pytest.mark.parametrize("distance", [0.1, 1.0, 4.0, 9.0])
def test_a_normal_and_a_laplace_variable_add_up(stddev: float, scale: float, distance: float) -> None:
    """Where the normal part is above 3 % of the whole; else it counts as so much, which is never too little."""
    exact, law = normal_plus_laplace(stddev, scale, distance), Law(stddev, np.array([scale]))
    if stddev >= 0.03 * law.deviation:
        assert law.outside(distance) == pytest.approx(exact, abs=1e-9)
    else:
        assert exact <= law.outside(distance) + 1e-9 <= exact + 1e-3


def test_many_laplace_variables_of_one_scale_add_up() -> None:
    """Five, against numerical integration of the characteristic function at high precision."""
    for distance in (1.0, 5.0, 15.0):
        integral = mp.quad(
            lambda t, q=distance: mp.sin(q * t) / t * mp.exp(-(t**2) / 2) / (1 + t * t) ** 5,
            mp.linspace(0, 15, 60),
        )
        assert Law(1.0, np.ones(5)).outside(distance) == pytest.approx(float(1 - 2 / mp.pi * integral), abs=1e-9)


@pytest.mark.parametrize("law", [Law(1.0, np.array([2.0, 0.5])), Law(2.0, np.zeros(0)), Law(0.0, np.ones(1))])
@pytest.mark.parametrize("chance", [0.5, 0.05, 1e-6])
def test_a_half_width_leaves_out_what_it_says(law: Law, chance: float) -> None:
    assert law.outside(law.half_width(chance)) == pytest.approx(chance, rel=1e-6)


def test_the_chance_to_be_outside_falls_with_the_distance() -> None:
    law = Law(0.5, np.array([1.0, 2.0]))
    chances = [law.outside(distance) for distance in np.linspace(0, 60, 81)]
    assert chances[0] == 1
    assert all(later <= earlier + 1e-12 for earlier, later in pairwise(chances))


def test_no_spread_is_no_width() -> None:
    nothing = Law(0.0, np.zeros(2))
    assert nothing.half_width(0.05) == 0
    assert nothing.outside(1.0) == 0
    assert nothing.outside(0.0) == 1


@pytest.mark.parametrize(
    "distance", [pytest.param(0.5, marks=pytest.mark.slow), 3.0, pytest.param(12.0, marks=pytest.mark.slow)]
)
@pytest.mark.parametrize("laplace", [True, False])
def test_a_square_is_added_as_an_integral_over_it_says(laplace: bool, distance: float) -> None:
    """One normal variable and one square of mean 2, at high precision."""

    def density(x: float) -> float:
        return mp.exp(-x) if laplace else 2 * mp.npdf(x)

    def outside(x: float) -> float:
        moved = 2 * (x * x / (2 if laplace else 1) - 1)
        return density(x) * (mp.ncdf((moved - distance) / 1.5) + mp.ncdf((-moved - distance) / 1.5))

    exact = mp.quad(outside, mp.linspace(0, 30, 61))
    assert LawWithSquare(1.5, np.zeros(0), 2.0, laplace).outside(distance) == pytest.approx(float(exact), abs=1e-8)


def test_no_square_is_the_law_without_it() -> None:
    law, same = Law(1.0, np.ones(2)), LawWithSquare(1.0, np.ones(2), 0.0, True)
    assert same.deviation == law.deviation
    assert same.normal is law.normal
    assert same.outside(2.0) == law.outside(2.0)
    assert LawWithSquare(1.0, np.zeros(0), 0.0, True).half_width(0.05) == pytest.approx(1.96, abs=1e-4)
