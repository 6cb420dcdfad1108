"""Subset selection: every set of the right size is equally likely, given whether it has the value."""

from __future__ import annotations

import contextlib
from collections import defaultdict
from fractions import Fraction
from itertools import product
from math import comb
from typing import Any

import numpy as np
import pytest

from discreet.core.errors import ParameterError
from discreet.local.oracles import subset_selection
from discreet.local.oracles.subset_selection import SubsetSelection
from discreet.noise.deterministic import DeterministicBits
from tests.local.trial import ReportTrial

TRIAL = ReportTrial(
    [SubsetSelection(), SubsetSelection(0.5, 2), SubsetSelection(1.0, 7)], fingerprints={"subset": "da60bed3b7680a31"}
)


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


Law = dict[int, Fraction]


class Drawn(Exception):
    """A second number was asked for."""


def turned(oracle: SubsetSelection, own: int, state: int, at: int | None) -> tuple[int, int]:
    """The set after one number was drawn, and from how many it was; the same one, where none is needed."""
    asked = list[int]()

    def draw(bits: Any, count: int, upper: int) -> Any:
        if asked:
            raise Drawn
        asked.append(upper)
        return np.array([at or 0])

    packed = np.array([[state]], np.uint8)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(subset_selection, "uniform_integers", draw)
        with contextlib.suppress(Drawn):
            oracle._settle(packed, np.array([own]), DeterministicBits(0))
    return int(packed[0, 0]), asked[0] if asked else 0


def settled(oracle: SubsetSelection, own: int, state: int, known: dict[int, Law]) -> Law:
    """The exact law of the set that comes of one: numbers that change nothing are drawn again."""
    if state not in known:
        _, numbers = turned(oracle, own, state, None)
        after = [found for at in range(numbers) if (found := turned(oracle, own, state, at)[0]) != state]
        law: Law = defaultdict(Fraction, {} if after else {state: Fraction(1)})
        for one in after:
            for end, chance in settled(oracle, own, one, known).items():
                law[end] += chance / len(after)
        known[state] = law
    return known[state]


@pytest.mark.parametrize(("epsilon", "size"), [(0.5, 2), (0.5, 3), (0.1, 4), (1.0, 4), (0.1, 5)])
def test_settling_makes_any_set_of_coins_uniform(epsilon: float, size: int) -> None:
    """Exact: of coins with any chance, those that number k are equally likely, and so is every set in the end."""
    oracle = SubsetSelection(epsilon, size)
    for own, has, coins in product(range(size), (False, True), range(size)):
        known: dict[int, Law] = {}
        starts = [one | has << own for one in range(2**size) if not one >> own & 1 and one.bit_count() == coins]
        law: Law = defaultdict(Fraction)
        for start in starts:
            for end, chance in settled(oracle, own, start, known).items():
                law[end] += chance / len(starts)
        ends = [one for one in range(2**size) if one.bit_count() == oracle.chosen and one >> own & 1 == has]
        assert law == dict.fromkeys(ends, Fraction(1, len(ends)))
