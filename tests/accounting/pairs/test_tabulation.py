from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.accounting.pairs.pairs import AtomsPair, GaussianPair, LaplacePair, LossPair
from discreet.accounting.pairs.sampled_pairs import SubsetPair, addition, removal
from discreet.accounting.pairs.tabulation import TabulatedLoss, envelope, profile, table_above, table_below
from tests.accounting import profiles

EPSILONS = np.linspace(-2.0, 3.0, 41)


def delta_of(table: TabulatedLoss, epsilon: float) -> float:
    return table.infinity + float(table.masses @ -np.expm1(np.minimum(epsilon - table.losses, 0.0)))


def added(base: object, rate: float, epsilon: float) -> float:
    """H of (P, (1 - q) P + q Q) is 1 - e^eps + e^eps H of the swapped pair at -eps."""
    return 1 - math.exp(epsilon) + math.exp(epsilon) * profiles.removed(base, rate, -epsilon)


EXACT: list[tuple[LossPair, object]] = [
    (GaussianPair(1.2), lambda e: profiles.gaussian(1.2, e)),
    (GaussianPair(0.4), lambda e: profiles.gaussian(0.4, e)),
    (LaplacePair(0.8), lambda e: profiles.laplace(1 / 0.8, e)),
    (removal(GaussianPair(0.9), 0.1), lambda e: profiles.removed(lambda x: profiles.gaussian(0.9, x), 0.1, e)),
    (addition(GaussianPair(0.9), 0.1), lambda e: added(lambda x: profiles.gaussian(0.9, x), 0.1, e)),
    (removal(LaplacePair(1.5), 0.4), lambda e: profiles.removed(lambda x: profiles.laplace(1 / 1.5, x), 0.4, e)),
    (addition(LaplacePair(1.5), 0.4), lambda e: added(lambda x: profiles.laplace(1 / 1.5, x), 0.4, e)),
]


@pytest.mark.parametrize("origin", [0.0, 0.0123])
@pytest.mark.parametrize("step", [0.05, 0.01])
@pytest.mark.parametrize("case", range(len(EXACT)))
def test_the_true_profile_lies_between_the_tables(case: int, step: float, origin: float) -> None:
    pair, exact = EXACT[case]
    above = table_above(pair, step, math.log(1e-14), origin)
    below = table_below(pair, step, math.log(1e-14), origin)
    for epsilon in EPSILONS:
        true = exact(epsilon)  # type: ignore[operator]
        high, low = delta_of(above, epsilon), delta_of(below, epsilon)
        assert low <= true * (1 + 1e-12) + 1e-15
        assert true <= high * (1 + 1e-12) + 1e-15
        smooth = not isinstance(pair, LaplacePair) and pair.lattice is None
        assert high - true <= (step**2 if smooth else step / 8)  # atoms between two edges are worse
        assert true - low <= (step / 4 if smooth else step)


@pytest.mark.parametrize("rate", [0.05, 0.6])
def test_a_subset_pair_has_the_profile_of_its_theorem(rate: float) -> None:
    above = table_above(SubsetPair(GaussianPair(1.0), rate), 0.01, math.log(1e-14))
    for epsilon in EPSILONS:
        way = profiles.removed if epsilon >= 0 else added
        true = way(lambda x: profiles.gaussian(1.0, x), rate, epsilon)
        assert true - 1e-14 <= delta_of(above, epsilon) <= true + 1e-4


def test_losses_on_the_lattice_are_tabulated_without_loss() -> None:
    pair = AtomsPair.of_response(0.3, 0.001)
    for tabulate in (table_above, table_below):
        table = tabulate(pair, 0.1, -50.0, -0.3)
        assert delta_of(table, 0.05) == pytest.approx(
            0.001 + 0.999 * (math.exp(0.3) - math.exp(0.05)) / (1 + math.exp(0.3)), abs=1e-12
        )


def test_a_finer_step_never_loosens_by_more_than_rounding() -> None:
    pair = removal(GaussianPair(0.7), 0.2)
    for epsilon in (0.0, 0.5, 2.0):
        coarse, fine = (delta_of(table_above(pair, step, -40.0), epsilon) for step in (0.1, 0.05))
        assert fine <= coarse * (1 + 1e-12)


@given(
    st.lists(st.floats(0.001, 1.0), min_size=8, max_size=8),
    st.lists(st.floats(0.001, 1.0), min_size=8, max_size=8),
    st.floats(0.0, 0.01),
    st.sampled_from((1e-6, 0.3, 40.0, 720.0, 1e300)),
)
def test_the_envelope_is_above_all_of_its_tables_and_no_higher_at_the_lattice(
    one: list[float], other: list[float], infinity: float, step: float
) -> None:
    """Also where the ratio of two steps is beyond floats."""
    tables = []
    for masses, rest in ((one, infinity), (other, 0.0)):
        scaled = np.array(masses) / sum(masses) * (1 - rest)
        tables.append(TabulatedLoss(step, -2, scaled, rest, 0.0))
    found = envelope(tables)
    for epsilon in (found.losses[:, None] + step * np.array([0.0, 1 / 3, 2 / 3])).ravel():
        assert delta_of(found, epsilon) >= max(delta_of(table, epsilon) for table in tables) * (1 - 1e-12)
    for epsilon in found.losses:
        assert delta_of(found, epsilon) <= max(delta_of(table, epsilon) for table in tables) + 1e-12


def test_a_profile_is_the_sum_over_greater_losses() -> None:
    masses = np.array([0.2, 0.3, 0.1, 0.4])
    table = TabulatedLoss(0.5, -1, masses, 0.0, 0.0)
    assert profile(masses, 0.5, 0.0) == pytest.approx([delta_of(table, loss) for loss in table.losses])
