"""Where epsilon is large, a learner is nearly as good as its exact twin: nothing but noise stands between them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.conformance.walk import for_each
from tests.learners.twins import Compared, made, predictors, sets_of

ROOMS = ("anova", "bayes", "linear", "trees")
"""Rooms of `discreet.learners` whose learners are held to it."""
FITTED_LONG = {
    "RandomForestClassifier": "groups",
    "BoostedStumps": "careers",
    "QuantileRegressor": "amounts",
    "KernelSVC": "spheres",
    "BoostedTreesClassifier": "spheres",
    "BoostedTreesRegressor": "amounts",
}
"""Learners that take seconds: held to it on this set, on which they are nearest to the limit, and on others in long
trials."""
HELD = predictors(ROOMS)


def compared(kind: type[Any], name: str) -> Compared:
    first = made(name).scores(kind)
    if first.close:
        return first
    fits = [first, *(made(name).scores(kind) for _ in range(2))]
    return Compared(*(float(np.mean([getattr(one, score) for one in fits])) for score in ("ours", "exact")))


def check(kind: type[Any], names: tuple[str, ...]) -> None:
    found = {name: compared(kind, name) for name in names}
    behind = {name: both for name, both in found.items() if not both.close}
    assert not behind, f"{kind.__name__}: {behind}"


@for_each(HELD)
def test_at_a_large_epsilon_it_is_within_a_hundredth_of_its_twin(kind: type[Any]) -> None:
    """On made-up sets, with its defaults; the others are so many that chance moves a score by 0.003.

    Who is behind once is fitted twice more, with fresh noise, and the means are compared: forests vary by 0.001. (With
    other public trees they may be behind by 0.012.)
    """
    one = FITTED_LONG.get(kind.__name__)
    check(kind, sets_of(kind) if one is None else (one,))


@pytest.mark.slow
@for_each([kind for kind in HELD if kind.__name__ in FITTED_LONG])
def test_whoever_takes_long_is_so_on_every_set(kind: type[Any]) -> None:
    assert FITTED_LONG[kind.__name__] in sets_of(kind)
    check(kind, sets_of(kind))
