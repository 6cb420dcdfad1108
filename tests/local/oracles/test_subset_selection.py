"""Subset selection: every set of the right size is equally likely, given whether it has the value."""

from __future__ import annotations

from math import comb

import numpy as np
import pytest

from discreet.core.errors import ParameterError
from discreet.local.oracles.subset_selection import SubsetSelection
from discreet.noise.deterministic import DeterministicBits

RANDOMIZERS = [SubsetSelection(), SubsetSelection(0.5, 2), SubsetSelection(1.0, 7)]


def test_all_sets_with_the_value_and_all_without_are_equally_likely() -> None:
    oracle, runs = SubsetSelection(0.5, 7), 60_000
    assert oracle.chosen == 3
    sets = oracle.reports([2] * runs, DeterministicBits(1))[:, 0]
    counts = np.bincount(sets, minlength=128)
    seen = np.flatnonzero(counts)
    inside = seen[seen & 4 > 0]
    assert (len(inside), len(seen)) == (comb(6, 2), comb(7, 3))
    for place in seen:
        chance = oracle.own / comb(6, 2) if place & 4 else oracle.miss / comb(6, 3)
        assert abs(counts[place] - runs * chance) < 5 * np.sqrt(runs * chance)


def test_a_set_of_another_size_is_refused() -> None:
    with pytest.raises(ParameterError, match="does not have 3 values"):
        SubsetSelection(0.5, 7).accepted(np.array([[3]], np.uint8))
