"""A race of integers: its law, its slow path, stretches whose distances are only bounds, what refuses."""

from __future__ import annotations

from decimal import Context, Decimal, localcontext

import numpy as np
import pytest
from scipy import stats

from discreet.core.errors import ParameterError
from discreet.noise import stretch_race as module
from discreet.noise.deterministic import DeterministicBits
from discreet.noise.stretch_race import UnevenStretches, stretch_race
from tests.noise.fit import ALARM, ScriptedBits

LENGTHS, DISTANCES = np.array([3, 1, 0, 4, 2]), np.array([3, 1, 0, 2, 5])
EACH = np.repeat(DISTANCES, LENGTHS)


def chances(distances: np.ndarray, scale: float) -> np.ndarray:
    """Of permute-and-flip: all who come up heads are alike; so integrate x^(heads - 1) over the unit interval.

    The mean of 1 / (1 + other heads) is the integral of the product of 1 - p + p x over all others.
    """
    heads = np.exp(-(distances - distances.min()) / scale)
    x, weights = np.polynomial.legendre.leggauss(20)
    factors = 1 - heads + heads * (x[:, None] + 1) / 2
    products = factors.prod(axis=1)[:, None] / factors
    return heads * (weights / 2 @ products)


def fits(found: np.ndarray, distances: np.ndarray, scale: float) -> float:
    counts = np.bincount(found, minlength=len(distances))
    return float(stats.chisquare(counts, chances(distances, scale) * len(found)).pvalue)


def test_the_law_adds_up_to_one_and_is_that_of_two_flips() -> None:
    assert chances(EACH, 1.5).sum() == pytest.approx(1.0)
    np.testing.assert_allclose(chances(np.array([0.0, np.log(4.0)]), 1.0), [7 / 8, 1 / 8])


@pytest.mark.parametrize("scale", [0.5, 1.5, 20.0])
def test_integers_win_as_by_permuting_and_flipping(scale: float) -> None:
    assert fits(stretch_race(DeterministicBits(1), LENGTHS, DISTANCES, scale, 200_000), EACH, scale) > ALARM


def test_distances_of_loose_stretches_are_those_of_their_integers() -> None:
    own = EACH.copy()
    own[:3], own[-2:] = [7, 4, 3], [5, 8]
    loose = UnevenStretches(np.array([True, False, False, False, True]), lambda place: int(own[place]))
    found = stretch_race(DeterministicBits(2), LENGTHS, DISTANCES, 4.0, 700, loose)
    assert fits(found, own, 4.0) > ALARM
    assert fits(found, EACH, 4.0) < ALARM


def test_long_stretches_win_as_by_the_exponential_mechanism() -> None:
    lengths, distances = np.array([2**48, 2**50, 2**47]), np.array([0, 3, 1])
    weights = lengths * np.exp(-distances / 2.0)
    found = np.searchsorted(np.cumsum(lengths), stretch_race(DeterministicBits(3), lengths, distances, 2.0, 100_000))
    assert stats.chisquare(np.bincount(found, minlength=3), weights / weights.sum() * 100_000).pvalue > ALARM


def test_fast_and_slow_agree_on_the_same_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    """On the stretch: its integer is drawn after, from other bits."""

    def stretches() -> np.ndarray:
        won = stretch_race(DeterministicBits(4), LENGTHS, DISTANCES, 2.0, 200)
        return np.searchsorted(np.cumsum(LENGTHS), won, side="right")

    fast = stretches()
    monkeypatch.setattr(module, "ERROR", 1e9)
    np.testing.assert_array_equal(stretches(), fast)


@pytest.mark.parametrize("length", [1, 7, 2**19, 2**21, 2**50])
def test_error_bars_hold_the_logarithm_of_the_least_uniform(length: int) -> None:
    words = DeterministicBits(5).words(40).copy()
    words[:10] |= np.uint64(2**64 - 2**20)  # where an exponential real is known worst
    words[10:20] >>= np.uint64(40)
    sure = UnevenStretches(np.zeros(1, np.bool_), int)
    course = module._Course(np.zeros(1, np.int64), np.array([length]), np.array([3]), sure, 0.75)
    bounds = course.bounds(words[:, None])
    with localcontext(Context(prec=60)):
        for row, word in enumerate(words.tolist()):
            for end in (word, word + 1):
                exact = (1 - ((Decimal(end) / 2**64).ln() / length).exp()).ln() if end < 2**64 else Decimal("-Infinity")
                assert Decimal(bounds.low[row, 0]) <= exact <= Decimal(bounds.high[row, 0])
    assert (bounds.high - bounds.low)[20:].max() < 1e-8


def test_equal_bits_are_told_apart_by_the_next_ones() -> None:
    word, lengths, distances = 2**63 + 12345, np.array([1, 1]), np.zeros(2, np.int64)
    for winner, more in enumerate(([2**63, 2**62], [2**62, 2**63])):  # of exponentials, the lesser one wins
        assert stretch_race(ScriptedBits([word, word, 0, 0], more), lengths, distances, 1.0, 1)[0] == winner


@pytest.mark.parametrize(("lengths", "scale"), [([0, 0], 1.0), ([1, 2], 0.0), ([1, 2], np.inf), ([1, 2], np.nan)])
def test_no_integers_and_no_scale_are_refused(lengths: list[int], scale: float) -> None:
    with pytest.raises(ParameterError):
        stretch_race(DeterministicBits(6), np.array(lengths), np.zeros(2, np.int64), scale, 1)
