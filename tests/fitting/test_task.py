"""What learners without a target are asked to learn from: too few records, and columns that say nothing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from discreet.core.budget import Budget
from discreet.core.errors import DiscreetError
from discreet.core.neighbors import Neighbors
from discreet.learners.clusters.gaussian_mixture import GaussianMixture
from discreet.learners.clusters.kmeans import KMeans
from discreet.learners.components.online_pca import OnlinePCA
from discreet.learners.components.pca import PCA
from discreet.learners.components.truncated_svd import TruncatedSVD
from discreet.schema.schema import Schema
from discreet.trust.private_data import PrivateData


@pytest.mark.parametrize("model", [KMeans(4), GaussianMixture(4), PCA(3), TruncatedSVD(3), OnlinePCA(3, time="x3")])
def test_fewer_records_than_parts_are_refused_where_their_number_is_public_and_nowhere_else(model: Any) -> None:
    X, schema, budget = np.zeros((2, 4)), Schema.numeric(-1.0, 1.0, 4), Budget(1.0, 1e-6)
    replaced = PrivateData.of(X, schema, budget, neighbors=Neighbors.REPLACE)
    with pytest.raises(DiscreetError, match=r"there are 2 records.*Nothing was released or spent"):
        clone(model).fit(replaced)
    assert replaced.ledger.balance().certified == 0
    clone(model).fit(PrivateData.of(X, schema, budget))


@pytest.mark.parametrize("model", [KMeans(2), GaussianMixture(2), PCA(2), TruncatedSVD(2), OnlinePCA(2, time="x3")])
def test_a_column_without_spread_is_fitted_and_one_without_width_is_refused(model: Any) -> None:
    X = np.column_stack([np.full(500, 0.5), np.random.default_rng(0).uniform(-1, 1, (500, 3))])
    fitted = clone(model).set_params(bounds=(-1, 1)).fit(X)
    assert all(np.isfinite(value).all() for value in vars(fitted).values() if isinstance(value, np.ndarray))
    with pytest.raises(DiscreetError, match="Nothing was released or spent"):
        clone(model).set_params(bounds=([0.5, -1, -1, -1], [0.5, 1, 1, 1])).fit(X)


def test_columns_in_another_order_than_their_bounds_are_refused() -> None:
    frame = pd.DataFrame({"income": [5e4, 6e4], "age": [30.0, 40.0]})
    bounds = {"age": (0, 100), "income": (0, 1e5)}
    with pytest.raises(DiscreetError, match=r"the bounds are for age, income.*Nothing was released or spent"):
        KMeans(1, bounds=bounds, epsilon=1.0).fit(frame)
    KMeans(1, bounds=bounds, epsilon=1.0).fit(frame[["age", "income"]])
