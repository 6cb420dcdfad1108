"""How much of a series is left out: scores that one unit moves no farther than its bound."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.core.answer import Answer
from discreet.core.errors import ParameterError
from discreet.core.neighbors import RECORD, Neighbors
from discreet.core.schema import Schema
from discreet.noise.deterministic import DeterministicBits
from discreet.questions.fourier import FourierBasis, fourier_of_events, fourier_of_people
from discreet.questions.spectrum_tails import SpectrumTails
from discreet.trust.curators_view import CuratorsView
from discreet.trust.sources.opening import source_of

SCHEMA = Schema.numeric(-1.0, 1.0, 9)


def scores(people: np.ndarray, neighbors: Neighbors = Neighbors.ADD_REMOVE) -> Answer:
    spectrum = fourier_of_people(SCHEMA, SCHEMA.features, 5, 0.0, 2.0)
    asked = SpectrumTails(spectrum, (1, 3, 5, 9), (0.5, 1.0, 2.0, 4.0))
    return asked.answer(CuratorsView(source_of(people, SCHEMA, RECORD), neighbors, DeterministicBits(0)))


def test_scores_are_what_is_left_out_and_the_noise_on_the_rest() -> None:
    people = np.random.default_rng(0).uniform(-0.5, 0.5, (40, 9))
    found = scores(people)
    spectrum = FourierBasis(9, 5).waves @ people.sum(axis=0)
    left = [np.linalg.norm(spectrum[size:]) for size in (1, 3, 5, 9)]
    np.testing.assert_allclose(found.grid.values(found.steps), -np.array(left) - [0.5, 1, 2, 4], atol=1e-3)


def test_no_person_moves_a_score_by_more_than_the_sensitivity_and_some_by_nearly_as_much() -> None:
    """Somebody whose series is beyond the bound, alone or among many; one is added, or takes the place of another."""
    rng, farthest = np.random.default_rng(1), 0.0
    for base in (np.zeros((1, 9)), rng.uniform(-1, 1, (30, 9))):
        for _ in range(60):
            person = 100 * rng.normal(size=(1, 9))
            for others, neighbors in ((base[1:], Neighbors.ADD_REMOVE), (base, Neighbors.REPLACE)):
                first = scores(np.vstack([base[1:], person]), neighbors)
                second = scores(others if len(others) else np.zeros((1, 9)), neighbors)
                moved = np.abs(first.steps - second.steps).max() * first.grid.step
                assert moved <= first.sensitivity("linf")
                farthest = max(farthest, moved / first.sensitivity("linf"))
    assert scores(base, Neighbors.REPLACE).sensitivity("linf") == pytest.approx(4.0)
    assert farthest > 0.9


def test_a_spectrum_that_is_not_bounded_in_l2_is_refused() -> None:
    spectrum = fourier_of_events(SCHEMA, "x0", None, 9, 5, "l1", None)
    with pytest.raises(ParameterError, match="bounded in l2"):
        SpectrumTails(spectrum, (1,), (0.0,))
