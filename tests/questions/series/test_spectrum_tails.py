"""How much of a series is left out: scores that one unit moves no farther than its bound."""

from __future__ import annotations

import math

import numpy as np
import pytest

from discreet.audit.verdict import judged
from discreet.core.answer import Answer
from discreet.core.errors import ParameterError
from discreet.core.events import PureLoss
from discreet.core.neighbors import RECORD, Neighbors
from discreet.mechanisms.selection.permute_and_flip import PermuteAndFlip
from discreet.noise.deterministic import DeterministicBits
from discreet.questions.series.fourier import FourierBasis, fourier_of_events, fourier_of_people
from discreet.questions.series.spectrum_tails import SpectrumTails
from discreet.schema.schema import Schema
from discreet.trust.curator import CuratorsView
from discreet.trust.sources.source_of import source_of

SCHEMA = Schema.numeric(-1.0, 1.0, 9)


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
