"""The reach of reports: honest ones lie inside, and one report from outside is refused, however it is made."""

from __future__ import annotations

import math

import numpy as np
import pytest

from discreet.core.errors import ParameterError
from discreet.local.aggregator import Aggregator
from discreet.local.means.hybrid_report import CELLS, HybridReport
from discreet.local.means.privunit_vector import STEPS, DuchiVector, PrivUnitVector
from discreet.local.means.vector_report import FAR, ReportReach
from discreet.local.subspaces.product_report import GaussianProducts, PrivUnitProducts
from discreet.noise.deterministic import DeterministicBits


def test_what_lies_beyond_is_moved_inside_and_all_else_stays() -> None:
    reach = ReportReach(10.0, 12.0)
    rows = np.array([[3.0, -4.0], [11.0, 0.0], [10.0, 10.0], [0.0, 0.0], [-99.0, 99.0]])
    moved = reach.pulled(rows)
    assert moved.tolist() == [[3, -4], [10, 0], [8, 8], [0, 0], [-8, 8]]
    assert reach.misfit(moved.astype(np.int32)) == ""
    for beyond, words in (([11, 0], "a number beyond 10"), ([9, 9], "longer than 12")):
        assert words in reach.misfit(np.array([beyond], np.int32))
    assert "beyond" in reach.misfit(np.array([[np.iinfo(np.int32).min, 0]], np.int32))


def test_one_message_moves_a_mean_by_no_more_than_its_reach() -> None:
    """Eight deviations of one report in one number; four bytes have room for 2,000."""
    for randomizer in (PrivUnitVector(1.0, 20), PrivUnitProducts(1.0, 5), GaussianProducts(1.0, 5)):
        size = randomizer.form.shape[0]
        largest, one = math.floor(randomizer.reach.number), np.zeros((1, size), np.int32)
        one[0, 0] = largest
        randomizer.accepted(one)
        for wrong in (one + 1, one * 2, np.full((1, size), largest, np.int32), one - np.iinfo(np.int32).max):
            with pytest.raises(ParameterError, match="Nothing was counted"):
                Aggregator(randomizer).add(wrong)
        assert largest * randomizer.unit <= (FAR + 1) * randomizer.stddev
        values = [randomizer.worst_pair.first] * 2000
        reports = randomizer.reports(values, DeterministicBits(1))
        assert np.abs(reports).max() < largest
        assert np.linalg.norm(reports.astype(np.float64), axis=1).max() < randomizer.reach.length


def test_a_direction_has_the_length_of_one() -> None:
    for size in (1, 2, 300):
        randomizer = DuchiVector(1.0, size)
        reports = randomizer.reports([randomizer.worst_pair.first] * 50, DeterministicBits(1))
        randomizer.accepted(reports)
        long, short = (reports * 1.001).astype(np.int32), (reports * 0.999).astype(np.int32)
        for wrong in (long, short, 0 * reports, np.full_like(reports, int(STEPS))[:, : max(size, 2)] * 2):
            with pytest.raises(ParameterError, match="does not have the length"):
                randomizer.accepted(wrong[:1, :size])


def test_cells_are_refused_where_bits_alone_are_sent() -> None:
    for epsilon, cells in ((0.5, False), (1.0, True)):
        mean = HybridReport(epsilon)
        mean.accepted(np.array([CELLS, CELLS + 1]))
        if cells:
            mean.accepted(np.array([0, CELLS - 1]))
        else:
            with pytest.raises(ParameterError, match="Nothing was counted"):
                mean.accepted(np.array([CELLS, 0]))
