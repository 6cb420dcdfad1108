"""What all estimators refuse in the same words, before anything is charged."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from discreet.core.budget import Budget
from discreet.core.errors import DiscreetError
from discreet.deep import PrivateMLPClassifier, PrivateMLPRegressor
from discreet.learners import LogisticRegression, PrivatePipeline, Ridge
from discreet.trust.private_data import PrivateData

PLAIN = {"x": (-1, 1), "kind": ["a", "b"], "size": (0, 2)}


def people() -> PrivateData:
    return PrivateData.of({"x": np.zeros(9), "kind": ["a"] * 9, "size": np.ones(9)}, PLAIN, Budget(1.0, 1e-6))


@pytest.mark.parametrize("model", [LogisticRegression, PrivateMLPClassifier])
def test_classes_that_the_schema_has_are_not_given_twice(model: Any) -> None:
    """In another order they would be predicted one for the other."""
    data = people()
    with pytest.raises(DiscreetError, match=r"schema has classes already.*Nothing was released or spent"):
        model(target="kind", classes=["b", "a"]).fit(data)
    assert not data.ledger.entries()


@pytest.mark.parametrize("model", [Ridge, PrivateMLPRegressor])
def test_a_regressor_takes_numbers_between_the_bounds_of_the_schema(model: Any) -> None:
    data = people()
    with pytest.raises(DiscreetError, match=r"target bounds already.*Nothing was released or spent"):
        model(target="size", target_bounds=(0, 3)).fit(data)
    with pytest.raises(DiscreetError, match=r"kind.*Nothing was released or spent"):
        model(target="kind").fit(data)
    assert not data.ledger.entries()


def test_a_pipeline_refuses_the_same() -> None:
    data, line = people(), PrivatePipeline([("fit", Ridge())], target="kind")
    with pytest.raises(DiscreetError, match="Nothing was released or spent"):
        line.fit(data)
    assert not data.ledger.entries()
