"""Encoders that buy the values of text columns, as the first step of a pipeline that pays once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from discreet.accounting.accountant import epsilon
from discreet.core.budget import Budget
from discreet.core.errors import DiscreetError
from discreet.core.neighbors import Neighbors, Unit
from discreet.learners.bayes.gaussian_nb import GaussianNB
from discreet.learners.linear.linear_regression import LinearRegression
from discreet.learners.preprocessing.category_encoder import OneHotEncoder, OrdinalEncoder
from discreet.learners.preprocessing.scalers import StandardScaler
from discreet.learners.selection.evaluate import evaluate
from discreet.learners.selection.evaluate_regression import evaluate_regression
from discreet.learners.selection.private_pipeline import PrivatePipeline
from discreet.learners.selection.private_search_cv import PrivateSearchCV
from discreet.ledger.sqlite_ledger import SqliteLedger
from discreet.schema.schema import Category, Number, Schema, Text
from discreet.trust.local import Local
from discreet.trust.private_data import PrivateData
from discreet.trust.sources.frame import Frame
from tests.learners import trial
from tests.learners.trial import LearnerTrial

SCHEMA = Schema({"town": Text(), "age": Number(0, 100), "owns": Category(("no", "yes"))})
TOWNS = np.array(["Ulm"] * 2000 + ["Bonn"] * 1999 + ["Ann's own village"])
TABLE: dict[str, Any] = {
    "town": TOWNS,
    "age": np.full(4000, 40.0),
    "owns": np.where(TOWNS == "Ulm", "yes", "no"),
    "who": np.arange(4000) // 2,
}
ROWS = pd.DataFrame({"town": ["Ulm", "Bonn", "Rome"], "age": [40.0, 40.0, 40.0]})
TRIALS = {
    "OneHotEncoder": LearnerTrial(OneHotEncoder(bounds=trial.BOUNDS)),
    "OrdinalEncoder": LearnerTrial(OrdinalEncoder(bounds=trial.BOUNDS)),
}
LISTED = Schema({"age": Number(0, 100), "sex": Category(("f", "m")), "city": Category(("a", "b", "c"))})


def pipeline(encoder: Any = None, **public: Any) -> PrivatePipeline:
    steps = [("encode", encoder or OneHotEncoder(max_categories=4)), ("fit", GaussianNB())]
    return PrivatePipeline(steps, target="owns", **public)


def people(table: Any = TABLE, **public: Any) -> PrivateData:
    return PrivateData.of(table, SCHEMA, Budget(1.0, 1e-6), **public)


def test_a_pipeline_buys_categories_and_learns_from_them_for_one_price() -> None:
    for encoder in (OneHotEncoder(max_categories=4), OrdinalEncoder(max_categories=4)):
        data = people()
        model = pipeline(encoder).fit(data)
        assert model.steps_[0][1].categories_ == [["Bonn", "Ulm"], []]  # and no village of one person
        assert list(model.predict(ROWS[:2])) == ["yes", "no"]
        assert len(data.ledger.entries()) == 1
        assert 0.99 < epsilon(model.event_, 1e-6) <= 1.0
        with pytest.raises(DiscreetError, match="Nothing was released or spent"):
            model.fit(data)


def test_how_many_columns_there_are_is_public() -> None:
    """However many values are named, later steps see columns of the same names and bounds."""
    for encoder in (OneHotEncoder(max_categories=4), OrdinalEncoder(max_categories=4)):
        planned = encoder.transformation(SCHEMA, ("town", "age"), None).after.columns
        for values in (["Bonn", "Ulm"], ["a", "b", "c", "d"], ["(no value was named)"]):
            found = encoder.transformation(SCHEMA, ("town", "age"), {"categories_": [values, []]})
            assert found.after.columns == planned


def test_a_value_that_was_not_bought_is_encoded_as_missing() -> None:
    marks = OneHotEncoder(max_categories=3).fit(people())
    assert list(marks.get_feature_names_out()) == ["town_0", "town_1", "town_2", "age", "owns_no", "owns_yes"]
    rows = ROWS.assign(owns="no")
    np.testing.assert_array_equal(marks.transform(rows)[:, :3], [[0, 1, 0], [1, 0, 0], [0, 0, 0]])
    places = OrdinalEncoder(max_categories=3).fit(people())
    np.testing.assert_array_equal(places.transform(rows)[:, 0], [1, 0, -1])


def test_files_users_and_conditions_are_read_again_by_the_lists(tmp_path: Path) -> None:
    pd.DataFrame(TABLE).to_csv(tmp_path / "people.csv", index=False)
    users = people(TABLE, unit=Unit("user", "who", 2))
    for data in (people(tmp_path / "people.csv"), users, people().where("age >= 18")):
        assert list(pipeline().fit(data).predict(ROWS[:2])) == ["yes", "no"]


def test_a_retry_with_a_key_buys_nothing_again(tmp_path: Path) -> None:
    ledger = SqliteLedger.create(tmp_path / "l", Budget(1.0, 1e-6), name="towns", neighbors=Neighbors.ADD_REMOVE)
    first, second = (pipeline().fit(PrivateData.of(TABLE, SCHEMA, ledger), key="a") for _ in range(2))
    assert second.receipt_.replayed
    assert first.steps_[0][1].categories_ == second.steps_[0][1].categories_
    np.testing.assert_array_equal(first.predict_proba(ROWS), second.predict_proba(ROWS))


def test_evaluations_read_text_by_the_lists_that_a_model_bought() -> None:
    model = pipeline().fit(people())
    found = evaluate(model, people(), target="owns", epsilon=1.0)
    assert abs(found.accuracy.value - 1) < 0.05  # the noise has a standard deviation of about 0.001
    schema = Schema({**SCHEMA.columns, "owns": Number(0, 1)})
    table = {**TABLE, "owns": (TOWNS == "Ulm").astype(float)}
    steps = [("encode", OneHotEncoder(max_categories=2)), ("fit", LinearRegression())]
    numbers = [PrivateData.of(table, schema, Budget(3.0, 1e-6)) for _ in range(2)]
    line = PrivatePipeline(steps, target="owns", epsilon=3.0).fit(numbers[0])
    assert evaluate_regression(line, numbers[1], target="owns", epsilon=3.0).r2.value > 0.8


def test_what_cannot_be_bought_is_refused_before_anything_is_spent() -> None:
    scaled = [("scale", StandardScaler()), ("encode", OneHotEncoder(max_categories=4)), ("fit", GaussianNB())]
    local = PrivateData(Local(Frame(TABLE, SCHEMA)), people(neighbors=Neighbors.REPLACE).ledger)
    given = PrivateData.of(Frame(TABLE, SCHEMA), SCHEMA, Budget(1.0, 1e-6))
    listed = PrivateData.of(TABLE, SCHEMA.listing({"town": Category(("Ulm",))}), Budget(1.0, 1e-6))
    wrong: list[tuple[Any, PrivateData, str]] = [
        (PrivatePipeline(scaled, target="owns"), people(), "Put it first"),
        (pipeline(delta=0.0), people(), "positive delta"),
        (pipeline(OneHotEncoder(max_categories=0)), people(), "max_categories"),
        (pipeline(), local, "reads the records again"),
        (pipeline(), given, "reads the records again"),
        (pipeline(), listed, "no text column"),
        (PrivateSearchCV(pipeline().set_params(target=None), {}, target="owns"), people(), "Buy them once"),
    ]
    for model, data, words in wrong:
        before = data.ledger.head
        with pytest.raises(DiscreetError, match=words) as refused:
            model.fit(data)
        assert "Nothing was released or spent" in str(refused.value)
        assert data.ledger.head == before


def test_each_value_has_a_column_and_nothing_is_paid() -> None:
    encoder = OneHotEncoder(bounds=LISTED).fit([[30, "f", "a"]])
    assert list(encoder.get_feature_names_out()) == ["x0", "x1_f", "x1_m", "x2_a", "x2_b", "x2_c"]
    assert encoder.receipt_.epsilon == 0.0
    np.testing.assert_array_equal(
        encoder.transform([[30, "m", "c"], [130, "?", None]]), [[30, 0, 1, 0, 0, 1], [100, 0, 0, 0, 0, 0]]
    )


def test_each_value_is_its_place_and_nothing_is_paid() -> None:
    encoder = OrdinalEncoder(bounds=LISTED).fit([[30, "f", "a"]])
    assert encoder.receipt_.epsilon == 0.0
    np.testing.assert_array_equal(encoder.transform([[30, "m", "c"], [130, "?", None]]), [[30, 1, 2], [100, -1, -1]])
