"""Records in files as a model takes them: by name, in its order, with its labels."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from discreet.core.errors import ParameterError
from discreet.query.models.labelled_rows import read_labelled

RNG = np.random.default_rng(0)


def people(number: int) -> pd.DataFrame:
    frame = pd.DataFrame({"age": RNG.integers(20, 80, number), "town": RNG.choice(["north", "south"], number)})
    frame["ill"] = np.where(frame["age"] + 20 * (frame["town"] == "north") > 60, "yes", "no")
    return frame


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str]:
    for name in ("train.csv", "rest.csv"):
        people(60).to_csv(tmp_path / name, index=False)
    return str(tmp_path / "train.csv"), str(tmp_path / "rest.csv")


def named_model(train: str) -> Any:
    frame = pd.read_csv(train)
    columns = make_column_transformer((StandardScaler(), ["age"]), (OneHotEncoder(), ["town"]))
    return make_pipeline(columns, LogisticRegression()).fit(frame[["town", "age"]], frame["ill"])


def test_a_model_that_knows_names_gets_frames_in_its_order(files: tuple[str, str]) -> None:
    model, frame = named_model(files[0]), pd.read_csv(files[0])
    records, members, others = read_labelled(model, *files)
    assert (records.features, records.target, records.texts) == (("town", "age"), "ill", frozenset({"town"}))
    assert members.y.tolist() == frame["ill"].tolist()
    assert (records.asked.predict_proba(members.X) == model.predict_proba(frame[["town", "age"]])).all()
    assert len(others.X) == 60
    assert records.fitted is not None
    again = records.fitted(members.X[:40], members.y[:40])
    assert again.predict(members.X[:3]).tolist() == members.y[:3].tolist()


def test_a_model_of_arrays_gets_arrays_and_labels_of_its_kind(tmp_path: Path) -> None:
    for kind, shown in ((int, [0, 1]), (float, [0.0, 1.0]), (bool, [False, True])):
        X = RNG.normal(size=(30, 2))
        y = (X[:, 0] > 0).astype(kind)
        frame = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "y": y})
        for name in ("m.csv", "o.parquet"):
            (frame.to_csv if name.endswith("csv") else frame.to_parquet)(tmp_path / name, index=False)
        model = GaussianNB().fit(X, y)
        records, members, others = read_labelled(model, str(tmp_path / "m.csv"), str(tmp_path / "o.parquet"))
        assert records.asked is model
        assert members.X.dtype == np.float64
        np.testing.assert_allclose(members.X, X, rtol=1e-12)
        assert sorted(set(members.y.tolist())) == shown == sorted(set(others.y.tolist()))


def test_labels_stay_as_they_are_for_a_model_that_does_not_name_its_classes(tmp_path: Path) -> None:
    class Bare:
        classes_ = None

    (tmp_path / "m.csv").write_text("a,y\n1,no\n2,yes\n")
    (tmp_path / "o.csv").write_text("a,y\n3,no\n")
    _, members, others = read_labelled(Bare(), str(tmp_path / "m.csv"), str(tmp_path / "o.csv"), "y")
    assert (members.y.tolist(), others.y.tolist()) == (["no", "yes"], ["no"])


def test_missing_values_stay_missing(tmp_path: Path) -> None:
    (tmp_path / "m.csv").write_text("a,b,y\n1,,0\n,x,1\n")
    _, members, _ = read_labelled(object(), str(tmp_path / "m.csv"), str(tmp_path / "m.csv"), "y")
    assert members.X[0, 1] is None
    assert np.isnan(members.X[1, 0])


def test_what_does_not_fit_is_refused_with_what_would(files: tuple[str, str], tmp_path: Path) -> None:
    model = named_model(files[0])
    other = str(tmp_path / "other.csv")
    people(5).rename(columns={"age": "years"}).to_csv(other, index=False)
    cases: list[tuple[Any, str, str | None, str]] = [
        (model, other, None, "differ in columns: 'age', 'years'"),
        (model, files[1], "il", "Did you mean 'ill'"),
        (object(), files[1], None, "Give --target"),
        (LogisticRegression().fit(RNG.normal(size=(9, 4)), [0, 1, 0] * 3), files[1], "ill", "takes 4 features"),
        (model, files[1], "age", "no label in the column 'age'"),
    ]
    for given, others, target, words in cases:
        with pytest.raises(ParameterError, match=words):
            read_labelled(given, files[0], others, target)
    with pytest.raises(ParameterError, match="'age' among them"):
        read_labelled(model, other, other, "ill")
