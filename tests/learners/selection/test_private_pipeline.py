"""A pipeline: one plan, one charge, one receipt, and no step that leaks."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn import preprocessing
from sklearn.base import clone

from discreet.accounting.accountant import delta, epsilon, pure_epsilon
from discreet.core.budget import Budget
from discreet.core.errors import DiscreetError, KeyReused
from discreet.core.events import Composed, GaussianLoss
from discreet.core.identity import former_identity
from discreet.core.neighbors import RECORD, Neighbors
from discreet.learners.bayes.gaussian_nb import GaussianNB
from discreet.learners.clusters.kmeans import KMeans
from discreet.learners.components.pca import PCA
from discreet.learners.linear.linear_regression import Ridge
from discreet.learners.linear.logistic_regression import LogisticRegression
from discreet.learners.preprocessing.category_encoder import OneHotEncoder
from discreet.learners.preprocessing.scalers import MinMaxScaler, StandardScaler
from discreet.learners.selection.private_pipeline import PrivatePipeline
from discreet.ledger.memory_ledger import MemoryLedger
from discreet.ledger.sqlite_ledger import SqliteLedger
from discreet.questions.columns.column_moments import column_moments_of
from discreet.questions.question import BoundedSum
from discreet.questions.transformed import transformed
from discreet.releases.least_noise import SumPlan, least_noise
from discreet.schema.schema import Category, Number, Schema
from discreet.trust.private_data import PrivateData
from discreet.trust.secure_sum import SecureSum
from discreet.trust.sources.source_of import source_of
from tests.learners import trial
from tests.learners.audited_sum import check_sum
from tests.learners.trial import LearnerTrial

TRIAL = LearnerTrial(
    PrivatePipeline([("scale", StandardScaler()), ("fit", GaussianNB())], bounds=trial.BOUNDS, classes=[0, 1, 2]),
    of_numbers=True,  # it ends with a learner of numbers
    exemptions={
        "check_classifiers_train": "at epsilon 1, 200 records leave no accuracy above 0.83",
        "check_classifiers_classes": "classes are public: those of the check are others",
        "check_classifiers_regression_target": "a target that is no class counts for nothing: an error would show it",
    },
)
SCHEMA = Schema({"age": Number(0, 1000), "sex": Category(("f", "m")), "ill": Category(("no", "yes"))})
STEPS = [("encode", OneHotEncoder()), ("scale", StandardScaler()), ("fit", GaussianNB())]


def people(n: int = 20_000) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(0)
    sex, ill = rng.choice(["f", "m"], n), rng.choice(["no", "yes"], n)
    age = rng.normal(np.where((ill == "yes") == (sex == "f"), 40.0, 60.0), 5.0)
    age = np.where(sex == "f", age, 100 - age)
    return {"age": age, "sex": sex, "ill": ill}


def features(table: dict[str, np.ndarray]) -> pd.DataFrame:
    return pd.DataFrame({"age": table["age"], "sex": table["sex"]})


def test_numbers_and_categories_are_learned_from_and_paid_for_once() -> None:
    table = people()
    account = MemoryLedger(Budget(1.0, 1e-6))
    data = PrivateData.of(table, SCHEMA, account)
    model = PrivatePipeline(STEPS, target="ill", epsilon=1.0).fit(data)
    assert model.score(features(table), table["ill"]) > 0.9
    assert len(account.entries()) == 1
    assert model.receipt_.event == account.entries()[0].event == model.event_
    assert delta(model.event_, 1.0) <= 1e-6
    assert epsilon(model.event_, 1e-6) > 0.99
    assert list(model.feature_names_in_) == ["age", "sex"]


def test_the_budget_is_split_in_parts_of_information() -> None:
    steps = [("scale", StandardScaler()), ("fit", Ridge())]
    X = np.zeros((10, 6))
    model = PrivatePipeline(steps, bounds=(-1, 1), target_bounds=(0, 1), parts={"scale": 3.0, "fit": 1.0})
    first, rest = model.fit(X, X[:, 0]).event_.events  # type: ignore[attr-defined]
    squares = [1 / one.multiplier**2 for one in (first, *rest.events)]
    assert all(isinstance(one, GaussianLoss) for one in rest.events)
    assert squares[0] / sum(squares) == pytest.approx(0.75, rel=1e-3)
    assert delta(Composed((first, rest)), 1.0) == pytest.approx(1e-6, rel=0.1)


def test_without_a_delta_epsilons_add_up() -> None:
    X = people(100)["age"][:, None]
    model = PrivatePipeline([("a", MinMaxScaler()), ("b", KMeans(2))], bounds=(0, 100), epsilon=0.7, delta=0.0).fit(X)
    assert pure_epsilon(model.event_) == pytest.approx(0.7, rel=1e-5)
    assert pure_epsilon(model.event_) <= 0.7


def test_a_step_learns_from_the_records_as_those_before_make_them() -> None:
    """With hardly any noise, each step is what it is for records that were transformed before."""
    X = np.random.default_rng(0).uniform(30, 50, (2000, 2))
    steps = [("move", MinMaxScaler((0, 4), q=(0.0, 1.0))), ("scale", StandardScaler(2.0))]
    model = PrivatePipeline(steps, bounds=(0, 100), epsilon=1e6, delta=0.0).fit(X)
    moved = model.steps_[0][1].transform(X)
    np.testing.assert_allclose(model.steps_[1][1].mean_, moved.mean(axis=0), atol=1e-3)
    np.testing.assert_allclose(model.steps_[1][1].scale_, moved.std(axis=0), atol=1e-2)
    np.testing.assert_array_equal(model.transform(X), model.steps_[1][1].transform(moved))


def test_components_are_a_step_too() -> None:
    """Two classes that differ along one direction of eight, found by a classifier of two components."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 6000)
    X = rng.normal(0, 0.05, (6000, 8)) + np.where(y == 1, 0.3, -0.3)[:, None] * np.array([1, -1] * 4)
    steps = [("project", PCA(2)), ("fit", GaussianNB())]
    model = PrivatePipeline(steps, parts={"project": 1.0}, bounds=(-1, 1), classes=[0, 1], epsilon=9.0, delta=0.0)
    model.fit(X, y)
    assert model.score(X, y) > 0.95
    schema, project = Schema.numeric(-1.0, 1.0, 8), model.steps_[0][1]
    by, planned = (project.transformation(schema, schema.features, fitted) for fitted in (vars(project), None))
    np.testing.assert_allclose(by.rows(("pca0", "pca1"))(X), project.transform(X), atol=1e-12)
    assert by.after == planned.after


def test_no_audit_of_a_transformed_sum_refutes_it_and_one_does_with_two_thirds_of_the_noise() -> None:
    """A record that the step before moves to the end of what it may make."""
    scaler = StandardScaler(2.0)
    schema = Schema.numeric(-1.0, 1.0, 8)
    by = scaler.transformation(schema, schema.features, {"mean_": np.zeros(8), "scale_": np.full(8, 0.1)})
    data = PrivateData.of(np.zeros((1, 8)), schema, Budget(3.0, 1e-6))
    inner = column_moments_of(by.after, by.after.features)
    question = transformed(inner, by)
    assert isinstance(question, BoundedSum)
    plan = SumPlan(question, least_noise(data, inner, Budget(3.0, 1e-6)))
    records = np.random.default_rng(0).choice([-1.0, -0.15, 0.0, 1.0], (200, 8))
    worst = records[np.argmax(np.linalg.norm(question.of(records), axis=1))]
    check_sum(plan, worst)


def test_parties_learn_a_pipeline_together() -> None:
    table, schema = people(6000), SCHEMA
    parts = {
        f"p{i}": source_of({name: values[i::3] for name, values in table.items()}, schema, RECORD) for i in range(3)
    }
    trust = SecureSum.rehearsal(parts, schema, threshold=2)
    model = PrivatePipeline(STEPS, target="ill", epsilon=4.0, delta=0.0).fit(
        PrivateData(trust, MemoryLedger(Budget(4.0)))
    )
    assert model.score(features(table), table["ill"]) > 0.8
    assert model.receipt_.participants is not None


def test_a_step_that_would_leak_is_refused_before_anything_is_spent() -> None:
    X, y = np.zeros((10, 2)), np.zeros(10)
    fit = ("fit", LogisticRegression())
    for steps, words in (
        (
            [("scale", preprocessing.StandardScaler()), fit],
            "learns from records without noise.*discreet.learners.Stan",
        ),
        ([("scale", preprocessing.StandardScaler().fit(X)), fit], "was fitted to records without noise"),
        ([("scale", preprocessing.RobustScaler()), fit], "Use steps of discreet.learners"),
        ([("scale", StandardScaler(bounds=(X.min(), 1.0))), fit], r"has bounds of its own.*pipeline alone"),
        ([("cluster", KMeans(2)), fit], "does not say what it makes of each record"),
        ([fit, fit], "each name once"),
        ([], "each name once"),
    ):
        with pytest.raises(DiscreetError, match=rf"(?s){words}") as refusal:
            PrivatePipeline(steps, bounds=(0, 1), classes=[0, 1]).fit(X, y)
        assert "Nothing was released or spent" in str(refusal.value)
    for parts in ({"absent": 1.0}, {"fit": -1.0}):
        with pytest.raises(DiscreetError, match="Nothing was released or spent"):
            PrivatePipeline([fit], bounds=(0, 1), classes=[0, 1], parts=parts).fit(X, y)


def test_a_category_is_never_left_out_silently() -> None:
    with pytest.raises(DiscreetError, match=r"'sex' is a category.*OneHotEncoder"):
        PrivatePipeline(STEPS[1:], target="ill").fit(PrivateData.of(people(10), SCHEMA, Budget(1.0, 1e-6)))


def test_a_retry_with_its_key_gives_the_same_pipeline(tmp_path: Path) -> None:
    ledger = SqliteLedger.create(tmp_path / "l", Budget(3.0, 1e-6), name="ill", neighbors=Neighbors.ADD_REMOVE)
    data = PrivateData.of(people(500), SCHEMA, ledger)
    first, again = (PrivatePipeline(STEPS, target="ill", epsilon=0.9, delta=0.0).fit(data, key="k") for _ in range(2))
    np.testing.assert_array_equal(first.steps_[1][1].mean_, again.steps_[1][1].mean_)
    np.testing.assert_array_equal(first.steps_[2][1].theta_, again.steps_[2][1].theta_)
    assert again.receipt_.replayed
    other = clone(PrivatePipeline(STEPS, target="ill", epsilon=0.9, delta=0.0)).set_params(scale__reach=2.0)
    with pytest.raises(KeyReused):
        other.fit(data, key="k")


def test_a_ledger_that_knows_it_by_former_names_gives_it_again(monkeypatch: pytest.MonkeyPatch) -> None:
    data = PrivateData.of(people(500), SCHEMA, MemoryLedger(Budget(3.0, 1e-6), Neighbors.ADD_REMOVE))
    pipeline = PrivatePipeline(STEPS, target="ill", epsilon=0.9, delta=0.0)
    with monkeypatch.context() as before:
        before.setattr("discreet.trust.permit.identity", former_identity)
        first = clone(pipeline).fit(data, key="k")
    again = clone(pipeline).fit(data, key="k")
    np.testing.assert_array_equal(first.steps_[2][1].theta_, again.steps_[2][1].theta_)
    with pytest.raises(KeyReused):
        clone(pipeline).set_params(scale__reach=2.0).fit(data, key="k")


def test_it_is_a_scikit_learn_estimator_of_frames() -> None:
    table = people(3000)
    frame = features(table)
    schema = Schema({name: SCHEMA.columns[name] for name in ("age", "sex")})
    model = clone(PrivatePipeline(STEPS, bounds=schema, classes=["no", "yes"], epsilon=3.0, delta=0.0))
    model.fit(frame, table["ill"])
    assert model.predict_proba(frame).shape == (3000, 2)
    assert model.score(frame, table["ill"]) > 0.8
    assert not hasattr(model, "transform")
    assert model.set_params(scale__reach=3.0).get_params()["scale__reach"] == 3.0


def test_rows_come_as_a_frame_where_one_is_wanted() -> None:
    X = pd.DataFrame(np.random.default_rng(0).uniform(-1, 1, (100, 3)), columns=["a", "b", "c"])
    pipeline = PrivatePipeline([("scale", StandardScaler()), ("reduce", PCA(2))], bounds=(-1, 1)).fit(X)
    plain = pipeline.transform(X)
    frame = pipeline.set_output(transform="pandas").transform(X)
    assert list(frame.columns) == list(pipeline.get_feature_names_out()) == ["pca0", "pca1"]
    np.testing.assert_array_equal(frame.to_numpy(), plain)
