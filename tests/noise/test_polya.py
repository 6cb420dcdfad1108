"""Polya noise: its law, its sums, and that float64 decides only what it knows."""

from __future__ import annotations

import math
from decimal import Context, Decimal, localcontext

import numpy as np
import pytest
from scipy import stats

from discreet.core.errors import ParameterError
from discreet.core.grid import Array
from discreet.noise import polya as module
from discreet.noise.deterministic import DeterministicBits
from discreet.noise.error_bars import ErrorBars, exponentials
from discreet.noise.polya import _ratios, _Walks, polya
from tests.noise.fit import ALARM, ScriptedBits, chi_square


@pytest.mark.parametrize("scale", [1e-3, 0.05, 0.3, 2.0, 9.7])
def test_draws_fit_the_negative_binomial_law(scale: float) -> None:
    for parts in (1, 2, 3, 10, 1000):

        def chance(k: Array, parts: int = parts) -> Array:
            return np.asarray(stats.nbinom.pmf(k, 1 / parts, -math.expm1(-1 / scale)), np.float64)

        assert chi_square(polya(DeterministicBits(81), 200_000, scale, parts), chance, 100) > ALARM


@pytest.mark.parametrize("scale", [33.3 * 2**10, 1.3 * 2**30, 1.9 * 2**35])
@pytest.mark.parametrize("parts", [2, 5, 30])
def test_draws_at_large_scales_fit_it_at_every_magnitude(scale: float, parts: int) -> None:
    """Classes whose ends grow by a fifth, from 0 to far in the tail."""
    draws = polya(DeterministicBits(82), 100_000, scale, parts)
    ends = np.unique(np.floor(1.2 ** np.arange(math.log(9 * scale) / math.log(1.2))) - 1)
    below = np.concatenate([[0.0], stats.nbinom.cdf(ends, 1 / parts, -math.expm1(-1 / scale)), [1.0]])
    expected = np.diff(below) * draws.size
    observed = np.bincount(np.searchsorted(ends, draws), minlength=expected.size).astype(np.float64)
    common = expected > 10
    expected = np.append(expected[common], expected[~common].sum())
    observed = np.append(observed[common], observed[~common].sum())
    assert expected.size > 35
    assert stats.chi2.sf(((observed - expected) ** 2 / expected).sum(), expected.size - 1) > ALARM


@pytest.mark.parametrize(("scale", "parts"), [(0.7, 3), (3.0, 2), (12.5, 8)])
def test_so_many_parts_add_up_to_a_geometric_variable(scale: float, parts: int) -> None:
    def chance(k: Array) -> Array:
        return np.where(k < 0, 0.0, -np.expm1(-1 / scale) * np.exp(-np.maximum(k, 0) / scale))

    sums = polya(DeterministicBits(83), (100_000, parts), scale, parts).sum(axis=1)
    assert chi_square(sums, chance, 150) > ALARM


@pytest.mark.parametrize(("scale", "parts"), [(1e-3, 2), (0.5, 2), (20.0, 3), (1.3 * 2**30, 5), (2.0**20, 1000)])
def test_fast_equals_slow_on_the_same_bits(scale: float, parts: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "COMPANY", 1)
    fast = polya(DeterministicBits(84), 100, scale, parts)
    monkeypatch.setattr(module, "ERROR", 1e9)
    assert np.array_equal(polya(DeterministicBits(84), 100, scale, parts), fast)


def test_error_bars_hold_the_ratio() -> None:
    """Times near 0, where 1 - exp(-s) cancels, and up to the end of the largest scale."""
    words = DeterministicBits(85).words(600).copy().reshape(3, 200)
    words[0, :100] |= np.uint64(2**64 - 2**30)
    words[1, :50] |= np.uint64(2**64 - 2**20)
    waits = [exponentials(words[0]), exponentials(words[1])]
    parts = np.repeat([2.0, 5.0, 2.0, 5.0], 50)
    value = parts * waits[0].value + parts * waits[1].value
    error = parts * (waits[0].error + waits[1].error) + 2.0**-53 * value
    inside = value < 36
    ratio = _ratios(ErrorBars(value, error), exponentials(words[2]))
    assert np.median(ratio.error[inside] / (1 + ratio.value[inside])) < 2.0**-44
    with localcontext(Context(prec=60)):
        for i in np.flatnonzero(inside):
            for more in (0, 1):
                first, second, level = (Decimal(int(word) + more) / 2**64 for word in words[:, i])
                if first * second < 1 and level < 1:
                    exact = level.ln() / (1 - (first * second) ** int(parts[i])).ln()
                    off = abs(Decimal(ratio.value[i]) - exact)
                    assert off <= Decimal(ratio.error[i])


@pytest.mark.parametrize("scale", [1e-6, 0.1, 1.0, 2.0**30, 2.0**52])
def test_the_end_of_the_walk_is_known_within_its_bar(scale: float) -> None:
    end = _Walks(DeterministicBits(1), scale, 2)._float_end()
    with localcontext(Context(prec=1000)):
        exact = -(1 - (-1 / Decimal(scale)).exp()).ln() if scale > 1e-3 else Decimal(0)
        assert abs(Decimal(float(end.value)) - exact) <= Decimal(float(end.error))
    assert float(end.error) <= 2.0**-48 * float(end.value) + 1e-37


def test_a_word_at_the_end_of_the_walk_is_settled_by_the_next_bits() -> None:
    """The wait that ends at L exactly lies within one word; the bits after it tell on which side."""
    scale, parts = 1.0, 2
    with localcontext(Context(prec=60)):
        edge = (1 - Decimal(-1).exp()).sqrt() * 2**64  # exp(-wait) there
        word, rest = int(edge), edge - int(edge)
        over, under = int((rest + Decimal("1e-9")) * 2**64), int((rest - Decimal("1e-9")) * 2**64)
    for bits, inside in ((over, True), (under, False)):
        walks = _Walks(ScriptedBits([word], [bits]), scale, parts)
        time = walks._waited(np.array([0]), ErrorBars(np.zeros(1), np.zeros(1)))
        assert walks._inside(np.array([0]), time, walks._float_end())[0] == inside
        assert walks._known(0)[0].width == 128  # what was drawn stays drawn


def test_words_of_zeros_and_ones_are_settled() -> None:
    walks = _Walks(ScriptedBits([0, 2**64 - 1], [2**63] * 40), 5.0, 2)
    time = walks._waited(np.arange(2), ErrorBars(np.zeros(2), np.zeros(2)))
    assert walks._inside(np.arange(2), time, walks._float_end()).tolist() == [False, True]
    walks = _Walks(ScriptedBits([2**63, 2**63, 0, 2**64 - 1], [2**63] * 40), 5.0, 2)
    time = walks._waited(np.arange(2), ErrorBars(np.zeros(2), np.zeros(2)))
    large, small = walks._jumps(np.arange(2), time)
    assert large > 64 * math.log(2) / -math.log(0.75)
    assert small == 1


def test_shapes_types_and_the_single_part() -> None:
    assert polya(DeterministicBits(1), (2, 3), 5.0, 4).shape == (2, 3)
    assert polya(DeterministicBits(1), 0, 5.0, 4).shape == (0,)
    for parts in (1, 2, 1 << 20):
        draws = polya(DeterministicBits(1), 40_000, 2.0**30, parts)
        assert draws.dtype == np.int64
        assert draws.min() >= 0


@pytest.mark.parametrize(
    ("size", "scale", "parts", "match"),
    [
        (3, 0.0, 2, "scale"),
        (3, math.nan, 2, "scale"),
        (3, 2.0**53, 2, "scale"),
        (-1, 1.0, 2, "size"),
        (3, 1.0, 0, "parts"),
        (3, 1.0, 2**20 + 1, "parts"),
    ],
)
def test_requests_without_an_answer_are_refused(size: int, scale: float, parts: int, match: str) -> None:
    with pytest.raises(ParameterError, match=match):
        polya(DeterministicBits(1), size, scale, parts)
