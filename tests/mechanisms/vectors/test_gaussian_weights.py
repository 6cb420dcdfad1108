"""Sums with random weights: exact, and rounded once."""

from __future__ import annotations

import math

import numpy as np
import pytest

from discreet.core.grid import Steps
from discreet.mechanisms.vectors.gaussian_weights import FARTHEST, GaussianWeights
from discreet.noise.deterministic import DeterministicBits

SIZES = [(31, 20), (51, 20), (11, 20), (36, 30)]


@pytest.mark.parametrize(("fine", "cells"), SIZES)
def test_sums_of_the_longest_rows_are_exact_and_rounded_to_the_nearest(fine: int, cells: int) -> None:
    rng = np.random.default_rng(4)
    weights, most = GaussianWeights(fine, cells), int(math.ldexp(FARTHEST, fine))
    drawn = rng.integers(-most, most, size=(5, 4096), endpoint=True)
    drawn[0], drawn[1] = most, -most
    rows = rng.integers(-(2**cells), 2**cells, size=(4096, 3))
    rows[:, 0] = 2**cells
    exact = drawn.astype(object) @ rows.astype(object)
    totals = [(part @ rows.astype(np.float64)).astype(np.int64) for part in weights.parts(drawn)]
    for fewer in (1, max(1, fine - 12), fine):
        found = weights.rounded(totals, fewer).ravel().tolist()
        near = [(value + 2 ** (fewer - 1)) >> fewer for value in exact.ravel().tolist()]
        fits = [place for place, value in enumerate(near) if abs(value) < 2 ** (62 - weights.width)]
        assert [found[place] for place in fits] == [near[place] for place in fits]
    assert len(fits) == exact.size


@pytest.mark.parametrize(("fine", "cells"), SIZES)
def test_weights_beyond_sixteen_deviations_are_cut(fine: int, cells: int) -> None:
    weights, most = GaussianWeights(fine, cells), int(math.ldexp(FARTHEST, fine))

    def value(parts: list[Steps]) -> int:
        return sum(int(part[0]) << (weights.width * place) for place, part in enumerate(parts))

    for drawn, kept in ((most + 5, most), (-most - 5, -most), (most - 1, most - 1), (-1, -1)):
        assert value(weights.parts(np.array([drawn]))) == kept


def test_weights_are_standard_normal_and_fresh_for_every_row() -> None:
    rows = np.zeros((5000, 2))
    rows[0, 0] = rows[4999, 1] = 1000.0
    weights = GaussianWeights(31, 20)
    found = weights.rounded(weights.sums(rows, 4000, DeterministicBits(1)), 31) / 1000
    assert np.abs(found.mean(axis=0)).max() < 5 / math.sqrt(4000)
    assert found.std(axis=0) == pytest.approx([1.0, 1.0], abs=5 / math.sqrt(8000))
    assert abs(float((found[:, 0] * found[:, 1]).mean())) < 5 / math.sqrt(4000)
