from __future__ import annotations

import math
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import ndtr

from discreet.accounting.pairs.pairs import UNIT, AtomsPair, GaussianPair, LaplacePair, LossPair
from discreet.accounting.pairs.sampled_pairs import MixturePair, SubsetPair, SwappedPair, addition, removal
from discreet.core.budget import Budget
from discreet.core.errors import BudgetExceeded
from discreet.core.events import DiscreteLoss, LossTable, Repeated, Sampled
from discreet.ledger.memory_ledger import MemoryLedger
from tests.accounting import profiles

mp = pytest.importorskip("mpmath")

PAIRS: dict[str, LossPair] = {
    "gaussian": GaussianPair(1.3),
    "laplace": LaplacePair(0.7),
    "response": AtomsPair.of_response(0.9, 0.0),
    "approximate response": AtomsPair.of_response(0.9, 0.01),
    "sampled gaussian": removal(GaussianPair(0.8), 0.05),
    "sampled gaussian, added": addition(GaussianPair(0.8), 0.05),
    "sampled response, added": addition(AtomsPair.of_response(1.0, 0.02), 0.3),
    "subset of gaussian": SubsetPair(GaussianPair(1.0), 0.2),
    "subset of laplace": SubsetPair(LaplacePair(1.0), 0.2),
}


def test_the_normal_law_is_as_precise_as_the_error_bounds_assume() -> None:
    choose = random.Random(2)
    for _ in range(600):
        x = choose.uniform(0, 37)
        with mp.workdps(40):
            exact = mp.erfc(mp.mpf(x) / mp.sqrt(2)) / 2
            relative = abs(float(mp.mpf(float(ndtr(-x))) / exact - 1))
        assert relative < UNIT * (8 + 3 * x * x), x


@pytest.mark.parametrize("name", PAIRS)
def test_cells_hold_all_of_both_laws(name: str) -> None:
    pair = PAIRS[name]
    cells = pair.cells(np.linspace(-3, 3, 61))
    assert cells.p.sum() == pytest.approx(1.0, abs=1e-12)
    assert cells.q.sum() == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("name", PAIRS)
def test_the_ratio_of_masses_in_a_cell_is_between_its_edges(name: str) -> None:
    edges = np.linspace(-2, 2, 81)
    cells = PAIRS[name].cells(edges)
    p, q = cells.p[1:-1], cells.q[1:-1]
    kept = p > 1e-9
    ratios = np.log(p[kept] / q[kept])
    assert (ratios >= edges[:-1][kept] - 1e-6).all()
    assert (ratios <= edges[1:][kept] + 1e-6).all()


@pytest.mark.parametrize("name", PAIRS)
def test_little_lies_beyond_the_reach(name: str) -> None:
    reach = PAIRS[name].reach(math.log(1e-9))
    cells = PAIRS[name].cells(np.array([reach.low - 1e-6, reach.high + 1e-6]))
    infinite = 0.01 if name == "approximate response" else 0.0
    assert cells.p[-1] <= infinite + 1e-9
    assert cells.p[0] <= 1e-9


@pytest.mark.parametrize("edge", [-0.6, -0.1, 0.0, 0.3, 0.65])
def test_laplace_cells_are_those_of_the_density(edge: float) -> None:
    x = (1 - edge / 0.7) / 2  # the loss of Laplace(0) against Laplace(1) is (1 - 2x) / m inside
    cells = LaplacePair(0.7).cells(np.array([edge]))
    assert cells.p[1] == pytest.approx(1 - math.exp(-x * 0.7) / 2, abs=1e-12)
    assert cells.q[1] == pytest.approx(math.exp(-(1 - x) * 0.7) / 2, abs=1e-12)


def test_swapping_twice_changes_nothing() -> None:
    edges = np.linspace(-1, 1, 21)
    pair = MixturePair(LaplacePair(1.0), 0.3)
    once, twice = SwappedPair(pair).cells(edges), SwappedPair(SwappedPair(pair)).cells(edges)
    assert np.allclose(once.p.sum(), 1.0)
    assert np.allclose(twice.p, pair.cells(edges).p)


def test_a_table_with_missing_mass_counts_it_as_infinite() -> None:
    pair = AtomsPair.of_table(0.5, LossTable(0, (0.5, 0.5 - 1e-10)))
    assert pair.p_alone == pytest.approx(1e-10, rel=1e-3)
    assert AtomsPair.of_table(0.5, LossTable(0, (0.5, 0.5 - 1e-16))).p_alone == 0


def test_a_table_of_infinite_loss_alone_has_a_price_that_nobody_can_pay() -> None:
    """Not an error of arithmetic, which an event that somebody sends would make of everybody who prices it."""
    everything = LossTable(0, (0.0,), 1.0)
    pair = AtomsPair.of_table(0.5, everything)
    assert (len(pair.losses), pair.p_alone, pair.q_alone) == (0, 1.0, 1.0)
    event = DiscreteLoss(0.5, everything, everything)
    for asked in (event, Repeated(event, 3), Sampled(event, 0.5)):
        with pytest.raises(BudgetExceeded):
            MemoryLedger(Budget(50.0, 0.4)).reserve(asked, "all", request="all")


@given(
    st.lists(st.floats(-1.0, 1.0), min_size=12, max_size=12),
    st.floats(0.02, 0.9),
    st.floats(-1.5, 1.5),
    st.integers(1, 2),
)
def test_no_release_from_a_sample_of_fixed_size_beats_the_subset_pair(
    tilts: list[float], rate: float, epsilon: float, times: int
) -> None:
    """A, B, C: the release without the unit, with it, with its replacement, pairwise pure with the same epsilon."""
    laws = np.exp(0.25 * np.array(tilts).reshape(3, 4))
    laws /= laws.sum(axis=1, keepdims=True)
    worst = float(np.log(laws[:, None, :] / laws[None, :, :]).max())
    p, q = (1 - rate) * laws[0] + rate * laws[1], (1 - rate) * laws[0] + rate * laws[2]
    real = profiles.of_atoms(profiles.product(p, times), profiles.product(q, times), epsilon)

    dominating = SubsetPair(AtomsPair.of_response(worst, 0.0), rate)
    losses = [math.log1p(rate * math.expm1(worst)), 0.0, -math.log1p(rate * math.expm1(worst))]
    high = dominating.cells(np.array([0.0, losses[0] / 2]))
    low = dominating.cells(np.array([losses[2] / 2, 0.0]))
    masses_p = [high.p[-1], 1 - high.p[-1] - low.p[0], low.p[0]]
    masses_q = [high.q[-1], 1 - high.q[-1] - low.q[0], low.q[0]]
    bound = profiles.of_atoms(profiles.product(masses_p, times), profiles.product(masses_q, times), epsilon)
    assert real <= bound + 1e-12


@pytest.mark.parametrize("epsilon", [-0.3, -0.05, 0.05, 0.3])
def test_no_gaussian_release_from_a_sample_of_fixed_size_beats_the_subset_pair(epsilon: float) -> None:
    rate, x = 0.3, np.linspace(-12, 13, 200001)
    edges = np.arange(-2000, 2001, dtype=np.float64) * 1e-3
    cells = SubsetPair(GaussianPair(1.0), rate).cells(edges)
    bound = float(np.maximum(cells.p - math.exp(epsilon) * cells.q, 0).sum())
    for without, present, replaced in (
        (0.0, 1.0, 0.0),
        (0.0, 1.0, 0.5),
        (0.3, 1.0, 0.0),
        (1.0, 1.0, 0.0),
        (0.5, 1.0, 0.0),
    ):
        a, b, c = (np.exp(-((x - mean) ** 2) / 2) / math.sqrt(2 * math.pi) for mean in (without, present, replaced))
        gap = (1 - rate) * a + rate * b - math.exp(epsilon) * ((1 - rate) * a + rate * c)
        assert np.maximum(gap, 0).sum() * (x[1] - x[0]) <= bound + 1e-4
