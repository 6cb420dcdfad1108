"""Private evaluation: what it says is close to the exact figures, under every trust model, and what it promises."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression as Exact
from sklearn.metrics import confusion_matrix, roc_auc_score
from sklearn.naive_bayes import GaussianNB as ExactNB

from discreet.core.budget import Budget
from discreet.core.errors import DiscreetError, KeyReused
from discreet.core.grid import Array
from discreet.core.neighbors import Neighbors
from discreet.learners.linear.logistic_regression import LogisticRegression
from discreet.learners.preprocessing.scalers import StandardScaler
from discreet.learners.selection.evaluate import Evaluation, evaluate
from discreet.learners.selection.private_pipeline import PrivatePipeline
from discreet.learners.selection.score_cells import cells_of, placed
from discreet.ledger.memory_ledger import MemoryLedger
from discreet.ledger.sqlite_ledger import SqliteLedger
from discreet.noise.deterministic import DeterministicBits
from discreet.releases.least_noise import SumPlan, least_noise
from discreet.schema.schema import Category, Number, Schema
from discreet.trust.curator import Curator
from discreet.trust.local import Local
from discreet.trust.private_data import PrivateData
from discreet.trust.secure_sum import SecureSum
from discreet.trust.sources.matrix import Matrix
from tests.learners.audited_sum import check_sum

SCHEMA = Schema({"a": Number(-4, 4), "b": Number(-4, 4), "y": Category((0, 1))})


def people(n: int = 8000, seed: int = 0) -> tuple[Array, Array]:
    rng = np.random.default_rng(seed)
    X = rng.normal(0, 1, (n, 2)).clip(-4, 4)
    return X, (X @ [2.0, -1.0] + rng.logistic(0, 1, n) > 0).astype(int)


MODEL = Exact().fit(*people(3000, 1))


@pytest.fixture(scope="module")
def learned() -> Any:
    """A private model."""
    return LogisticRegression(bounds=(-4, 4), classes=[0, 1], epsilon=50.0, max_iter=3).fit(*people(3000, 1))


def private(n: int, budget: Budget, trust: str = "curator", seed: int = 0) -> PrivateData:
    matrix = np.column_stack(people(n, seed))
    if trust == "parties":
        parts = {f"p{i}": Matrix(matrix[i::3], SCHEMA) for i in range(3)}
        return PrivateData(SecureSum.rehearsal(parts, SCHEMA, threshold=2), MemoryLedger(budget))
    kind = Local if trust == "local" else Curator
    return PrivateData(kind(Matrix(matrix, SCHEMA)), MemoryLedger(budget))


def seeded(n: int, epsilon: float, noise: int, records: int = 0, **fields: Any) -> Evaluation:
    """An evaluation that is the same in every run of the tests."""
    trust = Curator(Matrix(np.column_stack(people(n, records)), SCHEMA), bits=DeterministicBits(noise))
    return evaluate(MODEL, PrivateData(trust, MemoryLedger(Budget(epsilon))), target="y", epsilon=epsilon, **fields)


def test_the_figures_are_close_to_the_exact_ones() -> None:
    X, y = people()
    found = evaluate(MODEL, X, y, epsilon=1.0)
    assert found.accuracy.value == pytest.approx(MODEL.score(X, y), abs=0.01)
    assert found.auc.value == pytest.approx(roc_auc_score(y, MODEL.predict_proba(X)[:, 1]), abs=0.01)
    exact = confusion_matrix(y, MODEL.predict(X))
    np.testing.assert_allclose(found.confusion.values.reshape(2, 2), exact, atol=60)
    p, shares = MODEL.predict_proba(X)[:, 1], found.calibration
    for k in (2, 10, 17):
        some = (p >= k / 20) & (p < (k + 1) / 20)
        assert shares.values[k] == pytest.approx(y[some].mean(), abs=0.15)
    assert found.recall[1].value == pytest.approx(exact[1, 1] / exact[1].sum(), abs=0.02)
    assert found.receipt.epsilon == pytest.approx(1.0)


def held(found: list[Evaluation], accuracy: float, auc: float) -> tuple[float, float]:
    """How many intervals hold the exact figures."""
    return (
        np.mean([one.accuracy.interval.low <= accuracy <= one.accuracy.interval.high for one in found]).item(),
        np.mean([one.auc.interval.low <= auc <= one.auc.interval.high for one in found]).item(),
    )


def test_intervals_hold_the_exact_figures_as_often_as_they_say() -> None:
    """To within three standard errors of a share among 200."""
    exact, area = MODEL.score(*people(600)), seeded(600, 1e6, 0).auc.value
    found = [seeded(600, 0.5, noise) for noise in range(200)]
    assert min(held(found, exact, area)) > 0.9
    assert np.mean([one.accuracy.half_width for one in found]) < 0.1


def test_intervals_for_the_population_hold_its_figures() -> None:
    X, y = people(40_000, 5)
    exact, area = MODEL.score(X, y), float(roc_auc_score(y, MODEL.predict_proba(X)[:, 1]))
    found = [seeded(500, 1.0, k, 10 + k, population=True, bins=40) for k in range(200)]
    assert min(held(found, exact, area)) > 0.9


@pytest.mark.parametrize("trust", ["curator", "local", "parties"])
def test_it_works_under_every_trust_model(trust: str, learned: Any) -> None:
    exact = learned.score(*people(6000))
    found = evaluate(learned, private(6000, Budget(8.0), trust), target="y", bins=4, epsilon=8.0)
    assert found.accuracy.value == pytest.approx(exact, abs=0.05)
    assert found.auc.value > 0.75


def test_parties_evaluate_a_pipeline() -> None:
    steps = [("scale", StandardScaler()), ("fit", LogisticRegression(max_iter=2))]
    model = PrivatePipeline(steps, bounds=(-4, 4), classes=[0, 1], epsilon=20.0, delta=0.0).fit(*people(3000))
    found = evaluate(model, private(3000, Budget(2.0), "parties"), target="y", epsilon=2.0)
    assert found.accuracy.value == pytest.approx(model.score(*people(3000)), abs=0.03)
    with pytest.raises(DiscreetError, match=r"not those of GaussianNB.*Nothing was released or spent.*as a column"):
        evaluate(ExactNB().fit(*people(100)), private(10, Budget(1.0), "parties"), target="y")


def test_a_column_of_scores_or_of_classes_is_evaluated() -> None:
    X, y = people()
    table = {"p": MODEL.predict_proba(X)[:, 1], "guess": MODEL.predict(X), "y": y}
    schema = Schema({"p": Number(0, 1), "guess": Category((0, 1)), "y": Category((0, 1))})
    for name in ("p", "guess"):
        found = evaluate(name, PrivateData.of(table, schema, Budget(1.0)), target="y")
        assert found.accuracy.value == pytest.approx(MODEL.score(X, y), abs=0.01)
    with pytest.raises(DiscreetError, match="no scores"):
        _ = found.auc


def test_three_classes_have_a_confusion_matrix() -> None:
    X, _ = people(6000)
    y = np.digitize(X[:, 0], [-0.5, 0.5])
    model = ExactNB().fit(X, y)
    found = evaluate(model, X, y, epsilon=2.0)
    np.testing.assert_allclose(found.confusion.values.reshape(3, 3), confusion_matrix(y, model.predict(X)), atol=30)
    assert "AUC" not in str(found)


def test_a_record_that_the_model_refuses_counts_for_nothing_and_changes_no_other() -> None:
    X, y = people(200)
    odd = np.vstack([X, [[np.nan, 1.0]]])
    places = placed(MODEL, odd, 20, [0, 1])
    assert np.isnan(places[-1])
    np.testing.assert_array_equal(places[:-1], placed(MODEL, X, 20, [0, 1]))
    np.testing.assert_array_equal(places[:5], [placed(MODEL, X[i : i + 1], 20, [0, 1])[0] for i in range(5)])
    assert len(evaluate(MODEL, odd, [*y, 7], epsilon=1.0).confusion) == 4


def test_classes_are_found_by_their_names_and_not_by_their_places(learned: Any) -> None:
    """In a schema that lists them the other way round, scores and signs are turned."""
    X, y = people(3000)
    turned = Schema({**SCHEMA.columns, "y": Category((1, 0))})
    matrix = np.column_stack([X, 1 - y])
    parts = {f"p{i}": Matrix(matrix[i::3], turned) for i in range(3)}
    trusts = (Curator(Matrix(matrix, turned)), SecureSum.rehearsal(parts, turned, threshold=2))
    for trust in trusts:
        found = evaluate(learned, PrivateData(trust, MemoryLedger(Budget(50.0))), target="y", epsilon=50.0)
        assert found.classes == ("1", "0")
        assert found.accuracy.value == pytest.approx(learned.score(X, y), abs=0.01)
        assert found.auc.value > 0.8
    other = Schema({**SCHEMA.columns, "y": Category((1, 2))})
    with pytest.raises(DiscreetError, match="the same classes"):
        evaluate(learned, PrivateData.of(Matrix(matrix, other), other, Budget(1.0)), target="y")


def test_frames_are_evaluated_with_their_names() -> None:
    X, y = people(500)
    frame = pd.DataFrame(X, columns=["a", "b"])
    model = Exact().fit(frame, y)
    assert evaluate(model, frame, y, epsilon=1e4).accuracy.value == pytest.approx(model.score(frame, y), abs=0.01)
    data = PrivateData.of({"b": X[:, 1], "a": X[:, 0], "y": y}, SCHEMA, Budget(1e4))
    found = evaluate(model, data, target="y", epsilon=1e4)
    assert found.accuracy.value == pytest.approx(model.score(frame, y), abs=0.01)


def test_a_retry_with_its_key_gives_the_same_figures_and_another_model_is_refused(tmp_path: Path) -> None:
    ledger = SqliteLedger.create(tmp_path / "l", Budget(3.0, 1e-6), name="e", neighbors=Neighbors.ADD_REMOVE)
    data = PrivateData.of(Matrix(np.column_stack(people(200)), SCHEMA), SCHEMA, ledger)
    first, again = (evaluate(MODEL, data, target="y", key="k") for _ in range(2))
    np.testing.assert_array_equal(first.counts, again.counts)
    assert again.receipt.replayed
    with pytest.raises(KeyReused):
        evaluate(Exact(C=0.01).fit(*people(300)), data, target="y", key="k")


def test_no_audit_refutes_it_and_one_does_with_two_thirds_of_the_noise() -> None:
    """Every record is one mark: the worst of a grid is any."""
    data = private(10, Budget(3.0))
    question = cells_of(MODEL, data, "y", 4)
    plan = SumPlan(question, least_noise(data, question, Budget(3.0)))
    grid = np.array([[a, b, c] for a in (-4.0, 0.0, 4.0) for b in (-4.0, 4.0) for c in (0.0, 1.0)])
    worst = grid[np.argmax(np.abs(question.of(grid)).sum(axis=1))]
    check_sum(plan, worst)


def test_a_mistake_is_refused_before_anything_is_spent() -> None:
    X, y = people(10)
    data = private(10, Budget(1.0))
    for fields in ({"bins": 3}, {"bins": 0}, {"confidence": 2.0}, {"epsilon": 0.0}):
        with pytest.raises(DiscreetError, match="Nothing was released or spent"):
            evaluate(MODEL, X, y, **fields)
    wrong = Exact().fit(np.column_stack([X, X]), y)
    for given in ((MODEL, data, None, None), (MODEL, data, y, "y"), (MODEL, X, None, None), (wrong, data, None, "y")):
        model, records, labels, target = given
        with pytest.raises(DiscreetError, match="Nothing was released or spent"):
            evaluate(model, records, labels, target=target)
    assert data.ledger.balance().certified == 0
