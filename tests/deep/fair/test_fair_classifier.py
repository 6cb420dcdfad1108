"""The estimator: what it learns, what it refuses, and its manners."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from discreet.accounting.accountant import epsilon
from discreet.core.budget import Budget
from discreet.core.errors import ParameterError, Unaccountable
from discreet.core.neighbors import Neighbors
from discreet.deep import FairClassifier
from discreet.ledger.sqlite_ledger import SqliteLedger

RNG = np.random.default_rng(0)
SEX = RNG.choice(["f", "m"], 1000)
X = RNG.normal(0, 1, (1000, 3)) + 0.5 * (SEX == "m")[:, None]
Y = np.where(X[:, 0] + X[:, 1] + RNG.normal(0, 0.5, 1000) > 0.5, "yes", "no")


def classifier(**given: Any) -> FairClassifier:
    settings: dict[str, Any] = {"groups": ("f", "m"), "classes": ("no", "yes"), "epochs": 5, "hidden_layer_sizes": (4,)}
    return FairClassifier(**(settings | given))


@pytest.mark.parametrize(
    "given", [{}, {"method": "pf_ld"}, {"protects": "record", "expected_size": 1000, "constraint": "equalized_odds"}]
)
def test_it_fits_predicts_and_says_what_it_cost(given: dict[str, Any]) -> None:
    model = classifier(**given).fit(X, Y, sensitive_features=SEX)
    assert set(model.predict(X)) <= {"no", "yes"}
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)
    assert model.score(X, Y) > 0.7
    assert 0.99 <= epsilon(model.event_, 1e-5) <= 1.0
    assert model.receipt_.secret
    assert model.receipt_.unit.kind == given.get("protects", "attribute")
    relation = Neighbors.ADD_REMOVE if "protects" in given else Neighbors.REPLACE
    assert model.receipt_.neighbors is relation
    strata = 2 if "constraint" in given else 1
    assert model.multipliers_.shape == model.multipliers_stddev_.shape == (strata, 2)


def test_it_has_the_manners_of_an_estimator() -> None:
    model = clone(classifier(constraint="accuracy_parity"))
    assert model.get_params()["constraint"] == "accuracy_parity"
    with pytest.raises(NotFittedError):
        model.predict(X)
    model.fit(X, Y, sensitive_features=SEX)
    copy = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copy.predict(X), model.predict(X))
    with pytest.raises(ValueError, match="features"):
        model.predict(X[:, :2])


@pytest.mark.parametrize(
    ("given", "word"),
    [
        ({"groups": ()}, "two groups or more"),
        ({"groups": ("f",)}, "two groups or more"),
        ({"groups": ("f", "f")}, "each once"),
        ({"groups": None}, "give a record away"),
        ({"classes": None}, "Declare two"),
        ({"classes": ("a", "b", "c")}, "Declare two"),
        ({"constraint": "equality"}, "demographic_parity"),
        ({"protects": "nobody"}, "attribute or record"),
        ({"method": "magic"}, "histogram or pf_ld"),
        ({"protects": "record"}, "expected_size"),
        ({"protects": "record", "expected_size": 1000, "method": "pf_ld"}, "attribute alone"),
        ({"delta": 0.0}, "delta"),
        ({"batch_size": 5000}, "a batch of 5000"),
    ],
)
def test_what_cannot_be_right_is_refused_before_any_charge(given: dict[str, Any], word: str) -> None:
    with pytest.raises(ParameterError, match=word) as refusal:
        classifier(**given).fit(X, Y, sensitive_features=SEX)
    assert "Nothing was released or spent" in str(refusal.value)


@pytest.mark.parametrize("protects", ["attribute", "record"])
def test_odd_records_neither_fail_nor_show(protects: str) -> None:
    """Groups that are not declared, missing values, huge features, other classes."""
    x, y, sex = X.copy(), Y.astype(object), SEX.astype(object)
    x[0], x[1], x[2, 0] = np.nan, np.inf, 1e300
    sex[3], sex[4], sex[5] = "x", None, float("nan")
    y[6] = "perhaps"
    model = classifier(protects=protects, expected_size=1000).fit(x, y, sensitive_features=sex)
    assert np.isfinite(model.decision_function(x)).all()
    assert np.isfinite(model.multipliers_).all()


def test_nobody_of_a_declared_group_does_not_fail() -> None:
    model = classifier(groups=("f", "m", "d")).fit(X, Y, sensitive_features=np.full(1000, "f"))
    assert np.isfinite(model.multipliers_).all()
    lone = classifier(protects="record", expected_size=1000).fit(X[:0], Y[:0], sensitive_features=SEX[:0])
    assert np.isfinite(lone.decision_function(X)).all()


def test_an_account_for_records_does_not_pay_for_an_attribute(tmp_path: Any) -> None:
    account = SqliteLedger.create(
        tmp_path / "ledger.db", Budget(3.0, 1e-5), name="people", neighbors=Neighbors.ADD_REMOVE
    )
    with pytest.raises((ParameterError, Unaccountable), match="opened for"):
        classifier().fit(X, Y, sensitive_features=SEX, ledger=account)
    assert account.balance().certified == 0
    classifier(protects="record", expected_size=1000).fit(X, Y, sensitive_features=SEX, ledger=account)
    assert 0 < account.balance().certified <= 3.0
