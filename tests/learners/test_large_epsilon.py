"""Where epsilon is large, a learner is nearly as good as its exact twin: nothing but noise stands between them."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.conformance.walk import for_each
from tests.learners.twins import Compared, made, predictors, sets_of

ROOMS = ("bayes", "linear", "trees")
"""Rooms of `discreet.learners` whose learners are held to it."""
NOT_HELD = ("AdditiveRegressor", "KernelSVC")
"""Known to fall short: the one is stiff where functions are straight or tails heavy; the other has as many random waves
for ten features as for two, where its own room holds it to an exact kernel."""


def compared(kind: type[Any], name: str) -> Compared:
    first = made(name).scores(kind)
    if first.close:
        return first
    fits = [first, *(made(name).scores(kind) for _ in range(2))]
    return Compared(*(float(np.mean([getattr(one, score) for one in fits])) for score in ("ours", "exact")))


@for_each([kind for kind in predictors(ROOMS) if kind.__name__ not in NOT_HELD])
def test_at_a_large_epsilon_it_is_within_a_hundredth_of_its_twin(kind: type[Any]) -> None:
    """On made-up sets, with its defaults; the others are so many that chance moves a score by 0.003.

    Who is behind once is fitted twice more, with fresh noise, and the means are compared: forests vary by 0.001. (With
    other public trees they may be behind by 0.012.)
    """
    found = {name: compared(kind, name) for name in sets_of(kind)}
    behind = {name: both for name, both in found.items() if not both.close}
    assert not behind, f"{kind.__name__}: {behind}"
