from __future__ import annotations

import math
import tracemalloc
from collections.abc import Callable
from decimal import Context, Decimal, localcontext

import numpy as np
import pytest
from scipy import stats

from discreet.core.grid import Array
from discreet.noise import rejection_table as module
from discreet.noise.deterministic import DeterministicBits
from discreet.noise.gaussian import DiscreteGaussianLaw, FlooredGaussianLaw
from discreet.noise.interval import Interval, Uniform
from discreet.noise.laplace import DiscreteLaplaceLaw, FlooredExponentialLaw, FlooredLaplaceLaw
from discreet.noise.rejection_table import IntegerLaw, RejectionTable, drawn, nearest, refinement, table_of
from tests.noise.fit import ALARM, ScriptedBits, chi_square

SCALES = [1e-6, 0.03, 0.7, 5.0, 31.99, 1.3 * 2**30, 1.9 * 2**36, 2.0**52]
FLOORED = [32.0, 45.3, 1.3 * 2**31, 2.0**53]
LAWS: list[IntegerLaw] = [
    *(law(scale) for scale in SCALES for law in (DiscreteLaplaceLaw, DiscreteGaussianLaw, FlooredExponentialLaw)),
    *(law(scale) for scale in FLOORED for law in (FlooredLaplaceLaw, FlooredGaussianLaw)),
]


def curve(law: IntegerLaw, k: int, u: float) -> Decimal:
    """The height of the curve, to 40 digits."""
    with localcontext(Context(prec=40)):
        return (-law.exact_exponent(k, Interval.of(u)).lo).exp()


@pytest.mark.parametrize("law", LAWS, ids=repr)
def test_strips_cover_the_curve_and_those_taken_untested_lie_under_it(law: IntegerLaw) -> None:
    """With levels that are whole and without gaps, rejection from the strips has exactly the law's weights."""
    table = RejectionTable.under(law)
    assert table.base.size == 2**16
    cells = np.unique(table.base[: -law.sides])
    assert cells.size == law.sides * table.cells
    assert np.all(np.diff(cells) == 1 << table.shift)
    assert cells[0] == (-table.cells << table.shift if law.sides == 2 else 0)
    tested = table.base[table.sure : table.sure + table.level.size]
    above = table.level * table.height > 1.5  # never under the curve, there to fill the table
    for cell in cells[:: max(1, cells.size // 60)].tolist() + [-(1 << table.shift)] * (law.sides - 1) + [0]:
        under = int(np.count_nonzero(table.base[: table.sure] == cell))
        levels = np.sort(table.level[: -law.sides][(tested[: -law.sides] == cell) & ~above[: -law.sides]])
        assert np.array_equal(levels, np.arange(under, under + levels.size))
        ends = curve(law, cell, 0.0), curve(law, cell + (1 << table.shift) - 1, 1.0)
        assert under * Decimal(table.height) <= min(ends)
        assert (under + levels.size) * Decimal(table.height) >= max(ends)


@pytest.mark.parametrize("law", LAWS, ids=repr)
def test_the_tail_starts_below_its_blocks_and_falls_faster(law: IntegerLaw) -> None:
    table = RejectionTable.under(law)
    start, block = table.cells << table.shift, 1 << table.block
    for i in range(12):
        height = Decimal(table.height) * (1 << table.shift) / block / 2 ** (i + 1)
        assert curve(law, start + i * block, 0.0) <= height
        if law.sides == 2:
            assert curve(law, ~(start + i * block), 1.0) <= height


@pytest.mark.parametrize("law", LAWS, ids=repr)
def test_most_draws_need_no_test(law: IntegerLaw) -> None:
    assert RejectionTable.under(law).sure > 0.93 * 2**16


@pytest.mark.parametrize("law", LAWS, ids=repr)
def test_a_law_falls_away_from_zero_on_both_sides(law: IntegerLaw) -> None:
    words = DeterministicBits(4).words(400).astype(np.float64) * 2.0**-64
    k = np.sort(np.floor(words[:200] * (3 * law.scale + 5)))
    u = words[200:]
    for side in (k, -1.0 - k)[: law.sides]:
        assert np.all(np.diff(law.exponent(side, 0.0)) >= 0)
        inner, outer = law.exponent(side, 0.0), law.exponent(side, 1.0)
        between = law.exponent(side, u)
        assert np.all((np.minimum(inner, outer) <= between) & (between <= np.maximum(inner, outer)))
    assert float(law.exponent(np.zeros(1), 0.0)[0]) == 0.0
    assert float(law.exponent(np.array([law.reach(9.0)]), 0.0)[0]) == pytest.approx(9.0)


@pytest.mark.parametrize("law", LAWS, ids=repr)
def test_float64_is_as_close_to_the_curve_as_the_error_bound_says(law: IntegerLaw) -> None:
    words = DeterministicBits(5).words(300).astype(np.float64) * 2.0**-64
    k = np.floor((words[:150] * 2 - (law.sides - 1)) * law.reach(12.0))
    fast = np.exp(-law.exponent(k, words[150:]))
    for k_i, u_i, fast_i in zip(k.tolist(), words[150:].tolist(), fast.tolist(), strict=True):
        assert abs(Decimal(fast_i) - curve(law, int(k_i), u_i)) < Decimal(2) ** -48


@pytest.mark.parametrize("law", LAWS, ids=repr)
def test_fast_equals_slow_on_the_same_bits(law: IntegerLaw, monkeypatch: pytest.MonkeyPatch) -> None:
    """Proposals of doubtful strips and tails alone, each settled in float64 and in multi-precision."""
    table = table_of(law)
    choice = DeterministicBits(6)
    doubtful = table.sure + (choice.words(250) % np.uint64(table.base.size - table.sure)).astype(np.int64)
    doubtful[-30:] = table.base.size - 1 - np.arange(30) % law.sides
    low = choice.words(250) >> np.uint64(63 - table.shift) >> np.uint64(1)
    outcomes = []
    for error in (module.ERROR, 1e9):
        monkeypatch.setattr(module, "ERROR", error)
        k = table.base[doubtful] + low.astype(np.int64)
        outcomes.append((table._kept(DeterministicBits(7), doubtful, k), k))
    assert np.array_equal(outcomes[0][0], outcomes[1][0])
    assert np.array_equal(outcomes[0][1], outcomes[1][1])
    assert not outcomes[0][0].all()


def test_fast_equals_slow_through_the_whole_sampler(monkeypatch: pytest.MonkeyPatch) -> None:
    for law in (
        DiscreteLaplaceLaw(2.0),
        FlooredGaussianLaw(1.3 * 2**31),
        FlooredExponentialLaw(1.9 * 2**36),
    ):
        fast = drawn(DeterministicBits(8), law, (3000,))
        monkeypatch.setattr(module, "ERROR", 1e9)
        assert np.array_equal(drawn(DeterministicBits(8), law, (3000,)), fast)
        monkeypatch.undo()


def test_a_point_that_64_bits_cannot_tell_from_the_curve_is_settled_by_the_next_ones() -> None:
    law = DiscreteGaussianLaw(5.0)
    table = RejectionTable.under(law)
    exact = curve(law, 7, 0.0)
    level = int(exact / Decimal(table.height))
    with localcontext(Context(prec=40)):
        known = int((exact / Decimal(table.height) - level) * 2**64)
    for following, under in ((0, True), (2**64 - 1, False)):
        bits = ScriptedBits([], [following] * 10)
        point, other = Uniform(bits, known), Uniform(bits, 1)
        assert table._under(7, float(level), table.height, point, other) is under
        assert point.width >= 128


def test_a_tail_is_proposed_block_by_block() -> None:
    table = RejectionTable.under(DiscreteLaplaceLaw(40.0))
    start = table.cells << table.shift
    first = math.ldexp(table.height, table.shift - 1 - table.block)
    assert table.block == 6
    assert table._tail(ScriptedBits([], [1 << 63, 5]), below=False) == (start + 5, first)
    assert table._tail(ScriptedBits([], [1 << 61, 5]), below=True) == (~(start + 2 * 64 + 5), first / 4)
    assert table._tail(ScriptedBits([], [0, 1 << 63, 5]), below=False) == (start + 64 * 64 + 5, math.ldexp(first, -64))


def test_a_draw_beyond_int64_is_put_at_its_limit() -> None:
    table = RejectionTable.under(DiscreteLaplaceLaw(2.0**52))
    far = table._tail(ScriptedBits([], [0] * 40 + [1, 5]), below=False)
    assert far[0] == 2**62
    assert table._tail(ScriptedBits([], [0] * 40 + [1, 5]), below=True)[0] == -(2**62) - 1


def chance(law: IntegerLaw) -> Callable[[Array], Array]:
    whole = np.exp(-law.exponent(np.arange(-400.0 * (law.sides - 1), 400.0), 0.0)).sum()
    return lambda k: np.where((k < 0) & (law.sides == 1), 0.0, np.exp(-law.exponent(np.abs(k), 0.0)) / whole)


def test_tails_carry_their_weight(monkeypatch: pytest.MonkeyPatch) -> None:
    """With cells that end early, so that tails are common, the law stays the same."""
    monkeypatch.setattr(module, "STRIPS", 1 << 6)
    for law in (
        DiscreteLaplaceLaw(2.0),
        DiscreteGaussianLaw(2.0),
        FlooredExponentialLaw(2.0),
    ):
        draws = np.empty(400_000, np.int64)
        table = RejectionTable.under(law)
        table.fill(DeterministicBits(9), draws)
        assert np.count_nonzero(np.abs(draws) >= table.cells) > 20
        assert chi_square(draws, chance(law), 40) > ALARM


@pytest.mark.parametrize("scale", [1e-6, 0.3, 0.5, 1.0, 31.0, 1e6])
def test_rounding_a_refined_draw_is_rounding_the_real(scale: float) -> None:
    finer = refinement(scale)
    assert finer >= 1
    assert math.ldexp(scale, finer) >= 32
    reals = (DeterministicBits(1).words(1000).astype(np.float64) * 2.0**-64 - 0.5) * 6 * scale
    floors = np.floor(np.ldexp(reals, finer)).astype(np.int64)
    assert np.array_equal(nearest(floors, finer), np.floor(reals + 0.5))


@pytest.mark.parametrize("law", [DiscreteLaplaceLaw(1.3 * 2**30), FlooredGaussianLaw(1.3 * 2**31)], ids=repr)
def test_a_million_draws_take_little_more_memory_than_they_fill(law: IntegerLaw) -> None:
    drawn(DeterministicBits(1), law, (1,))
    tracemalloc.start()
    drawn(DeterministicBits(1), law, (1_000_000,))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2 * 8_000_000


@pytest.mark.slow
@pytest.mark.parametrize(
    ("law", "real"),
    [
        (FlooredLaplaceLaw(1.3 * 2**31), "laplace"),
        (DiscreteLaplaceLaw(1.0 * 2**30), "laplace"),
        (FlooredGaussianLaw(1.9 * 2**31), "norm"),
        (DiscreteGaussianLaw(1.3 * 2**30), "norm"),
        (FlooredExponentialLaw(1.3 * 2**30), "expon"),
    ],
    ids=repr,
)
def test_fifty_million_draws_fit_the_real_law(law: IntegerLaw, real: str) -> None:
    counts = np.zeros(9973)
    edges = getattr(stats, real).ppf(np.arange(1, counts.size) / counts.size)
    bits = DeterministicBits(10)
    for _ in range(50):
        draws = drawn(bits, law, (1_000_000,)) / law.scale
        counts += np.bincount(np.searchsorted(edges, draws), minlength=counts.size)
    assert stats.chisquare(counts).pvalue > ALARM


def test_blocks_and_chunks_do_not_show(monkeypatch: pytest.MonkeyPatch) -> None:
    law = DiscreteLaplaceLaw(3.0)
    monkeypatch.setattr(module, "CHUNK", 64)
    monkeypatch.setattr(module, "BLOCK", 1000)
    assert chi_square(drawn(DeterministicBits(3), law, (20_000,)), chance(law), 40) > ALARM
