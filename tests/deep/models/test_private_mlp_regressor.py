"""A perceptron for numbers: how it is tried, and what it learns."""

from __future__ import annotations

import numpy as np

from discreet.deep.models.private_mlp_regressor import PrivateMLPRegressor
from tests.deep.models.test_private_mlp import points
from tests.learners import trial
from tests.learners.trial import LearnerTrial

TRIAL = LearnerTrial(
    PrivateMLPRegressor([4], sampling_rate=0.5, max_iter=2, bounds=trial.BOUNDS, target_bounds=(-1, 1)),
    sums=False,
    exemptions={
        "check_regressors_train": "at epsilon 1, 200 records with 10 features leave no R2 above 0.5",
    },
)


def test_it_learns_what_no_line_does() -> None:
    X, fresh = points(6000), points(1000, seed=1)
    found = PrivateMLPRegressor(
        [16], bounds=(-1, 1), target_bounds=(5, 7), epsilon=2.0, random_state=0, sampling_rate=0.2
    )
    found.fit(X, 5 + 2 * np.abs(X[:, 0]))
    assert found.score(fresh, 5 + 2 * np.abs(fresh[:, 0])) > 0.85
    assert 5 <= found.predict(fresh).min() <= found.predict(fresh).max() <= 7
