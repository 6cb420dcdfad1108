from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from discreet.core.errors import ParameterError
from discreet.core.grid import Array
from discreet.noise import radial
from discreet.noise.deterministic import DeterministicBits
from discreet.noise.error_bars import ErrorBars
from discreet.noise.radial import radial_exponential
from tests.noise.fit import ALARM, ScriptedBits, chi_square

SCALE = 1.3 * 2.0**30


@pytest.mark.parametrize("dimension", [1, 2, 3, 4, 9, 50])
def test_lengths_follow_the_gamma_law(dimension: int) -> None:
    """Density exp(-r) on shells of area r**(d - 1)."""
    vectors = radial_exponential(DeterministicBits(81), 20_000, dimension, SCALE) / SCALE
    lengths = np.sqrt((vectors**2).sum(axis=1))
    assert stats.kstest(lengths, stats.gamma(dimension).cdf).pvalue > ALARM


def test_directions_are_uniform() -> None:
    flat = radial_exponential(DeterministicBits(82), 50_000, 2, SCALE)
    assert stats.kstest(np.arctan2(flat[:, 1], flat[:, 0]), stats.uniform(-np.pi, 2 * np.pi).cdf).pvalue > ALARM
    solid = radial_exponential(DeterministicBits(83), 50_000, 3, SCALE) / SCALE
    lengths = np.sqrt((solid**2).sum(axis=1, keepdims=True))
    for axis in (solid / lengths).T:  # Archimedes: each coordinate of a point on the sphere is uniform
        assert stats.kstest(axis, stats.uniform(-1, 2).cdf).pvalue > ALARM
    assert abs(stats.spearmanr(lengths[:, 0], solid[:, 0] / lengths[:, 0]).statistic) < 5 / math.sqrt(50_000)


@pytest.mark.parametrize("dimension", [5, 6])
def test_coordinates_are_exchangeable_and_uncorrelated(dimension: int) -> None:
    """E z_i**2 = (d + 1) in units of the scale, since E r**2 = d (d + 1)."""
    vectors = radial_exponential(DeterministicBits(84), 100_000, dimension, SCALE) / SCALE
    moments = vectors.T @ vectors / len(vectors)
    fourth = (vectors**4).mean()
    assert np.all(np.abs(moments - (dimension + 1) * np.eye(dimension)) < 5 * math.sqrt(fourth / len(vectors)))


@pytest.mark.parametrize("scale", [0.3, 1.0, 4.0])
def test_one_dimension_is_rounded_laplace(scale: float) -> None:
    def chance(k: Array) -> Array:
        real = stats.laplace(scale=scale)
        return np.where(k == 0, 1 - 2 * real.sf(0.5), real.sf(np.abs(k) - 0.5) - real.sf(np.abs(k) + 0.5))

    assert chi_square(radial_exponential(DeterministicBits(85), 200_000, 1, scale)[:, 0], chance, 60) > ALARM


def test_two_dimensions_at_a_small_scale_fit_the_integral_over_each_cell() -> None:
    """The density exp(-r / s) / (2 pi s**2), summed over a fine grid in each unit square."""
    draws = radial_exponential(DeterministicBits(86), 200_000, 2, 0.8)
    fine = (np.arange(-1250, 1250) + 0.5) / 100
    density = np.exp(-np.hypot(fine[:, None], fine) / 0.8) / (2 * math.pi * 0.64) * 1e-4
    cells = density.reshape(25, 100, 25, 100).sum(axis=(1, 3))
    observed = np.histogram2d(draws[:, 0], draws[:, 1], bins=np.arange(-12.5, 13.5))[0]
    common = cells * len(draws) > 10
    expected = np.append(cells[common], 1 - cells[common].sum()) * len(draws)
    counts = np.append(observed[common], len(draws) - observed[common].sum())
    assert stats.chi2.sf(((counts - expected) ** 2 / expected).sum(), counts.size - 1) > ALARM


@pytest.mark.parametrize("scale", [1e-6, 0.7, 5.0, SCALE, 1.9 * 2**36, 2.0**44])
@pytest.mark.parametrize("dimension", [1, 2, 5, 8])
def test_fast_equals_slow_on_the_same_bits(scale: float, dimension: int, monkeypatch: pytest.MonkeyPatch) -> None:
    fast = radial_exponential(DeterministicBits(87), 12, dimension, scale)
    reals = radial._reals

    def unsure(*asked) -> ErrorBars:  # type: ignore[no-untyped-def]
        sure = reals(*asked)
        return ErrorBars(np.full_like(sure.value, np.nan), np.full_like(sure.value, np.inf))

    monkeypatch.setattr(radial, "_reals", unsure)
    assert np.array_equal(radial_exponential(DeterministicBits(87), 12, dimension, scale), fast)


@pytest.mark.parametrize("dimension", [1, 2, 7])
def test_error_bars_hold_the_real(dimension: int) -> None:
    """Rounded on a grid 2**40 times as fine, the slow path's answer lies within the fast path's bars."""
    layout = radial._Layout(dimension)
    words = DeterministicBits(88).words(40 * layout.words).reshape(40, -1).copy()
    words[:5, : layout.pairs] |= np.uint64(2**64 - 2**14)  # Gaussians near 0, where they are known worst
    words[5:10, 2 * layout.pairs :] |= np.uint64(2**64 - 2**14)  # and |h|
    bars = radial._reals(words, layout, 1024.0)
    bits = DeterministicBits(89)
    for row in range(40):
        exact = radial._settled(bits, words[row], layout, math.ldexp(1024.0, 40), list(range(dimension)))
        off = np.abs(np.ldexp(np.array(exact, dtype=np.float64), -40) - bars.value[row])
        assert np.all(off <= bars.error[row] + 2.0**-41)
        assert row < 10 or np.all(bars.error[row] < 1e-8)


def test_large_scales_are_settled_one_by_one() -> None:
    vectors = radial_exponential(DeterministicBits(90), 300, 2, 2.0**50) / 2.0**50
    assert stats.kstest(np.sqrt((vectors**2).sum(axis=1)), stats.gamma(2).cdf).pvalue > ALARM


def test_words_at_either_end_are_settled() -> None:
    for word in (0, 2**64 - 1):
        drawn = radial_exponential(ScriptedBits([word] * 3, [2**63 + 12345] * 200), 1, 1, 100.0)
        assert abs(int(drawn[0, 0])) < 100 * 128


def test_shapes_and_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    assert radial_exponential(DeterministicBits(91), 0, 3, 1.0).shape == (0, 3)
    monkeypatch.setattr(radial, "CHUNK", 10)
    drawn = radial_exponential(DeterministicBits(91), 11, 4, SCALE)
    assert drawn.shape == (11, 4)
    assert drawn.dtype == np.int64
    assert np.unique(drawn).size == 44


@pytest.mark.parametrize(
    ("count", "dimension", "scale"),
    [(-1, 2, 1.0), (1, 0, 1.0), (1, -2, 1.0), (1, 2, 0.0), (1, 2, math.nan), (1, 4, 2.0**51)],
)
def test_what_cannot_be_drawn_is_refused(count: int, dimension: int, scale: float) -> None:
    with pytest.raises(ParameterError):
        radial_exponential(DeterministicBits(1), count, dimension, scale)
