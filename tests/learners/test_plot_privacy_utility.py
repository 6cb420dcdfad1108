"""Score against epsilon: it is drawn from public data alone, grows, and says where it comes from."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from discreet.core.budget import Budget
from discreet.core.errors import DiscreetError
from discreet.core.grid import Array
from discreet.core.schema import Schema
from discreet.learners.gaussian_nb import GaussianNB
from discreet.learners.plot_privacy_utility import plot_privacy_utility
from discreet.trust.private_data import PrivateData

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
    assert "public or invented data: 300 rows" in ax.get_title()
    assert "1e-05" in ax.get_xlabel()
    assert len(ax.collections) == 1
    assert MODEL.epsilon == 1.0


def test_private_data_are_refused_and_so_are_other_mistakes() -> None:
    X, y = people(40)
    data = PrivateData.of(X, Schema.numeric(-5, 5, 4), Budget(1.0))
    with pytest.raises(DiscreetError, match="would give private records away"):
        plot_privacy_utility(MODEL, data, None, [1.0], ax=axes())
    for epsilons, repeats in (([], 3), ([1.0, 0.1], 3), ([0.0], 3), ([1.0], 1)):
        with pytest.raises(DiscreetError, match="Nothing was released or spent"):
            plot_privacy_utility(MODEL, X, y, epsilons, repeats=repeats, ax=axes())
