"""Score against epsilon: it is drawn from public data alone, grows, and says where it comes from."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from sklearn.linear_model import LogisticRegression

from discreet.core.budget import Budget
from discreet.core.errors import DiscreetError
from discreet.core.grid import Array
from discreet.learners.bayes.gaussian_nb import GaussianNB
from discreet.learners.clusters.kmeans import KMeans
from discreet.learners.selection.plot_privacy_utility import plot_privacy_utility
from discreet.schema.schema import Schema
from discreet.trust.private_data import PrivateData

READ_ELSEWHERE = {
    "plot_privacy_utility": "for public data",
}
"""Why odd values are not handed over to these: see `tests/conformance/test_odd_values.py`."""

MODEL = GaussianNB(classes=[0, 1], bounds=(-5, 5), delta=1e-5)


def people(n: int = 400) -> tuple[Array, Array]:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, n)
    return rng.normal(np.where(y == 1, 1.0, -1.0)[:, None], 1.0, (n, 4)), y.astype(np.float64)


def axes() -> Axes:
    return Figure().add_subplot()


def test_the_score_grows_with_epsilon_and_the_figure_says_whose_it_is() -> None:
    ax = plot_privacy_utility(MODEL, *people(), [0.01, 100.0], repeats=5, ax=axes())
    low, high = np.asarray(ax.lines[0].get_ydata(), dtype=np.float64).tolist()
    assert low < 0.8 < 0.9 < high
    assert "public or synthetic data: 300 rows" in ax.get_title()
    assert "1e-05" in ax.get_xlabel()
    assert len(ax.collections) == 1
    assert ax.get_ylabel() == "accuracy on held-out rows"
    assert MODEL.epsilon == 1.0


def test_private_data_are_refused_and_so_are_other_mistakes() -> None:
    X, y = people(40)
    data = PrivateData.of(X, Schema.numeric(-5, 5, 4), Budget(1.0))
    with pytest.raises(DiscreetError, match="would give private records away"):
        plot_privacy_utility(MODEL, data, None, [1.0], ax=axes())
    wrong: list[Any] = [GaussianNB, LogisticRegression(), KMeans(2, bounds=(-5, 5))]
    for model in wrong:
        with pytest.raises(DiscreetError, match=r"no (private learner|score).*Nothing was released or spent"):
            plot_privacy_utility(model, X, None, [1.0], ax=axes())
    with pytest.raises(DiscreetError, match="random_state is"):
        plot_privacy_utility(MODEL, X, y, [1.0], random_state="a", ax=axes())
    for epsilons, repeats in (([], 3), ([1.0, 0.1], 3), ([0.0], 3), ([1.0], 1)):
        with pytest.raises(DiscreetError, match="Nothing was released or spent"):
            plot_privacy_utility(MODEL, X, y, epsilons, repeats=repeats, ax=axes())


def test_learners_without_a_score_are_drawn_by_another() -> None:
    def inertia(model: KMeans, X: Array, y: None) -> float:
        return float(np.square(X - model.cluster_centers_[model.predict(X)]).sum())

    ax = plot_privacy_utility(KMeans(2, bounds=(-5, 5)), people()[0], epsilons=[5.0], scoring=inertia, ax=axes())
    assert ax.get_ylabel() == "inertia on held-out rows"
    assert np.asarray(ax.lines[0].get_ydata()).shape == (1,)
