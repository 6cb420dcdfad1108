"""Reference models: halves that balance, training in every form, and functions that ignore their records."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import ExtraTreeClassifier

from discreet.attacks import LiRA, References, SmallNetworks
from discreet.core.errors import ParameterError
from tests.attacks.membership.made import records

DATA = records(100)
X, Y = DATA.rows


def test_every_record_is_in_half_of_the_models_and_copies_stay_together() -> None:
    rows, labels = np.concatenate([X, X[:10]]), np.concatenate([Y, Y[:10]])
    references = References.fitted(KNeighborsClassifier(1), rows, labels, number=6)
    assert (references.inside.sum(axis=0) == 3).all()
    assert (references.inside[0] != references.inside[1]).all()
    assert (references.inside[:, :10] == references.inside[:, 200:]).all()
    assert len(np.unique(references.inside, axis=0)) == 6
    assert (References.fitted(KNeighborsClassifier(1), rows, labels, number=5).inside == references.inside[:5]).all()


def test_estimators_functions_and_networks_are_trained_on_their_halves() -> None:
    def function(rows: Any, labels: Any) -> Any:
        return KNeighborsClassifier(1).fit(rows, labels).predict_proba

    for train in (KNeighborsClassifier(1), function, SmallNetworks((64,), max_iter=80)):
        references = References.fitted(train, X, Y, number=4)
        right = references.margins > 0
        assert right[references.inside].mean() > 0.97
        assert 0.35 < right[~references.inside].mean() < 0.65


def test_estimators_without_a_seed_get_one_and_others_keep_theirs() -> None:
    once, again = (References.fitted(ExtraTreeClassifier(), X, Y, number=4) for _ in range(2))
    assert (once.margins == again.margins).all()
    assert [model.random_state for model in once.models] == [0, 1, 2, 3]
    kept = References.fitted(ExtraTreeClassifier(random_state=7), X, Y, number=2)
    assert [model.random_state for model in kept.models] == [7, 7]


def test_training_that_ignores_its_records_is_refused() -> None:
    fixed = LogisticRegression().fit(X, Y)
    for train in (lambda rows, labels: fixed, DummyClassifier(strategy="uniform")):
        with pytest.raises(ParameterError, match="ignores its records"):
            References.fitted(train, X, Y, number=4)


def test_training_that_fails_is_told_with_its_error() -> None:
    with pytest.raises(ParameterError, match=r"ValueError on half of the records: .*at least 2 classes"):
        References.fitted(LogisticRegression(), X[:8], np.r_[np.zeros(7), 1], number=2)
    with pytest.raises(ParameterError, match="neither an estimator nor a function"):
        References.fitted(3, X, Y, number=2)
    with pytest.raises(ParameterError, match="neither `predict_proba` nor `predict`"):
        References.fitted(lambda rows, labels: None, X, Y, number=2)


def test_pools_and_numbers_that_cannot_work_are_refused() -> None:
    train = KNeighborsClassifier(1)
    for rows, labels, number in ((X[:3], Y[:3], 4), (np.repeat(X[:3], 9, axis=0), np.repeat(Y[:3], 9), 4), (X, Y, 1)):
        with pytest.raises(ParameterError, match="Give"):
            References.fitted(train, rows, labels, number=number)
    with pytest.raises(ParameterError, match="one label for each"):
        References.fitted(train, X, Y[:5])
    with pytest.raises(ParameterError, match="random_state is None"):
        References.fitted(train, X, Y, random_state=None)  # type: ignore[arg-type]
    assert len(References.fitted(ExtraTreeClassifier(), X, Y, number=2, random_state=2**32 - 1)) == 2


def test_records_outside_the_pool_are_refused_with_their_number() -> None:
    references = References.fitted(KNeighborsClassifier(1), X[:180], Y[:180], number=2)
    with pytest.raises(ParameterError, match=r"of \d+ records are not among those") as refused:
        LiRA(DATA, references).run(KNeighborsClassifier(1).fit(X, Y))
    assert refused.value.values["absent"] == 20


def test_some_of_the_models_are_chosen_with_what_is_known_of_them() -> None:
    references = References.fitted(KNeighborsClassifier(1), X, Y, number=6)
    some = references.some([4, 1])
    assert some.models == (references.models[4], references.models[1])
    assert (some.margins == references.margins[[4, 1]]).all()
    assert len(some) == 2
