"""Fourier coefficients of series that many people add to."""

from __future__ import annotations

import math

import numpy as np
import pytest

from discreet.audit.trial import judged
from discreet.core.answer import Answer
from discreet.core.errors import ParameterError
from discreet.core.events import PureLoss
from discreet.core.neighbors import RECORD, Neighbors
from discreet.mechanisms.selection.exponential import PermuteAndFlip
from discreet.noise.deterministic import DeterministicBits
from discreet.questions.series.fourier import FourierBasis, SpectrumTails, fourier_of_events, fourier_of_people
from discreet.schema.schema import Number, Schema
from discreet.trust.curator import CuratorsView
from discreet.trust.sources.source_of import source_of
from tests.questions.trial import Trial, summed

PEOPLE = {"columns": ("x", "y", "far"), "coefficients": 2, "origin": 0.5, "radius": 3.0}
EVENTS = {"time": "x", "value": "y", "periods": 9, "coefficients": 3, "norm": "l1", "radius": None}
WEEK = Schema({f"day {i}": Number(0, 4) for i in range(7)})
CLOCK = Schema({"when": Number(0, 12), "much": Number(-1, 3)})
SCHEMA = Schema.numeric(-1.0, 1.0, 9)
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


def scores(
    people: np.ndarray,
    neighbors: Neighbors = Neighbors.ADD_REMOVE,
    noises: tuple[float, ...] = (0.5, 1.0, 2.0, 4.0),
) -> Answer:
    """Of the first candidates, one for each noise."""
    spectrum = fourier_of_people(SCHEMA, SCHEMA.features, 5, 0.0, 2.0)
    asked = SpectrumTails(spectrum, (1, 3, 5, 9)[: len(noises)], noises)
    return asked.answer(CuratorsView(source_of(people, SCHEMA, RECORD), neighbors, DeterministicBits(0)))


def test_scores_are_what_is_left_out_and_the_noise_on_the_rest() -> None:
    people = np.random.default_rng(0).uniform(-0.5, 0.5, (40, 9))
    found = scores(people)
    spectrum = FourierBasis(9, 5).waves @ people.sum(axis=0)
    left = [np.linalg.norm(spectrum[size:]) for size in (1, 3, 5, 9)]
    np.testing.assert_allclose(found.grid.values(found.steps), -np.array(left) - [0.5, 1, 2, 4], atol=1e-3)


def test_no_person_moves_differences_of_scores_by_more_than_twice_the_sensitivity() -> None:
    """Somebody whose series is beyond the bound, alone or among many; one is added, or takes the place of another."""
    rng = np.random.default_rng(1)
    for base in (np.zeros((1, 9)), rng.uniform(-1, 1, (30, 9))):
        for _ in range(60):
            person = 100 * rng.normal(size=(1, 9))
            for others, neighbors in ((base[1:], Neighbors.ADD_REMOVE), (base, Neighbors.REPLACE)):
                first = scores(np.vstack([base[1:], person]), neighbors)
                second = scores(others if len(others) else np.zeros((1, 9)), neighbors)
                assert np.ptp(first.steps - second.steps) * first.grid.step <= 2 * first.sensitivity("linf")
    assert scores(base, Neighbors.REPLACE).sensitivity("linf") == pytest.approx(4.0 / math.sqrt(2))


def worst(neighbors: Neighbors) -> list[Answer]:
    """People of one frequency, and somebody who takes from it and adds to the next: two scores change places."""
    waves = FourierBasis(9, 5).waves
    crowd, person = np.tile(waves[1], (2000, 1)), math.sqrt(2) * (waves[3] - waves[1])[None]
    other = np.zeros((1, 9))
    if neighbors is Neighbors.REPLACE:  # who leaves takes all of the next frequency along
        crowd, other = np.vstack([crowd, math.sqrt(2) * waves[3]]), -person
    both = [np.vstack([crowd, one]) for one in (other, person)]
    found = [scores(rows, neighbors, (0.0, 0.0)) for rows in both]
    middle = float(np.mean([np.diff(one.steps)[0] for one in found])) * found[0].grid.step
    return [scores(rows, neighbors, (0.0, middle)) for rows in both]


def test_an_audit_of_the_choice_stands_and_refutes_two_thirds_of_the_noise() -> None:
    for neighbors in Neighbors:
        answers = worst(neighbors)
        for epsilon, holds in ((1.0, True), (1.5, False)):
            choice = PermuteAndFlip(epsilon)
            found = [choice.release(one.stacked(60_000), DeterministicBits(i)) for i, one in enumerate(answers)]
            assert judged(PureLoss(1.0), *found).holds is holds, neighbors


def test_a_spectrum_that_is_not_bounded_in_l2_is_refused() -> None:
    spectrum = fourier_of_events(SCHEMA, "x0", None, 9, 5, "l1", None)
    with pytest.raises(ParameterError, match="bounded in l2"):
        SpectrumTails(spectrum, (1,), (0.0,))
