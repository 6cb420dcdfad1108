"""Estimators in one run: what memorises is caught, what ignores its records is not."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.cluster import KMeans
from sklearn.dummy import DummyClassifier
from sklearn.neighbors import KernelDensity, KNeighborsClassifier, KNeighborsRegressor
from sklearn.preprocessing import StandardScaler

from discreet.audit.audited import audited
from discreet.audit.audited_estimator import audited_estimator
from discreet.core.errors import ParameterError
from discreet.core.events import PureLoss

SQUARE = ([0.0, 0.0], [1.0, 1.0])


def test_memorising_is_caught_by_probabilities_densities_centers_and_predictions() -> None:
    memories = (
        KNeighborsClassifier(1),
        KernelDensity(bandwidth=1e-3),
        KMeans(400, n_init=1, max_iter=1, random_state=0),
        KNeighborsRegressor(1),
    )
    for estimator in memories:
        assert audited_estimator(estimator, PureLoss(0.3), bounds=SQUARE, canaries=1000, random_state=1).refuted


def test_an_estimator_that_ignores_its_records_is_not_refuted() -> None:
    report = audited(DummyClassifier(strategy="constant", constant=1), claim=0.1, bounds=SQUARE, random_state=1)
    assert report.holds
    assert "guesses were right" in str(report)
    assert "no proof" in str(report)
    arrays = audited(DummyClassifier(), claim=0.1, bounds=(np.zeros(2), np.ones(2)), random_state=1)
    assert json.loads(arrays.to_json())["options"]["bounds"] == [[0.0, 0.0], [1.0, 1.0]]


def test_what_cannot_be_scored_or_fitted_is_refused_with_what_would_work() -> None:
    class Failing(BaseEstimator):
        def fit(self, X: Any, y: Any) -> Any:
            raise RuntimeError("no")

    for estimator, words in ((StandardScaler(), "one_run"), (Failing(), "raised RuntimeError")):
        with pytest.raises(ParameterError, match=words):
            audited_estimator(estimator, PureLoss(1.0), bounds=SQUARE, random_state=1)
    scored = audited_estimator(
        StandardScaler(), PureLoss(1.0), bounds=SQUARE, random_state=1, score=lambda fitted, X, y: np.zeros(len(X))
    )
    assert scored.holds
