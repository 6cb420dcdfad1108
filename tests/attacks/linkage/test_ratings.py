"""Ratings keep the last of each user and item, and refuse what is none."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from discreet.attacks import Ratings
from discreet.core.errors import ParameterError

READ_ELSEWHERE = {"Ratings": "what an adversary has in hand is refused whole where it is odd: no record is protected"}
"""Why odd values are not handed over to these: see `tests/conformance/test_odd_values.py`."""


def test_of_many_ratings_of_one_item_by_one_user_the_last_counts() -> None:
    rng = np.random.default_rng(4)
    users, items, values = rng.integers(0, 9, 500), rng.integers(0, 7, 500), rng.integers(1, 6, 500)
    last = {(what, who): value for who, what, value in zip(users, items, values, strict=True)}
    kept = Ratings.of(users, items, values)
    pairs = list(zip(kept.items, kept.users, strict=True))
    assert pairs == sorted(last)
    assert kept.values.tolist() == [last[pair] for pair in pairs]
    assert Ratings.of([0, 0, 0], [1, 1, 0], [2, 5, 3]).values.tolist() == [3.0, 5.0]


def test_what_is_no_rating_is_refused() -> None:
    wrong: list[Callable[[], Ratings]] = [
        lambda: Ratings.of([0, 1], [0]),
        lambda: Ratings.of([-1], [0]),
        lambda: Ratings.of([0.5], [0]),
        lambda: Ratings.of([0], [0], ["<b>five"]),
        lambda: Ratings.of([3], [0], people=2),
    ]
    for make in wrong:
        with pytest.raises(ParameterError, match="Nothing was released or spent"):
            make()
