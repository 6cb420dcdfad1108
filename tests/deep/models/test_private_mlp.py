"""Private multi-layer perceptrons: what they learn, what they cost, and how they behave as estimators."""

from __future__ import annotations

import pickle
import re
import subprocess
import sys
import unittest
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone, is_classifier
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.estimator_checks import estimator_checks_generator

from discreet.accounting.accountant import epsilon
from discreet.core.budget import Budget
from discreet.core.errors import BudgetExceeded, DiscreetError, ParameterError
from discreet.core.events import read, written
from discreet.core.neighbors import RECORD, Neighbors, Unit
from discreet.deep.models.private_mlp_classifier import PrivateMLPClassifier
from discreet.deep.models.private_mlp_regressor import PrivateMLPRegressor
from discreet.ledger.sqlite_ledger import SqliteLedger
from discreet.schema.schema import Category, Number, Schema
from discreet.trust.private_data import PrivateData
from tests.conformance.test_learners import ALL, CLASSIFIERS, SUPERVISED

SHORT: dict[str, Any] = {"rate": 0.5, "max_iter": 2, "bounds": (-20, 20)}
EACH = (
    PrivateMLPClassifier([4], classes=[0, 1, 2], **SHORT),
    PrivateMLPRegressor([4], target_bounds=(-1, 1), **SHORT),
)

OWN = {
    "check_classifiers_train": "at epsilon 1, 200 records leave no accuracy above 0.83",
    "check_classifiers_classes": "classes are public: those of the check are others",
    "check_classifiers_regression_target": "a target that is no class counts for nothing: an error would show it",
    "check_regressors_train": "at epsilon 1, 200 records with 10 features leave no R2 above 0.5",
}


def points(n: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).uniform(-1, 1, (n, 2))


def test_they_learn_what_no_line_does() -> None:
    X, fresh = points(6000), points(1000, seed=1)
    kinds: dict[str, Any] = {"bounds": (-1, 1), "epsilon": 2.0, "random_state": 0, "rate": 0.2, "max_iter": 20}
    told = PrivateMLPClassifier([16], classes=["no", "yes"], **kinds)
    told.fit(X, np.where(X[:, 0] * X[:, 1] > 0, "yes", "no"))
    assert told.score(fresh, np.where(fresh[:, 0] * fresh[:, 1] > 0, "yes", "no")) > 0.9
    assert np.allclose(told.predict_proba(fresh).sum(axis=1), 1)
    found = PrivateMLPRegressor([16], target_bounds=(5, 7), **kinds).fit(X, 5 + 2 * np.abs(X[:, 0]))
    assert found.score(fresh, 5 + 2 * np.abs(fresh[:, 0])) > 0.85
    assert 5 <= found.predict(fresh).min() <= found.predict(fresh).max() <= 7


@pytest.mark.parametrize("model", EACH, ids=lambda model: type(model).__name__)
def test_scikit_learn_accepts_them(model: Any) -> None:
    allowed, failed = ALL | SUPERVISED | OWN | (CLASSIFIERS if is_classifier(model) else {}), {}
    for estimator, check in estimator_checks_generator(model):
        name = check.func.__name__ if hasattr(check, "func") else check.__name__
        if name not in allowed:
            try:
                check(estimator)
            except unittest.SkipTest:
                continue
            except Exception as why:
                failed[name] = f"{type(why).__name__}: {why}"
    assert not failed


def test_they_learn_from_private_data_what_they_learn_from_arrays(tmp_path: Path) -> None:
    X = points(6000)
    kinds: dict[str, Any] = {"epsilon": 2.0, "random_state": 0, "rate": 0.2, "max_iter": 20}
    frame = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "same": np.where(X[:, 0] * X[:, 1] > 0, "yes", "no")})
    schema = Schema({"a": Number(-1, 1), "same": Category(("yes", "no")), "b": Number(-1, 1)})
    ledger = SqliteLedger.create(
        tmp_path / "l.db", Budget(9.0, 1e-5), name="all", neighbors=Neighbors.ADD_REMOVE, unit=RECORD
    )
    told = PrivateMLPClassifier([16], target="same", **kinds).fit(PrivateData.of(frame, schema, ledger))
    assert ledger.balance().used > 0
    assert told.score(frame[["a", "b"]], frame["same"]) > 0.9
    assert told.classes_.tolist() == ["yes", "no"]
    assert told.feature_names_in_.tolist() == ["a", "b"]
    few = PrivateMLPClassifier([16], classes=["no", "yes"], bounds=(-1, 1), **kinds).fit(X[:50], X[:50, 0])
    assert told.event_ == few.event_
    found = PrivateMLPRegressor([4], target="b", **SHORT | {"bounds": None})
    assert found.fit(PrivateData.of(frame, schema, Budget(1.0, 1e-6))).predict(frame[["a"]]).min() >= -1


@pytest.mark.parametrize(
    ("model", "how"),
    [
        (PrivateMLPClassifier(), {}),
        (PrivateMLPClassifier(target="a"), {}),
        (PrivateMLPClassifier(target="same", classes=["no", "yes"]), {}),
        (PrivateMLPClassifier(target="same", bounds=(-1, 1)), {}),
        (PrivateMLPRegressor(target="same"), {}),
        (PrivateMLPClassifier(target="same"), {"neighbors": Neighbors.REPLACE}),
        (PrivateMLPClassifier(target="same"), {"unit": Unit("event")}),
    ],
)
def test_private_data_that_cannot_be_learned_from_cost_nothing(model: Any, how: dict[str, Any]) -> None:
    schema = Schema({"a": Number(-1, 1), "same": Category(("yes", "no"))})
    data = PrivateData.of({"a": [0.5], "same": ["no"]}, schema, Budget(1.0, 1e-6), **how)
    with pytest.raises(DiscreetError):
        model.fit(data)
    assert not data.ledger.entries()


def test_a_fit_costs_what_was_asked_whatever_the_data_are() -> None:
    events = set()
    for X in (points(300), points(0), np.full((3, 2), np.nan), np.full((3, 2), 1e308)):
        model = clone(EACH[0]).fit(X, np.zeros(len(X)))
        assert all(np.isfinite(one).all() for one in [*model.coefs_, *model.intercepts_])
        assert [one.shape for one in model.coefs_] == [(2, 4), (4, 3)]
        events.add(model.event_)
    (event,) = events
    assert read(written(event)) == event
    assert 0.999 < epsilon(event, 1e-6) <= 1
    assert model.receipt_.event == event
    assert model.receipt_.epsilon == pytest.approx(1, rel=1e-3)
    assert model.receipt_.neighbors is Neighbors.ADD_REMOVE


def test_records_that_cannot_be_read_count_for_nothing() -> None:
    """By the weights of a network that was trained with hardly any noise on all records."""
    X, y = points(40), (points(40)[:, 0] > 0).astype(float)
    odd, strange = np.vstack([X, [[np.nan, 0.5]], [[0.5, 0.5]]]), np.append(y, [1.0, 17.0])
    sure: dict[str, Any] = {"bounds": (-1, 1), "classes": [0, 1], "rate": 1.0, "epsilon": 1e9, "max_iter": 3}
    first, second = (
        PrivateMLPClassifier([4], random_state=0, **sure).fit(*given) for given in ((X, y), (odd, strange))
    )
    np.testing.assert_allclose(first.coefs_[0], second.coefs_[0], atol=1e-3)


def test_a_ledger_pays_where_one_is_given(tmp_path: Path) -> None:
    account = SqliteLedger.create(
        tmp_path / "ledger.db", Budget(1.1, 1e-5), name="people", neighbors=Neighbors.ADD_REMOVE
    )
    model = clone(EACH[0]).fit(points(50), np.zeros(50), ledger=account)
    (entry,) = account.entries()
    assert (entry.key, account.head, entry.committed) == (model.receipt_.key, model.receipt_.head, True)
    with pytest.raises(BudgetExceeded):
        model.fit(points(50), np.zeros(50), ledger=account)


def test_what_would_have_to_come_from_the_data_is_asked_for() -> None:
    for model in EACH:
        for name in {"bounds", "classes", "target_bounds"} & model.get_params().keys():
            with pytest.raises(DiscreetError, match=r"give a record away.*Nothing was released or spent"):
                clone(model).set_params(**{name: None}).fit(points(9), np.zeros(9))
    for wrong in ({"activation": "sign"}, {"rate": 1.5}, {"max_iter": 0}, {"classes": [1]}, {"clip": -1.0}):
        with pytest.raises(ParameterError, match="Nothing was released or spent"):
            clone(EACH[0]).set_params(**wrong).fit(points(9), np.zeros(9))


def test_they_are_pickled_put_into_pipelines_and_told_the_names_of_columns() -> None:
    frame, y = pd.DataFrame(points(60), columns=["a", "b"]), np.arange(60) % 3
    model = clone(EACH[0]).set_params(hidden_layer_sizes=(3, 5)).fit(frame, y)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(model.predict_proba(frame), again.predict_proba(frame))
    assert list(again.feature_names_in_) == ["a", "b"]
    line = make_pipeline(FunctionTransformer(np.tanh), clone(EACH[0]))
    assert len(cross_val_score(line, frame, y, cv=2)) == 2


def test_they_release_what_their_docstrings_name() -> None:
    for model in EACH:
        fitted = clone(model).fit(points(30), np.arange(30) % 3)
        text = type(model).__doc__ or ""
        named = set(re.findall(r"^    (\w+_) :", text.partition("Attributes\n")[2], flags=re.MULTILINE))
        assert {name for name in vars(fitted) if name.endswith("_")} <= named
        parameters = text.partition("Parameters\n")[2].partition("Attributes\n")[0]
        for name in model.get_params():
            assert re.search(rf"\b{name}\b[^:]* :[^\n]*\n\s+Public\.", parameters), name


def test_torch_is_not_loaded_before_a_fit() -> None:
    code = "import sys; from discreet.deep import PrivateMLPClassifier; assert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
