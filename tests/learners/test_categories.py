"""Category columns: every learner uses them, or refuses them before anything is charged."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

from discreet.core.budget import Budget
from discreet.core.errors import DiscreetError
from discreet.ledger.memory_ledger import MemoryLedger
from discreet.schema.schema import Category, Schema
from discreet.trust.curator import Curator
from discreet.trust.local import Local
from discreet.trust.private_data import PrivateData
from discreet.trust.sources.matrix import Matrix
from tests.conformance.test_learners import FOUND
from tests.conformance.walk import trial

SEX = ("f", "m")
OTHERS = {"FairClassifier"}  # its records come with a sensitive attribute


def frame_and_data(one: Any, rows: int = 60) -> tuple[pd.DataFrame, PrivateData]:
    """The features of a trial with a category among them, as a data frame and as private data with their target."""
    X = one.features(rows)
    places = np.arange(rows) % 2
    columns = list(one.schema.columns.items())
    schema = Schema(dict([*columns[:3], ("sex", Category(SEX)), *columns[3:]]))
    source = one.source(X).found(tuple(one.schema.columns))
    matrix = np.column_stack([source[:, :3], places, source[:, 3:]])
    trust = (Local if one.trust is Local else Curator)(Matrix(matrix, schema))
    frame = pd.DataFrame(X, columns=[name for name, _ in columns[:3]]).assign(sex=np.array(SEX)[places])
    return frame, PrivateData(trust, MemoryLedger(Budget(1.0, 1e-6)))


def refused(fit: Callable[[], Any]) -> str:
    """The words with which a fit is refused; none, if it is not."""
    try:
        fit()
    except DiscreetError as why:
        return str(why)
    return ""


def given(model: Any, frame: Any) -> Any:
    """What a fitted model says of rows."""
    return (model.predict if hasattr(model, "predict") else model.transform)(frame)


@pytest.mark.parametrize("kind", FOUND, ids=lambda kind: kind.__name__)
def test_a_category_is_used_or_refused_before_anything_is_spent(kind: type[Any]) -> None:
    one = trial(kind)
    if kind.__name__ in OTHERS:
        return
    frame, data = frame_and_data(one)
    model = one.of_private()
    if why := refused(lambda: model.fit(data)):
        assert "Nothing was released or spent" in why
        assert "is a category" in why
        assert data.ledger.balance().certified == 0
        return
    assert "sex" in model.feature_names_in_
    assert len(given(model, frame)) == 60


@pytest.mark.parametrize("kind", [kind for kind in FOUND if "columns" in kind().get_params()])
def test_columns_that_are_named_leave_categories_out(kind: type[Any]) -> None:
    one = trial(kind)
    frame, data = frame_and_data(one)
    model = one.of_private().set_params(columns=["x0", "x2", "x1"]).fit(data)
    assert model.feature_names_in_.tolist() == ["x0", "x2", "x1"]
    assert len(given(model, frame[["x0", "x2", "x1"]])) == 60
    _, data = frame_and_data(one)
    for wrong in (["x0", "sex"], ["x0", "x0"], ["x9"], []):
        assert "Nothing was released or spent" in refused(lambda: one.of_private().set_params(columns=wrong).fit(data))  # noqa: B023
    assert "columns are named" in refused(lambda: one.of_arrays().set_params(columns=["x0"]).fit(frame[["x0"]]))
    assert data.ledger.balance().certified == 0


@pytest.mark.parametrize("kind", FOUND, ids=lambda kind: kind.__name__)
def test_categories_of_arrays_are_used_or_refused(kind: type[Any]) -> None:
    one = trial(kind)
    if kind.__name__ in OTHERS:
        return
    frame, data = frame_and_data(one)
    bounds = Schema({name: data.schema.columns[name] for name in frame.columns})
    model, y = one.of_arrays().set_params(bounds=bounds), one.targets(one.features(60))
    if why := refused(lambda: model.fit(frame, y)):
        assert "Nothing was released or spent" in why
        assert "is a category" in why
        return
    assert len(given(model, frame)) == 60
