"""Fourier coefficients of series that many people add to."""

from __future__ import annotations

import math

import numpy as np
import pytest

from discreet.core.errors import ParameterError
from discreet.questions.series.fourier import FourierBasis, fourier_of_events, fourier_of_people
from discreet.schema.schema import Number, Schema
from tests.questions.trial import Trial, summed

PEOPLE = {"columns": ("x", "y", "far"), "coefficients": 2, "origin": 0.5, "radius": 3.0}
EVENTS = {"time": "x", "value": "y", "periods": 9, "coefficients": 3, "norm": "l1", "radius": None}
TRIALS = {
    "fourier_of_people": Trial(
        PEOPLE,
        "a1519107889d",
        portable=False,
        forged=[{"radius": -1.0}, {"columns": ("x", "x", "y")}, {"coefficients": 3}],
    ),
    "fourier_of_events": Trial(
        EVENTS,
        "a411e4a94199",
        portable=False,
        forged=[{"norm": "linf"}, {"radius": 0.0}, {"periods": 2**20}, {"time": "kind"}],
    ),
}
WEEK = Schema({f"day {i}": Number(0, 4) for i in range(7)})
CLOCK = Schema({"when": Number(0, 12), "much": Number(-1, 3)})


def test_the_basis_is_orthonormal_and_a_whole_one_loses_nothing() -> None:
    for periods in (2, 3, 8, 9):
        for k in range(1, periods // 2 + 2):
            basis = FourierBasis(periods, k)
            np.testing.assert_allclose(basis.waves @ basis.waves.T, np.eye(basis.size), atol=1e-12)
        assert basis.size == periods
        series = np.arange(periods) ** 2.0
        np.testing.assert_allclose(basis.waves.T @ (basis.waves @ series), series, atol=1e-12)


def test_frequencies_are_those_of_a_normalised_fft() -> None:
    series = np.random.default_rng(0).normal(size=12)
    complex_ones = np.fft.rfft(series, norm="ortho")
    found = FourierBasis(12, 4).waves @ series
    np.testing.assert_allclose(found[0], complex_ones[0].real)
    np.testing.assert_allclose(found[1::2], math.sqrt(2) * complex_ones[1:4].real)
    np.testing.assert_allclose(found[2::2], -math.sqrt(2) * complex_ones[1:4].imag)


def test_a_column_is_as_long_as_the_bound_says_and_not_longer() -> None:
    for basis in (FourierBasis(12, 3), FourierBasis(13, 7), FourierBasis(16, 9)):
        l1, l2 = np.abs(basis.waves).sum(axis=0).max(), np.sqrt(np.square(basis.waves).sum(axis=0)).max()
        for norm, longest in (("l1", l1), ("l2", l2)):
            assert longest <= basis.longest(norm) <= longest * (1 + 1e-6)  # type: ignore[arg-type]


def test_people_add_up_to_the_coefficients_of_their_series() -> None:
    """To a step of 2^-19 in values and waves; a person whose series is longer than the radius is shrunk to it."""
    people = np.random.default_rng(0).uniform(0, 4, (300, 7))
    wide = fourier_of_people(WEEK, tuple(WEEK.columns), 3, 0.0, None)
    exact = FourierBasis(7, 3).waves @ people.sum(axis=0)
    np.testing.assert_allclose(summed(wide, people), exact, atol=300 * 7 * 8 * 2.0**-20)
    assert wide.bound.radius == pytest.approx(4 * math.sqrt(7))
    around = fourier_of_people(WEEK, tuple(WEEK.columns), 3, 2.0, None)
    assert around.bound.radius == pytest.approx(2 * math.sqrt(7))
    missing = np.full((1, 7), np.nan)
    assert not around.of(missing).any()
    narrow = fourier_of_people(WEEK, tuple(WEEK.columns), 4, 0.0, 1.5)
    assert np.linalg.norm(narrow.of(np.full((1, 7), 4.0))) == pytest.approx(1.5)


def test_events_add_up_to_the_coefficients_of_sums_in_periods() -> None:
    rng = np.random.default_rng(1)
    events = np.column_stack([rng.uniform(0, 12, 500), rng.uniform(-1, 3, 500)])
    missing = np.array([[np.nan, 1.0], [3.0, np.nan]])
    found = summed(fourier_of_events(CLOCK, "when", "much", 12, 4, "l2", None), np.vstack([events, missing]))
    series, _ = np.histogram(events[:, 0], 12, (0, 12), weights=events[:, 1])
    np.testing.assert_allclose(found, FourierBasis(12, 4).waves @ series, atol=1e-5)
    counts, _ = np.histogram(events[:, 0], 12, (0, 12))
    counted = summed(fourier_of_events(CLOCK, "when", None, 12, 4, "l1", None), events[:, :1])
    np.testing.assert_allclose(counted, FourierBasis(12, 4).waves @ counts, atol=1e-5)


def test_what_cannot_be_is_refused() -> None:
    for periods, coefficients in ((1, 1), (12, 8), (12, 0), (2**14, 3)):
        with pytest.raises(ParameterError, match="Fourier coefficients"):
            FourierBasis(periods, coefficients)
