"""Every learner, found by walking its room, is put through the same trial."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from discreet.accounting.single_plan import SinglePlan
from discreet.core.budget import Budget
from discreet.core.events import read, written
from discreet.core.question import BoundedSum
from discreet.core.schema import Schema
from discreet.noise.deterministic import DeterministicBits
from discreet.trust.curator import Curator
from discreet.trust.local import Local
from discreet.trust.private_data import PrivateData
from discreet.trust.secure_sum import SecureSum
from discreet.trust.sources.matrix import Matrix
from tests.conformance.walk import learners

FOUND = learners()
each = pytest.mark.parametrize("kind", FOUND, ids=lambda kind: kind.__name__)
BOUNDS = (-20.0, 20.0)

EXEMPT = {
    "check_estimators_empty_data_messages": "no record and one record are neighbors: both are fitted, neither raises",
    "check_clustering": "labels_ would be an exact release about every record; predict gives labels to their owner",
    "check_dtype_object": "a value that is no number is missing: an error would tell of a record, and quote it",
    "check_fit_idempotent": "every fit draws fresh noise, which nothing can seed",
}


def exemptions(estimator: Any) -> dict[str, str]:
    return EXEMPT


def blobs(rows: int = 300) -> np.ndarray:
    return np.random.default_rng(0).normal(size=(rows, 3)) * 4


def curator(records: np.ndarray) -> Curator:
    return Curator(Matrix(records, Schema.numeric(*BOUNDS, 3)), bits=DeterministicBits(0))


def local(records: np.ndarray) -> Local:
    return Local(Matrix(records, Schema.numeric(*BOUNDS, 3)), bits=DeterministicBits(0))


def secure(records: np.ndarray) -> SecureSum:
    tables = {f"p{i}": part for i, part in enumerate(np.array_split(records, 3))}
    return SecureSum.rehearsal(tables, Schema.numeric(*BOUNDS, 3), threshold=2, bits=DeterministicBits(9))


TRUST = {"curator": curator, "local": local, "secure sum": secure}
trusted = pytest.mark.parametrize("trust", TRUST.values(), ids=TRUST)


def data(records: np.ndarray, spy: list[Any] | None = None, trust: Any = curator) -> PrivateData:
    private = PrivateData(trust(records), SinglePlan(Budget(1.0, 1e-6)))
    if spy is not None:
        ask = private._trust.ask

        def listening(question: Any, mechanism: Any) -> Any:
            spy.append(question)
            return ask(question, mechanism)

        private._trust.ask = listening  # type: ignore[method-assign]
    return private


@parametrize_with_checks([kind(bounds=BOUNDS) for kind in FOUND], expected_failed_checks=exemptions)
def test_scikit_learn_accepts_it(estimator: Any, check: Any) -> None:
    check(estimator)


@each
def test_it_releases_only_what_its_docstring_names(kind: type[Any]) -> None:
    model = kind().fit(data(blobs()))
    attributes = (kind.__doc__ or "").partition("Attributes\n")[2].partition("\n\n")[0]
    named = set(re.findall(r"^    (\w+_) :", attributes, flags=re.MULTILINE))
    assert {name for name in vars(model) if name.endswith("_")} <= named


@each
@trusted
def test_its_event_survives_json_and_depends_neither_on_data_nor_on_trust(kind: type[Any], trust: Any) -> None:
    first, second = kind().fit(data(blobs(), trust=trust)), kind().fit(data(blobs()[:1]))
    assert first.event_ == second.event_ == read(written(first.event_)) == first.receipt_.event


@each
def test_its_docstring_says_what_is_public_and_what_it_promises(kind: type[Any]) -> None:
    text = kind.__doc__ or ""
    assert "Guarantee\n    ---------" in text
    assert "Released" in text
    parameters = text.partition("Parameters\n    ----------")[2].partition("\n\n")[0]
    for name in kind()._get_param_names():
        assert re.search(rf"\b{name}\b[^:]* :[^\n]*\n\s+Public\.", parameters), name


@each
def test_a_fused_sum_is_the_sum_of_its_clipped_rows(kind: type[Any]) -> None:
    asked: list[Any] = []
    records = np.vstack([blobs(), [[np.nan, 0.0, 1.0]], [[1e308, -1e308, 0.0]]])
    kind().fit(data(records, asked))
    assert asked
    for question in asked:
        if isinstance(question, BoundedSum) and question.total is not None:
            np.testing.assert_array_equal(question.total(records), question.steps(records).sum(axis=0))


@each
@pytest.mark.parametrize(
    "records",
    [np.empty((0, 3)), np.zeros((1, 3)), np.full((5, 3), np.nan), np.full((5, 3), 1e308), np.full((5, 3), -np.inf)],
    ids=["empty", "one", "nan", "huge", "inf"],
)
@trusted
def test_odd_data_fit_without_a_word(kind: type[Any], records: np.ndarray, trust: Any) -> None:
    calm, odd = kind().fit(data(blobs(), trust=trust)), kind().fit(data(records, trust=trust))
    for name in vars(calm):
        if isinstance(getattr(calm, name), np.ndarray):
            assert getattr(odd, name).shape == getattr(calm, name).shape
            assert np.isfinite(getattr(odd, name)).all()
