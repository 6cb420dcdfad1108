"""Private evaluation of regressors: close to the exact figures, under every trust model."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import Ridge as Exact
from sklearn.neighbors import KNeighborsRegressor

from discreet.core.budget import Budget
from discreet.core.errors import DiscreetError
from discreet.core.grid import Array
from discreet.learners.linear.linear_regression import Ridge
from discreet.learners.preprocessing.scalers import MinMaxScaler
from discreet.learners.selection.evaluate_regression import evaluate_regression, residual_moments_of
from discreet.learners.selection.private_pipeline import PrivatePipeline
from discreet.ledger.memory_ledger import MemoryLedger
from discreet.noise.deterministic import DeterministicBits
from discreet.releases.least_noise import SumPlan, least_noise
from discreet.schema.schema import Number, Schema
from discreet.trust.curator import Curator
from discreet.trust.local import Local
from discreet.trust.private_data import PrivateData
from discreet.trust.secure_sum import SecureSum
from discreet.trust.sources.matrix import Matrix
from tests.learners.audited_sum import check_sum

SCHEMA = Schema({"a": Number(-1, 1), "b": Number(-1, 1), "y": Number(-4, 4)})


def people(n: int = 3000) -> tuple[Array, Array]:
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (n, 2))
    return X, X @ [2.0, -1.0] + rng.normal(0, 0.5, n)


MODEL = Exact().fit(*people(500))


def private(trust: str, epsilon: float, n: int = 3000, noise: int = 0) -> PrivateData:
    matrix, bits = np.column_stack(people(n)), DeterministicBits(noise)
    if trust == "parties":
        parts = {f"p{i}": Matrix(matrix[i::3], SCHEMA) for i in range(3)}
        return PrivateData(SecureSum.rehearsal(parts, SCHEMA, threshold=2, bits=bits), MemoryLedger(Budget(epsilon)))
    kind = Local if trust == "local" else Curator
    return PrivateData(kind(Matrix(matrix, SCHEMA), bits=bits), MemoryLedger(Budget(epsilon)))


def test_the_figures_are_close_to_the_exact_ones() -> None:
    X, y = people()
    apart = y - MODEL.predict(X)
    found = evaluate_regression(MODEL, X, y, target_bounds=(-4, 4), epsilon=10.0)
    assert found.r2.value == pytest.approx(MODEL.score(X, y), abs=0.05)
    assert found.mse.value == pytest.approx(np.mean(apart**2), abs=0.1)
    assert found.bias.value == pytest.approx(apart.mean(), abs=0.05)
    assert found.receipt.epsilon == pytest.approx(10.0)


def test_intervals_hold_the_exact_figures_as_often_as_they_say() -> None:
    """To within three standard errors of a share among 200."""
    X, y = people(1000)
    exact = MODEL.score(X, y)
    found = [
        evaluate_regression(MODEL, private("curator", 2.0, 1000, noise), target="y", epsilon=2.0)
        for noise in range(200)
    ]
    assert np.mean([one.r2.interval.low <= exact <= one.r2.interval.high for one in found]) > 0.9
    assert np.mean([one.r2.half_width for one in found]) < 0.4


@pytest.mark.parametrize("trust", ["curator", "local", "parties"])
def test_it_works_under_every_trust_model(trust: str) -> None:
    X, y = people()
    steps = [("scale", MinMaxScaler(q=None)), ("fit", Ridge())]
    model = PrivatePipeline(steps, bounds=(-1, 1), target_bounds=(-4, 4), epsilon=50.0, delta=0.0).fit(X, y)
    found = evaluate_regression(model, private(trust, 50.0), target="y", epsilon=50.0)
    assert found.r2.value == pytest.approx(model.score(X, y), abs=0.15)


def test_a_column_of_predictions_is_evaluated_and_any_model_by_a_curator() -> None:
    X, y = people(300)
    table = {"guess": MODEL.predict(X), "y": y}
    schema = Schema({"guess": Number(-4, 4), "y": Number(-4, 4)})
    found = evaluate_regression("guess", PrivateData.of(table, schema, Budget(100.0)), target="y", epsilon=100.0)
    assert found.r2.value == pytest.approx(MODEL.score(X, y), abs=0.05)
    near = KNeighborsRegressor(5).fit(X, y)
    found = evaluate_regression(near, private("curator", 100.0, 300), target="y", epsilon=100.0)
    assert found.r2.value == pytest.approx(near.score(X, y), abs=0.05)
    with pytest.raises(DiscreetError, match=r"not those of KNeighbors.*Nothing was released or spent.*as a column"):
        evaluate_regression(near, private("parties", 1.0, 30), target="y")


def test_no_audit_refutes_it_and_one_does_with_two_thirds_of_the_noise() -> None:
    """The worst of a grid of records. Its bound is in l2, and Laplace noise leaves some of it unused."""
    data = private("curator", 3.0, 10)
    question = residual_moments_of(MODEL, data, "y")
    plan = SumPlan(question, least_noise(data, question, Budget(3.0)))
    grid = np.array([[a, b, c] for a in (-1.0, 0.0, 1.0) for b in (-1.0, 1.0) for c in (-4.0, 0.0, 4.0)])
    order = [("a", "b", "y").index(name) for name in question.columns]
    worst = grid[np.argmax(np.abs(question.of(grid[:, order])).sum(axis=1))][order]
    check_sum(plan, worst)


def test_a_mistake_is_refused_before_anything_is_spent() -> None:
    X, y = people(10)
    for given, fields in (
        ((MODEL, X, y), {}),
        ((MODEL, X, None), {"target_bounds": (-4, 4)}),
        ((MODEL, X, y[:5]), {"target_bounds": (-4, 4)}),
        ((MODEL, private("curator", 1.0, 10), None), {}),
        ((MODEL, X, y), {"target_bounds": (-4, 4), "epsilon": 0.0}),
    ):
        with pytest.raises(DiscreetError, match="Nothing was released or spent"):
            evaluate_regression(*given, **fields)
