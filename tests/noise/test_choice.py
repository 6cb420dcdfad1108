"""A weighted choice of stretches: its law, its slow path, what refuses."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from discreet.core.errors import ParameterError
from discreet.noise import choice
from discreet.noise.choice import StretchWeight, stretch_choice, uniform_below
from discreet.noise.deterministic import DeterministicBits
from discreet.noise.interval import Uniform
from tests.noise.fit import ALARM, ScriptedBits

LENGTHS = np.array([5, 1, 0, 90, 2**40, 7])
DISTANCES = np.array([9, 0, 0, 9, 25, 2])


def rows(values: np.ndarray, count: int) -> np.ndarray:
    return np.tile(values, (count, 1))


@pytest.mark.parametrize("scale", [0.9, 1.0, 1.1])
def test_stretches_are_chosen_by_length_and_by_the_exponential_of_their_score(scale: float) -> None:
    chosen = stretch_choice(DeterministicBits(1), rows(LENGTHS, 200_000), rows(DISTANCES, 200_000), scale)
    weights = LENGTHS * np.exp(-DISTANCES / scale)
    expected = 200_000 * weights / weights.sum()
    counts = np.bincount(chosen, minlength=6)
    assert counts[2] == 0
    common = [0, 1, 3, 5]  # the long one is as good as never chosen at the first scale
    assert (
        stats.chisquare(counts[common], expected[common] * counts[common].sum() / expected[common].sum()).pvalue > ALARM
    )
    assert counts[4] == pytest.approx(expected[4], abs=5 * np.sqrt(expected[4]) + 1)


def test_every_row_has_its_own_weights() -> None:
    lengths = np.array([[1, 2**50], [2**50, 1], [0, 3]])
    chosen = stretch_choice(DeterministicBits(2), lengths, np.zeros((3, 2), np.int64), 1.0)
    np.testing.assert_array_equal(chosen, [1, 0, 1])


def test_settled_and_fast_draws_follow_the_same_law(monkeypatch: pytest.MonkeyPatch) -> None:
    """With nothing taken for sure, every draw is settled in multi-precision; on the same bits both agree."""
    few, far = rows(LENGTHS, 300), rows(DISTANCES, 300)
    fast = stretch_choice(DeterministicBits(3), few, far, 2.0)
    monkeypatch.setattr(choice, "SURE", 2.0)
    np.testing.assert_array_equal(stretch_choice(DeterministicBits(3), few, far, 2.0), fast)


def test_a_stretch_out_of_sight_is_kept_as_rarely_as_it_should_be() -> None:
    """Of weight exp(-60), and offered with exp(-50): settled against the exact number."""
    lengths, distances = np.array([[1, 2**61]]), np.array([[0, 60]])
    word, ticket = int(np.exp(-10.0) * 2.0**64), 2**59 + 2**40  # the first stretch holds 2**59 tickets and few more
    kept, dropped = ScriptedBits([ticket, word - 2**40], []), ScriptedBits([ticket, word + 2**40, 1, 0], [])
    assert stretch_choice(kept, lengths, distances, 1.0)[0] == 1
    assert stretch_choice(dropped, lengths, distances, 1.0)[0] == 0


def test_a_size_is_compared_with_as_many_bits_as_it_takes() -> None:
    half = StretchWeight(1, 0, 1.0)
    assert half.exceeds(Uniform(ScriptedBits([], [0, 0, 0]), 0))
    exact = StretchWeight(2**40, 1000, 999.5)
    level = float(2**40 * np.exp(-1000 / 999.5)) / 2**41
    below, above = (Uniform(DeterministicBits(1), int(level * factor * 2**64)) for factor in (1 - 1e-12, 1 + 1e-12))
    assert exact.exceeds(below, tickets=2**41)
    assert not exact.exceeds(above, tickets=2**41)


def test_integers_below_each_upper_are_equally_likely() -> None:
    uppers = np.tile([3, 10], 50_000)
    drawn = uniform_below(DeterministicBits(4), uppers)
    for upper in (3, 10):
        assert stats.chisquare(np.bincount(drawn[uppers == upper], minlength=upper)).pvalue > ALARM


def test_a_word_that_would_favor_small_integers_is_drawn_anew() -> None:
    assert uniform_below(ScriptedBits([2**64 - 1, 5], []), np.array([3]))[0] == 2
    assert uniform_below(ScriptedBits([2**64 - 1], []), np.array([2**62]))[0] == 2**62 - 1


@pytest.mark.parametrize(
    "wrong",
    [
        lambda bits: stretch_choice(bits, np.array([[0, 0]]), np.array([[1, 2]]), 1.0),
        lambda bits: stretch_choice(bits, np.array([[1, 0]]), np.array([[1, 2]]), 0.0),
        lambda bits: stretch_choice(bits, np.array([[1, 0]]), np.array([[1, 2]]), np.inf),
        lambda bits: uniform_below(bits, np.array([1, 0])),
    ],
)
def test_what_has_no_answer_is_refused(wrong: object) -> None:
    with pytest.raises(ParameterError):
        wrong(DeterministicBits(1))  # type: ignore[operator]
