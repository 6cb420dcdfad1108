"""Weights of classes: none above one, in proportion to what is given or to the inverse of noisy counts."""

from __future__ import annotations

import math

import numpy as np
import pytest

from discreet.core.errors import ParameterError
from discreet.learners.linear.class_weights import WeightedClasses, given_weights


def test_the_greatest_weight_is_one_and_only_proportions_matter() -> None:
    found = WeightedClasses.of(np.array([900.0, 100.0]), 1.0, given_weights("fit", {"b": 30.0, "a": 10.0}, ("a", "b")))
    np.testing.assert_allclose(found.weights, [1 / 3, 1.0])
    np.testing.assert_allclose(found.shares, [0.75, 0.25], atol=1e-3)
    assert found.kept == pytest.approx(0.4, abs=1e-3)


def test_balanced_classes_have_equal_shares() -> None:
    found = WeightedClasses.of(np.array([700.0, 200.0, 100.0]), 0.0, given_weights("fit", "balanced", ("a", "b", "c")))
    np.testing.assert_allclose(found.shares, 1 / 3)
    np.testing.assert_allclose(found.weights, [1 / 7, 1 / 2, 1.0])


def test_counts_that_are_lost_in_noise_say_nothing() -> None:
    found = WeightedClasses.of(np.array([-300.0, 420.0]), 500.0, np.ones(2))
    np.testing.assert_allclose(found.shares, 0.5, atol=0.02)


def test_noisy_counts_of_two_classes_are_believed_as_far_as_shares_vary() -> None:
    """A share of two classes of which nothing is known has a variance of 1/12."""
    found = WeightedClasses.of(np.array([1000.0, 0.0]), 1000.0 / math.sqrt(12), np.ones(2))
    np.testing.assert_allclose(found.shares[0], 0.5 + 0.5 * 0.5 * (1 - 1 / 3), atol=1e-9)


def test_what_is_no_weight_of_a_class_is_refused() -> None:
    for wrong in (
        "equal",
        [1.0, 2.0],
        {"c": 1.0},
        {"a": 0.0},
        {"a": -1.0},
        {"a": float("nan")},
        {"a": True},
        {"a": None},
    ):
        with pytest.raises(ParameterError, match="class_weight"):
            given_weights("fit", wrong, ("a", "b"))
