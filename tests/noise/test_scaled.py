"""Noise of a secret scale: its laws, its error bars, the slow path, what refuses."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from mpmath import mp, mpf  # type: ignore[import-untyped]
from scipy import stats

from discreet.core.errors import ParameterError
from discreet.core.grid import Steps
from discreet.noise.deterministic import DeterministicBits
from discreet.noise.error_bars import ErrorBars
from discreet.noise.interval import Uniform
from discreet.noise.scaled import (
    UnitGaussian,
    UnitLaplace,
    UnitLaw,
    UnitStudent,
    _settled,
    rounded_student,
    scaled_gaussian,
    scaled_laplace,
)
from tests.noise.fit import ALARM, chi_square

Draw = Callable[[DeterministicBits, int, float], Steps]
LAWS: list[tuple[Draw, UnitLaw, Any]] = [
    (scaled_laplace, UnitLaplace(), stats.laplace()),
    (scaled_gaussian, UnitGaussian(), stats.norm()),
]
each = pytest.mark.parametrize(("draw", "law", "known"), LAWS, ids=["Laplace", "Gaussian"])


@each
def test_draws_follow_the_law(draw: Draw, law: UnitLaw, known: Any) -> None:
    for scale in (0.05, 0.4, 3.0):
        draws = draw(DeterministicBits(41), 300_000, scale)
        assert chi_square(draws, lambda k: np.diff(known.cdf(np.append(k - 0.5, k[-1] + 0.5) / scale)), 60) > ALARM  # noqa: B023
    fine = draw(DeterministicBits(42), 100_000, 2.0**30)
    assert stats.kstest(fine * 2.0**-30, known.cdf).pvalue > ALARM


def exact_laplace(uniform: Any, turns: Any) -> Any:
    return -mp.log(uniform) * (-1 if turns >= 0.5 else 1)


def exact_gaussian(uniform: Any, turns: Any) -> Any:
    return mp.sqrt(-2 * mp.log(uniform)) * mp.cos(2 * mp.pi * turns)


@pytest.mark.parametrize(("law", "exact"), [(UnitLaplace(), exact_laplace), (UnitGaussian(), exact_gaussian)])
def test_error_bars_hold_the_real(law: UnitLaw, exact: Any) -> None:
    words = DeterministicBits(43).words(800).reshape(2, -1).copy()
    words[0, :100] >>= np.uint64(40)  # far out
    words[0, 100:200] |= np.uint64(2**64 - 2**20)  # near the middle
    reals = law.reals(words)
    mp.dps = 60
    for i in range(words.shape[1]):
        for more in (mpf(0), 1 - mpf(2) ** -100):
            uniform, turns = ((mpf(int(word)) + more) / 2**64 for word in words[:, i])
            assert abs(mpf(float(reals.value[i])) - exact(uniform, turns)) <= mpf(float(reals.error[i]))
    assert np.median(reals.error[200:]) < 1e-11


@pytest.mark.parametrize("law", [UnitLaplace(), UnitGaussian(), UnitStudent(1), UnitStudent(3)])
def test_fast_equals_slow_on_the_same_bits(law: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    draws: dict[type[Any], Any] = {UnitLaplace: scaled_laplace, UnitGaussian: scaled_gaussian}
    draw: Any = draws.get(type(law), lambda bits, size, scale: rounded_student(bits, size, scale, law.degrees))
    fast, reals = draw(DeterministicBits(44), 100, 1000.0), type(law).reals
    monkeypatch.setattr(
        type(law), "reals", lambda self, words: ErrorBars(reals(self, words).value, np.full(words.shape[1], np.inf))
    )
    np.testing.assert_array_equal(draw(DeterministicBits(44), 100, 1000.0), fast)


@pytest.mark.parametrize("law", [UnitLaplace(), UnitGaussian(), UnitStudent(1), UnitStudent(64)])
def test_the_ends_of_the_unit_interval_have_draws(law: UnitLaw) -> None:
    for far in (0, 2**64 - 1):
        for turn in (0, 2**62, 2**63, 2**64 - 1):
            bits = DeterministicBits(far % 7 + turn % 11)
            assert abs(_settled([Uniform(bits, far), Uniform(bits, turn)], 2.0**52, law)) <= 2**62


@each
def test_what_cannot_be_drawn_is_refused(draw: Draw, law: UnitLaw, known: Any) -> None:
    for scale in (0.0, -1.0, float("nan"), 2.0**60):
        with pytest.raises(ParameterError):
            draw(DeterministicBits(1), 5, scale)


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
def test_error_bars_hold_students_real(degrees: int) -> None:
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
def test_students_noise_that_cannot_be_drawn_is_refused(scale: float, degrees: int) -> None:
    with pytest.raises(ParameterError):
        rounded_student(DeterministicBits(1), 5, scale, degrees)
