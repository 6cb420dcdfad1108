"""Masses at knots: shared out by splines or by Gaussian bumps."""

from __future__ import annotations

import numpy as np

from discreet.questions.knots import Knots, process_of, splines_of
from tests.questions.trial import RECORDS, SCHEMA, Trial, X, summed

TRIALS = {
    "splines": Trial(
        {"columns": ("x", "y"), "bins": (4, 3), "degree": 2, "counted": True},
        "29061192ae9e",
        forged=[{"degree": 9}, {"bins": (1, 3)}],
    ),
    "kernel_process": Trial(
        {"columns": ("x", "y"), "bandwidths": (0.3, 0.5), "counted": True},
        "71d9f835717b",
        forged=[{"bandwidths": (1e-9, 1e-9)}],
        portable=False,
    ),
}


def test_splines_of_degree_one_share_a_value_between_the_two_nearest_knots() -> None:
    place = (X + 10) / 120 * 6 - 0.5
    low = np.floor(place).astype(int)
    expected = np.zeros(6)
    np.add.at(expected, low.clip(0, 5), 1 - (place - low))
    np.add.at(expected, (low + 1).clip(0, 5), place - low)
    *masses, missing = summed(splines_of(SCHEMA, ("x",), (6,), 1, True), RECORDS)
    np.testing.assert_allclose(masses, expected, atol=1e-5)
    assert round(missing) == 2


def test_a_gaussian_bump_is_a_normal_density_at_the_knots() -> None:
    knots, deviation = Knots.process(0.2).places, 0.2 / np.sqrt(2)
    away = ((X[:, None] + 10) / 120 - knots) / deviation
    spacing = knots[1] - knots[0]
    expected = (np.exp(-np.square(away) / 2) * spacing / deviation / np.sqrt(2 * np.pi)).sum(axis=0)
    np.testing.assert_allclose(summed(process_of(SCHEMA, ("x",), (0.2,), False), RECORDS), expected, atol=1e-5)
