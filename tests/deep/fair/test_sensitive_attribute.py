"""Groups and classes: each value is read by itself."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.core.budget import Budget
from discreet.core.errors import ParameterError
from discreet.deep.fair.fair_classifier import FairClassifier
from discreet.deep.fair.sensitive_attribute import SensitiveAttribute, checked_groups, coded
from tests.deep.asked import view_of
from tests.trust.holding import MARK, HolderTrial

TRIAL = HolderTrial(
    lambda: SensitiveAttribute([f"g{MARK:.0f}"] * 9, [f"g{place}" for place in range(10_000)], Budget(1.0))
)


def test_one_odd_value_leaves_the_others_in_their_groups() -> None:
    for odd in ("?", None, 2j, [1], {}, object(), 10**400, 7):
        assert coded([0, 1, odd, 1.0, "0"], (0, 1)).tolist() == [0, 1, -1, 1, 0]
        assert coded(["f", odd, "m"], ("f", "m")).tolist() == [0, -1, 1]
        found = SensitiveAttribute([True, odd, False], (False, True), Budget(1.0))
        assert view_of(found).codes.tolist() == [1, -1, 0]
    assert coded(np.array([1, 0, 5]), (0, 1)).tolist() == [1, 0, -1]


def test_groups_keep_their_own_types_and_their_number() -> None:
    assert checked_groups("a", (1, "x")) == (1, "x")
    for wrong in (("a",), ("a", "a"), None):
        with pytest.raises(ParameterError):
            checked_groups("a", wrong)
    with pytest.raises(ParameterError, match="the shape"):
        coded(np.zeros((2, 2)), (0, 1))


def test_one_odd_label_or_feature_changes_no_prediction_but_for_the_noise() -> None:
    """As texts, all labels were unknown, and the fit was of nobody."""
    rng = np.random.default_rng(0)
    X, sex = rng.normal(size=(600, 2)), rng.integers(0, 2, 600)
    y = (X[:, 0] > 0).astype(int)
    rows, labels, groups = X.tolist(), y.tolist(), sex.tolist()
    rows[0][0], labels[1], groups[2] = "?", "?", "?"
    rows[3] = [1.0]
    model = FairClassifier(groups=(0, 1), classes=(0, 1), epochs=60, hidden_layer_sizes=(), epsilon=50.0)
    assert (model.fit(rows, labels, sensitive_features=groups).predict(X) == y).mean() > 0.9
