"""How streams read values: shapes of arrays are public, and whatever else has no shape of its own."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from discreet.core.errors import ParameterError
from discreet.mechanisms.additive.laplace import Laplace
from discreet.sequential.counters.tree_counter import TreeCounter
from discreet.sequential.reading import (
    contexts_of,
    of_each_run,
    places_of,
    reward_of,
    rewards_of,
    sample_of,
    update_of,
    values_of,
)
from tests.sequential.trial import opened

ODD: list[Any] = ["?", "", None, [], {}, 3j, object(), 10**400, [[1.0]], np.timedelta64(5, "s")]


def same(found: Any, expected: Any) -> None:
    np.testing.assert_array_equal(found, np.asarray(expected, np.float64), strict=True)


def test_an_update_has_the_shape_of_its_counter_whatever_is_given() -> None:
    for odd in ODD:
        same(update_of(odd, 1), math.nan)
        same(update_of(odd, 2), [math.nan, math.nan])
        same(update_of([odd, 0.5], 2), [math.nan, 0.5])
    same(update_of([0.5], 1), math.nan)
    same(update_of(np.array([0.5]), 1), [0.5])
    counter = opened(TreeCounter(4, Laplace(1.0), size=2))
    with pytest.raises(ParameterError, match=r"updates of shape \(1, 3\)"):
        counter.update(np.zeros(3))
    assert counter.update([0.0, 1.0, 2.0]).shape == (2,)


def test_a_list_is_the_samples_of_several_people_where_it_may_be() -> None:
    for odd in ODD:
        same(sample_of([1.0, odd, 3.0], (), several=True), [1.0, math.nan, 3.0])
        same(sample_of([1.0, odd], (), several=False), math.nan)
        same(sample_of([[1.0, 2.0], odd, [3.0, odd]], (2,), several=True), [[1, 2], [math.nan] * 2, [3, math.nan]])
        same(sample_of([1.0, odd], (2,), several=True), [1.0, math.nan])
    same(sample_of([], (), several=True), [])


def test_places_that_are_none_are_marked() -> None:
    assert places_of("a", [0, 1, 2, -1, 0.5, *ODD, "1", True], 2).tolist() == [0, 1, -1, -1, -1] + [-1] * 10 + [1, 1]
    same(values_of("a", [1.0, *ODD]), [1.0] + [math.nan] * 10)
    same(values_of("a", {"a": 1}), [math.nan])
    same(values_of("a", np.float32(0.5)), [0.5])
    with pytest.raises(ParameterError, match="values of shape"):
        values_of("a", np.ones((2, 2)))


def test_rewards_have_the_shape_of_the_arms_or_of_the_runs() -> None:
    for odd in ODD:
        same(reward_of(odd, 0), math.nan)
        same(reward_of([odd, 1.0], [0, 1]), [math.nan, 1.0])
        same(of_each_run("a", odd, None), math.nan)
        same(of_each_run("a", [odd, 1.0], 2), [math.nan, 1.0])
        same(of_each_run("a", [odd, [1.0, 2.0]], 2, (2,)), [[math.nan] * 2, [1.0, 2.0]])
    same(rewards_of([1.0, "?"]), [1.0, math.nan])
    for given in (1.0, [1.0], np.ones(3), "ab"):
        with pytest.raises(ParameterError, match="numbers of shape"):
            of_each_run("a", given, 2)


def test_a_context_that_cannot_be_read_is_all_zeros() -> None:
    for odd in ODD:
        same(contexts_of([[1.0, 2.0], odd, [odd, 2.0]], None, 2), [[1, 2], [0, 0], [0, 0]])
        same(contexts_of([[[1.0, 2.0], odd], [[3.0, 4.0], odd]], 2, 2), [[[1, 2], [0, 0]], [[3, 4], [0, 0]]])
    assert contexts_of("?", None, 2).shape == ()
