"""The estimator: what it learns, what it refuses, and its manners."""

from __future__ import annotations

import pickle
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from discreet.accounting.accountant import epsilon
from discreet.core.budget import Budget
from discreet.core.errors import NotPermitted, ParameterError, Unaccountable
from discreet.core.neighbors import Neighbors
from discreet.deep import FairClassifier
from discreet.learners import MinMaxScaler, PrivatePipeline, PrivateSearchCV
from discreet.ledger.sqlite_ledger import SqliteLedger
from discreet.schema.schema import Category, Schema
from discreet.trust.private_data import PrivateData
from discreet.trust.sources.matrix import Matrix
from discreet.trust.sources.source import Batched
from tests.learners.trial import LearnerTrial

RNG = np.random.default_rng(0)
SEX = RNG.choice(["f", "m"], 1000)
X = RNG.normal(0, 1, (1000, 3)) + 0.5 * (SEX == "m")[:, None]
Y = np.where(X[:, 0] + X[:, 1] + RNG.normal(0, 0.5, 1000) > 0.5, "yes", "no")


def classifier(**given: Any) -> FairClassifier:
    settings: dict[str, Any] = {"groups": ("f", "m"), "classes": ("no", "yes"), "epochs": 5, "hidden_layer_sizes": (4,)}
    return FairClassifier(**(settings | given))


OF_PRIVATE: dict[str, Any] = {
    "groups": None,
    "classes": None,
    "target": "y",
    "sensitive": "sex",
    "protects": "record",
    "expected_size": 1000,
}


def people(ledger: Any) -> PrivateData:
    table = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "c": X[:, 2], "sex": SEX, "y": Y})
    schema = {"a": (-9, 9), "b": (-9, 9), "c": (-9, 9), "sex": ["f", "m"], "y": ["no", "yes"]}
    return PrivateData.of(table, schema, ledger)


class Grouped(FairClassifier):
    """The same, with groups that follow from the first feature of arrays."""

    def fit(self, X: Any, y: Any = None, **given: Any) -> FairClassifier:
        if isinstance(X, PrivateData):
            return super().fit(X, y, **given)
        dense = next((getattr(X, name)() for name in ("to_numpy", "toarray") if hasattr(X, name)), X)
        rows = [np.ravel(row) for row in dense]
        groups = ["f" if len(row) and row[0] > 0 else "m" for row in rows]
        return super().fit(X, y, sensitive_features=groups, **given)


@dataclass(frozen=True)
class FairTrial(LearnerTrial):
    """With a column of groups."""

    def of_private(self) -> Any:
        return super().of_private().set_params(groups=None, sensitive="sex")

    def fits(self, X: np.ndarray) -> list[tuple[Any, dict[str, Any]]]:
        given = {name: one for name, one in self.model.get_params().items() if name != "protects"}
        groups = {"sensitive_features": np.where(X[:, 0] > 0, "f", "m")}
        return [(FairClassifier(**given, protects=protects), groups) for protects in ("attribute", "record")]

    @property
    def schema(self) -> Schema:
        return Schema({**super().schema.columns, "sex": Category(("f", "m"))})

    def source(self, X: np.ndarray) -> Batched:
        given: Any = self.targets(X)
        targets = np.searchsorted(np.asarray(self.model.classes), given).astype(np.float64)
        return Matrix(np.column_stack([X, targets, X[:, 0] > 0]), self.schema)


TRIAL = FairTrial(
    Grouped(
        protects="record",
        groups=("f", "m"),
        classes=[0, 1],
        expected_size=300,
        epochs=1,
        delta=1e-6,
        hidden_layer_sizes=(2,),
    ),
    sums=False,
    exemptions={
        "check_classifiers_train": "at epsilon 1, 200 records leave no accuracy above 0.83",
        "check_classifiers_classes": "classes are public: those of the check are others",
        "check_classifiers_regression_target": "a target that is no class counts for nothing: an error would show it",
    },
)


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
        ({"classes": None}, "give a record away"),
        ({"classes": ("a", "b", "c")}, "Declare two"),
        ({"constraint": "equality"}, "demographic_parity"),
        ({"protects": "nobody"}, "'attribute' or 'record'"),
        ({"method": "magic"}, "'histogram' or 'pf_ld'"),
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
    classifier(**OF_PRIVATE).fit(people(account))
    assert 0 < account.balance().certified <= 3.0


def test_a_key_gives_the_network_of_records_again_and_is_refused_for_that_of_an_attribute() -> None:
    data = people(Budget(1.0, 1e-5))
    first, again = (classifier(**OF_PRIVATE).fit(data, key="fair") for _ in range(2))
    assert again.receipt_.replayed
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    np.testing.assert_array_equal(first.decision_function(frame), again.decision_function(frame))
    np.testing.assert_array_equal(first.multipliers_, again.multipliers_)
    assert len(data.ledger.entries()) == 1
    with pytest.raises(ParameterError, match=r"no key can give it again.*Nothing was released or spent"):
        classifier().fit(X, Y, sensitive_features=SEX, key="fair")


def test_private_data_of_which_the_attribute_alone_would_be_hidden_are_refused() -> None:
    data = people(Budget(1.0, 1e-5))
    with pytest.raises(NotPermitted, match=r"this data set hides records.*Nothing was released or spent"):
        classifier(**OF_PRIVATE | {"protects": "attribute"}).fit(data)
    with pytest.raises(ParameterError, match=r"which column holds the groups.*Nothing was released or spent"):
        classifier(**OF_PRIVATE | {"sensitive": None}).fit(data)
    with pytest.raises(ParameterError, match=r"no column 'nobody'.*Nothing was released or spent"):
        classifier(**OF_PRIVATE | {"sensitive": "nobody"}).fit(data)
    with pytest.raises(ParameterError, match=r"have their groups.*Nothing was released or spent"):
        classifier(**OF_PRIVATE | {"groups": ("f", "m")}).fit(data)
    assert not data.ledger.entries()


def test_a_pipeline_and_a_search_end_with_it_and_keep_the_groups_apart() -> None:
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    line = PrivatePipeline([("scale", MinMaxScaler()), ("fair", classifier(**OF_PRIVATE | {"target": None}))])
    line.set_params(target="y", epsilon=4.0, delta=1e-5).fit(people(Budget(4.0, 1e-5)))
    assert line.feature_names_in_.tolist() == ["a", "b", "c"]
    assert set(line.predict(frame)) <= {"no", "yes"}
    assert 3.9 < epsilon(line.event_, 1e-5) <= 4
    model = classifier(**OF_PRIVATE | {"target": None})
    search = PrivateSearchCV(model, {"tolerance": [0.01, 0.5]}, target="y", epsilon=4.0, delta=1e-5)
    search.fit(people(Budget(4.0, 1e-5)))
    assert search.scores_.shape == (2,)
    assert epsilon(search.event_, 1e-5) <= 4
    with pytest.raises(ParameterError, match=r"which column holds the groups.*Nothing was released or spent"):
        line.set_params(target=None, bounds=(-9, 9), classes=["no", "yes"]).fit(X, Y)
