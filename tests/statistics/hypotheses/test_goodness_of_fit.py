"""Claims about the test of a law: see also the tests of chi squares."""

from __future__ import annotations

from discreet.core.budget import Budget
from discreet.statistics.hypotheses.goodness_of_fit import MISSED, goodness_of_fit
from tests.statistics.hypotheses.test_chi_square import WARD, people
from tests.statistics.trial import StatisticTrial

TRIAL = StatisticTrial(
    {"bins": 4}, extreme={"probabilities": [(1.0, 0.0, 0.0, 0.0), (1e-300, 1.0, 0.0, 0.0), {"x": 1e300}]}
)


def test_a_wrong_law_is_found_out() -> None:
    right = goodness_of_fit(people(4000, 1, Budget(1.0)), "ward", WARD, epsilon=1.0)
    wrong = goodness_of_fit(people(4000, 1, Budget(1.0)), "ward", epsilon=1.0)
    uniform = goodness_of_fit(people(4000, 1, Budget(1.0)), "age", bins=6, epsilon=1.0)
    assert wrong.p_value == 1 / 5000 + MISSED
    assert min(right.p_value, uniform.p_value) > 0.01
