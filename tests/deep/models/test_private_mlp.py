"""Private multi-layer perceptrons: what they learn, what they cost, and how they behave as estimators."""

from __future__ import annotations

import pickle
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from discreet.accounting.accountant import epsilon
from discreet.core.budget import Budget
from discreet.core.errors import BudgetExceeded, DiscreetError, EngineFailure, ParameterError
from discreet.core.events import read, written
from discreet.core.grid import Array
from discreet.core.neighbors import RECORD, Neighbors, Unit
from discreet.deep.fair.fair_classifier import FairClassifier
from discreet.deep.models.private_mlp_classifier import PrivateMLPClassifier
from discreet.deep.models.private_mlp_regressor import PrivateMLPRegressor
from discreet.learners import MinMaxScaler, PrivatePipeline, PrivateSearchCV
from discreet.ledger.memory_ledger import MemoryLedger
from discreet.ledger.sqlite_ledger import SqliteLedger
from discreet.noise.deterministic import DeterministicBits
from discreet.schema.schema import Category, Number, Schema
from discreet.trust.curator import Curator
from discreet.trust.private_data import PrivateData
from discreet.trust.sources.matrix import Matrix

SHORT: dict[str, Any] = {"sampling_rate": 0.5, "max_iter": 2, "bounds": (-20, 20)}
EACH = (
    PrivateMLPClassifier([4], classes=[0, 1, 2], **SHORT),
    PrivateMLPRegressor([4], target_bounds=(-1, 1), **SHORT),
)


def points(n: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).uniform(-1, 1, (n, 2))


def test_they_learn_from_private_data_what_they_learn_from_arrays(tmp_path: Path) -> None:
    X = points(6000)
    kinds: dict[str, Any] = {"epsilon": 2.0, "random_state": 0, "sampling_rate": 0.2, "max_iter": 20}
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
    numbers = Schema({"a": Number(-1, 1), "b": Number(-1, 1)})
    assert found.fit(PrivateData.of(frame, numbers, Budget(1.0, 1e-6))).predict(frame[["a"]]).min() >= -1


@pytest.mark.parametrize(
    ("model", "how"),
    [
        (PrivateMLPClassifier(), {}),
        (PrivateMLPClassifier(target="a"), {}),
        (PrivateMLPClassifier(target="same", classes=["no", "yes"]), {}),
        (PrivateMLPClassifier(target="same", bounds=(-1, 1)), {}),
        (PrivateMLPRegressor(target="same"), {}),
        (PrivateMLPClassifier(target="same"), {"neighbors": Neighbors.REPLACE}),
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
    odd, strange = np.vstack([X, [[np.nan, 0.5], [0.5, 0.5]] * 100]), np.append(y, [1.0, 17.0] * 100)
    sure: dict[str, Any] = {"bounds": (-1, 1), "classes": [0, 1], "sampling_rate": 1.0, "epsilon": 1e9, "max_iter": 3}
    first, second = (
        PrivateMLPClassifier([4], random_state=0, **sure).fit(*given) for given in ((X, y), (odd, strange))
    )
    np.testing.assert_allclose(first.coefs_[0], second.coefs_[0], atol=1e-3)


def people(rows: int, **how: Any) -> PrivateData:
    """Two numbers and a class that follows from them."""
    X = points(rows)
    table = {"a": X[:, 0], "b": X[:, 1], "same": np.where(X[:, 0] * X[:, 1] > 0, "yes", "no")} | how.pop("more", {})
    schema = Schema({"a": Number(-1, 1), "b": Number(-1, 1), "same": Category(("no", "yes"))})
    return PrivateData.of(pd.DataFrame(table), schema, how.pop("ledger", Budget(9.0, 1e-5)), **how)


def test_the_ledger_of_the_data_pays_once_for_a_key_and_gives_the_network_again(tmp_path: Path) -> None:
    account = SqliteLedger.create(
        tmp_path / "ledger.db", Budget(1.1, 1e-5), name="people", neighbors=Neighbors.ADD_REMOVE, unit=RECORD
    )
    model = PrivateMLPClassifier([4], target="same", sampling_rate=0.5, max_iter=2)
    first = clone(model).fit(people(50, ledger=account), key="network")
    (entry,) = account.entries()
    assert (entry.key, account.head, entry.committed) == ("network", first.receipt_.head, True)
    again = clone(model).fit(people(50, ledger=account), key="network")
    assert again.receipt_.replayed
    for one, other in zip(first.coefs_ + first.intercepts_, again.coefs_ + again.intercepts_, strict=True):
        np.testing.assert_array_equal(one, other)
    assert len(account.entries()) == 1
    with pytest.raises(DiscreetError, match="another question"):
        clone(model).set_params(clip=2.0).fit(people(50, ledger=account), key="network")
    with pytest.raises(BudgetExceeded):
        clone(model).fit(people(50, ledger=account))


def test_a_network_that_is_too_large_for_an_entry_is_kept_beside_the_ledger_and_given_again() -> None:
    data, model = people(50), PrivateMLPClassifier([500, 500], target="same", sampling_rate=0.5, max_iter=1)
    first, again = (clone(model).fit(data, key="large") for _ in range(2))
    assert again.receipt_.replayed
    rows = pd.DataFrame(points(20), columns=first.feature_names_in_)
    np.testing.assert_array_equal(first.predict_proba(rows), again.predict_proba(rows))
    assert len(data.ledger.entries()) == 1


class FailsOnce(Matrix):
    """A source that cannot be read at first."""

    failed = False

    def everything(self, columns: Sequence[str]) -> Array:
        if not self.failed:
            self.failed = True
            raise EngineFailure("read", "the disk is away", "Ask again.")
        return super().everything(columns)


@pytest.mark.parametrize(
    "model",
    [
        PrivateMLPClassifier([4], target="y", sampling_rate=0.5, max_iter=2),
        FairClassifier(protects="record", target="y", sensitive="g", expected_size=50, epochs=1, delta=1e-6),
    ],
    ids=lambda model: type(model).__name__,
)
def test_records_that_cannot_be_read_leave_the_charge_to_the_same_fit_with_the_same_key(model: Any) -> None:
    two = Category(("a", "b"))
    schema = Schema({"a": Number(-1, 1), "b": Number(-1, 1), "y": two, **({"g": two} if model.others else {})})
    rows = np.zeros((50, len(schema.columns)))
    data = PrivateData(Curator(FailsOnce(rows, schema)), MemoryLedger(Budget(1.0, 1e-6)))
    with pytest.raises(EngineFailure, match="the same key goes on without another charge"):
        clone(model).fit(data, key="again")
    assert clone(model).fit(data, key="again").receipt_.key == "again"
    assert len(data.ledger.entries()) == 1


def test_users_with_one_row_each_are_protected_and_those_with_more_are_refused_before_a_charge() -> None:
    model, more = PrivateMLPClassifier([4], target="same", sampling_rate=0.5, max_iter=2), {"who": list("abcde") * 10}
    users = people(50, more=more, unit=Unit("user", column="who", rows=1))
    assert clone(model).fit(users).receipt_.unit.column == "who"
    several = people(50, more=more, unit=Unit("user", column="who", rows=3))
    with pytest.raises(DiscreetError, match=r"one row for each unit.*Nothing was released or spent"):
        clone(model).fit(several)
    assert not several.ledger.entries()


def test_samples_and_noise_come_from_the_bits_of_the_curator() -> None:
    model = PrivateMLPClassifier([4], target="same", sampling_rate=0.5, max_iter=2, random_state=0)
    first, again = (clone(model).fit(people(50, bits=DeterministicBits(0))) for _ in range(2))
    np.testing.assert_array_equal(first.coefs_[0], again.coefs_[0])
    assert not first.receipt_.secret


def test_only_the_records_that_fulfil_a_condition_are_trained_on() -> None:
    """By weights that hardly any noise moved: those of the same network, trained on these records alone.

    Of a rectified unit that no record switches on, the gradient is noise alone, and Adam takes whole steps along it.
    """
    sure: dict[str, Any] = {"sampling_rate": 1.0, "epsilon": 1e9, "max_iter": 3, "random_state": 0}
    sure["activation"] = "tanh"
    model, rich = PrivateMLPClassifier([4], target="same", **sure), Budget(2e9, 1e-5)
    some = clone(model).fit(people(60, ledger=rich).where("a > 0"))
    X = points(60)[points(60)[:, 0] > 0]
    alone = PrivateMLPClassifier([4], bounds=(-1, 1), classes=["no", "yes"], **sure)
    alone.fit(X, np.where(X[:, 0] * X[:, 1] > 0, "yes", "no"))
    np.testing.assert_allclose(some.coefs_[0], alone.coefs_[0], atol=1e-3)


def test_private_pipelines_and_searches_end_with_a_network_and_pay_once() -> None:
    X = points(4000)
    given: dict[str, Any] = {"bounds": (-1, 1), "classes": [False, True], "epsilon": 4.0}
    y = X[:, 0] * X[:, 1] > 0
    network = PrivateMLPClassifier([16], sampling_rate=0.2, max_iter=15)
    steps = [("scale", MinMaxScaler()), ("network", network)]
    line = PrivatePipeline(steps, **given).fit(X, y)
    assert line.score(X, y) > 0.85
    assert 3.9 < epsilon(line.event_, 1e-6) <= 4
    assert line.receipt_.epsilon <= 4
    search = PrivateSearchCV(network, {"learning_rate_init": [1e-6, 0.03]}, **given).fit(X, y)
    assert search.best_params_ == {"learning_rate_init": 0.03}
    assert search.score(X, y) > 0.8
    assert 3.9 < epsilon(search.event_, 1e-6) <= 4


def test_random_stopping_tries_networks_at_the_price_of_few() -> None:
    grid = {"clip": [0.5, 1.0, 2.0, 4.0, 8.0]}
    search = PrivateSearchCV(
        PrivateMLPRegressor([2], sampling_rate=0.5, max_iter=1), grid, n_iter=2, release_after=0, bounds=(-1, 1),
        target_bounds=(-1, 1),
    ).fit(points(60), points(60)[:, 0])  # fmt: skip
    assert search.scores_ is None
    assert epsilon(search.event_, 1e-6) <= 1
    assert search.predict(points(5)).shape == (5,)


def test_parameters_that_cannot_be_are_refused() -> None:
    for wrong in ({"activation": "sign"}, {"sampling_rate": 1.5}, {"max_iter": 0}, {"classes": [1]}, {"clip": -1.0}):
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


def test_torch_is_not_loaded_before_a_fit() -> None:
    code = "import sys; from discreet.deep import PrivateMLPClassifier; assert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
