"""Student's noise: its law, its error bars, what refuses."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from mpmath import mp, mpf  # type: ignore[import-untyped]
from scipy import stats

from discreet.core.errors import ParameterError
from discreet.noise.deterministic import DeterministicBits
from discreet.noise.interval import Uniform
from discreet.noise.scaled import _settled
from discreet.noise.student import UnitStudent, rounded_student
from tests.noise.fit import ALARM, chi_square


def test_rounded_draws_follow_student_s_law() -> None:
    for scale, degrees in itertools.product((0.4, 3.0), (1, 2, 3, 10)):
        draws = rounded_student(DeterministicBits(21), 300_000, scale, degrees)

        def probability(k: np.ndarray, scale: float = scale, degrees: int = degrees) -> np.ndarray:
            edges = np.append(k - 0.5, k[-1] + 0.5) / scale
            return np.diff(stats.t.cdf(edges, degrees))

        assert chi_square(draws, probability, reach=200) > ALARM


@pytest.mark.parametrize("degrees", [1, 3])
def test_fine_draws_follow_student_s_law(degrees: int) -> None:
    draws = rounded_student(DeterministicBits(22), 100_000, 2.0**30, degrees)
    assert stats.kstest(draws * 2.0**-30, stats.t(degrees).cdf).pvalue > ALARM


@pytest.mark.parametrize("degrees", [1, 3, 64])
def test_error_bars_hold_the_real(degrees: int) -> None:
    words = DeterministicBits(23).words(800).reshape(2, -1).copy()
    words[0, :100] >>= np.uint64(40)  # far out
    words[0, 100:200] |= np.uint64(2**64 - 2**20)  # near the middle
    reals = UnitStudent(degrees).reals(words)
    mp.dps = 60
    for i in range(words.shape[1]):
        for more in (0, 1):
            uniform, turns = ((mpf(int(word)) + more) / 2**64 for word in words[:, i])
            length = mp.sqrt(degrees * (mp.exp(-2 * mp.log(uniform) / degrees) - 1)) if uniform < 1 else mpf(0)
            exact = length * mp.cos(2 * mp.pi * turns)
            assert abs(mpf(float(reals.value[i])) - exact) <= mpf(float(reals.error[i]))
    assert np.median(reals.error[200:]) < 1e-11


def test_draws_out_of_range_are_put_at_its_end() -> None:
    """U of 2**-64: the length is 2**64, along the axis."""
    bits = DeterministicBits(1)
    assert _settled([Uniform(bits, 1), Uniform(bits, 0)], 2.0**40, UnitStudent(1)) == 2**62


@pytest.mark.parametrize(("scale", "degrees"), [(0.0, 3), (1.0, 0), (1.0, 65), (1.0, 2.5), (2.0**60, 3)])
def test_what_cannot_be_drawn_is_refused(scale: float, degrees: int) -> None:
    with pytest.raises(ParameterError):
        rounded_student(DeterministicBits(1), 5, scale, degrees)
