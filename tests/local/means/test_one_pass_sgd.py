"""Linear models from one private gradient of each person."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression

from discreet.accounting.accountant import pure_epsilon
from discreet.core.bits import Bits
from discreet.core.budget import Budget
from discreet.core.errors import NotPermitted, ParameterError
from discreet.core.grid import Array
from discreet.core.neighbors import Neighbors
from discreet.learners import MinMaxScaler, PrivatePipeline, PrivateSearchCV
from discreet.ledger.memory_ledger import MemoryLedger
from discreet.local import LocalSGDClassifier, LocalSGDRegressor
from discreet.local.means import one_pass_sgd
from discreet.local.means.privunit_vector import PrivUnitVector
from discreet.local.randomizer import Reports
from discreet.mechanisms.vectors.sphere_report import promised
from discreet.schema.schema import Category, Schema
from discreet.trust.curator import Curator
from discreet.trust.local import Local
from discreet.trust.private_data import PrivateData
from discreet.trust.sources.matrix import Matrix
from tests.learners.trial import LearnerTrial

FEW = "200 people who report by themselves at epsilon 1 are too few"
TRIALS = {
    "LocalSGDClassifier": LearnerTrial(
        LocalSGDClassifier(radius=20.0, classes=[0, 1]),
        sums=False,
        trust=Local,
        exemptions={
            "check_classifiers_train": FEW,
            "check_classifiers_classes": "classes are public: those of the check are others",
            "check_classifiers_regression_target": "a target that is no class counts for nothing: an error would show",
        },
    ),
    "LocalSGDRegressor": LearnerTrial(
        LocalSGDRegressor(radius=20.0, target_bounds=(-1, 1)),
        sums=False,
        trust=Local,
        exemptions={"check_regressors_train": FEW},
    ),
}


def rows(n: int) -> Array:
    return np.random.default_rng(0).uniform(-0.5, 0.5, (n, 4))


def test_a_classifier_comes_close_to_one_without_privacy() -> None:
    X = rows(40_000)
    chances = 1 / (1 + np.exp(-6 * (X[:, 0] - X[:, 1])))
    y = np.where(np.random.default_rng(1).random(len(X)) < chances, "yes", "no")
    private = LocalSGDClassifier(epsilon=3.0, coefficient_radius=10.0, classes=("no", "yes")).fit(X, y)
    assert private.score(X, y) > LogisticRegression().fit(X, y).score(X, y) - 0.05
    assert set(private.predict(X)) == {"no", "yes"}


def test_a_regression_finds_the_slopes() -> None:
    """Noise moves each slope by about 5, so that the cosine of the angle to the true ones is about 0.96."""
    X = rows(40_000)
    y = 50 + 30 * X[:, 0] - 20 * X[:, 1] + np.random.default_rng(1).normal(0, 2, len(X))
    model = LocalSGDRegressor(epsilon=3.0, coefficient_radius=3.0, target_bounds=(0, 100)).fit(X, y)
    cosine = model.coef_ @ [30, -20, 0, 0] / np.linalg.norm(model.coef_) / np.linalg.norm([30, -20])
    assert cosine > 0.75
    assert 15 < np.linalg.norm(model.coef_) < 70
    assert abs(model.intercept_ - 50) < 10


def test_everybody_reports_once_at_the_price_that_is_stated(monkeypatch: pytest.MonkeyPatch) -> None:
    reported = []

    class Counted(PrivUnitVector):
        def reports(self, values: Any, bits: Bits) -> Reports:
            reported.append(len(values))
            assert np.linalg.norm(values, axis=1).max() <= self.radius * (1 + 1e-9)
            return super().reports(values, bits)

    monkeypatch.setattr(one_pass_sgd, "PrivUnitVector", Counted)
    X = 100 * rows(1003)
    model = LocalSGDClassifier(classes=(0, 1), epsilon=0.7).fit(X, (X[:, 0] > 0).astype(int))
    assert sum(reported) == 1003
    assert 0.699 < pure_epsilon(model.event_) <= 0.7
    assert promised(model.event_)
    assert model.receipt_.neighbors is Neighbors.REPLACE
    assert clone(model).get_params() == model.get_params()


def test_classes_and_bounds_that_cannot_be_are_refused_before_any_report() -> None:
    X = rows(20)
    for wrong in (
        LocalSGDClassifier(classes=("a",)),
        LocalSGDClassifier(classes=(0, 1), epsilon=0.0),
        LocalSGDRegressor(target_bounds=(1.0, 0.0)),
        LocalSGDRegressor(target_bounds=(0, 1), radius=-1.0),
    ):
        with pytest.raises(ParameterError, match="Nothing was released or spent"):
            wrong.fit(X, np.arange(20.0))


def test_a_person_who_lacks_a_number_or_a_class_reports_noise_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """The gradient that is reported is zero, and nobody else's changes."""
    seen: list[np.ndarray] = []

    class Listening(PrivUnitVector):
        def reports(self, values: Any, bits: Any) -> Any:
            seen.append(self.inside(values))
            return super().reports(values, bits)

    monkeypatch.setattr(one_pass_sgd, "PrivUnitVector", Listening)
    X, odd = rows(40).tolist(), ["?", None, [1.0], {}, 2j, object(), float("nan"), 10**400]
    for place, value in enumerate(odd):
        X[place][place % len(X[0])] = value
    X[8], y = [1.0], [0, 1] * 12 + odd + [0, 1] * 4
    LocalSGDClassifier(classes=(0, 1)).fit(X, y)
    lengths = np.linalg.norm(np.concatenate(seen), axis=1)
    assert (lengths[[*range(9), *range(24, 32)]] == 0).all()
    assert (np.delete(lengths, [*range(9), *range(24, 32)]) > 0).all()
    LocalSGDRegressor(target_bounds=(-1, 1)).fit(X, y)


def people(n: int, budget: Budget, **how: Any) -> PrivateData:
    """Four numbers and a class, each row with its person."""
    X = rows(n)
    schema = Schema({**Schema.numeric(-0.5, 0.5, 4).columns, "y": Category(("no", "yes"))})
    source = Matrix(np.column_stack([X, X[:, 0] > 0]), schema)
    return PrivateData(how.get("trust", Local)(source), MemoryLedger(budget))


def test_the_ledger_of_people_pays_once_for_a_key_and_gives_the_model_again() -> None:
    data = people(500, Budget(1.0))
    first, again = (LocalSGDClassifier(target="y", epsilon=1.0).fit(data, key="model") for _ in range(2))
    assert again.receipt_.replayed
    np.testing.assert_array_equal(first.coef_, again.coef_)
    assert (first.intercept_, first.n_iter_) == (again.intercept_, again.n_iter_)
    assert len(data.ledger.entries()) == 1


def test_records_that_somebody_holds_and_people_by_a_condition_are_refused_before_a_charge() -> None:
    for data, why in (
        (people(50, Budget(1.0), trust=Curator), "somebody holds these records"),
        (people(50, Budget(1.0)).where("x0 > 0"), "everybody takes a turn"),
    ):
        with pytest.raises(NotPermitted, match=f"{why}.*Nothing was released or spent"):
            LocalSGDClassifier(target="y").fit(data)
        assert not data.ledger.entries()


def test_pipelines_and_searches_of_people_pay_once() -> None:
    X, fresh = rows(10_000), rows(2000)
    steps = [("scale", MinMaxScaler()), ("fit", LocalSGDClassifier(radius=2.0))]
    given: dict[str, Any] = {"bounds": (-0.5, 0.5), "classes": [False, True], "epsilon": 4.0, "delta": 0.0}
    line = PrivatePipeline(steps, **given).fit(X, X[:, 0] > 0)
    assert line.score(fresh, fresh[:, 0] > 0) > 0.7
    assert 3.9 < pure_epsilon(line.event_) <= 4
    assert line.receipt_.neighbors is Neighbors.REPLACE
    search = PrivateSearchCV(LocalSGDClassifier(), {"coefficient_radius": [1e-9, 5.0]}, **given).fit(X, X[:, 0] > 0)
    assert search.scores_.shape == (2,)
    assert pure_epsilon(search.event_) <= 4
    assert search.receipt_.neighbors is Neighbors.REPLACE


def test_a_pipeline_of_private_data_pays_from_the_ledger_of_people() -> None:
    data = people(2000, Budget(8.0))
    PrivatePipeline([("scale", MinMaxScaler()), ("fit", LocalSGDClassifier())], target="y", delta=0.0).fit(data)
    assert 0.99 < data.ledger.balance().certified <= 1
    held = people(50, Budget(8.0), trust=Curator)
    with pytest.raises(NotPermitted, match=r"somebody holds these records.*Nothing was released or spent"):
        PrivatePipeline([("fit", LocalSGDClassifier())], target="y").fit(held)
    assert not held.ledger.entries()
