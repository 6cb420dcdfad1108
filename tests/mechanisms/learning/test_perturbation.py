"""Output perturbation: how far minimisers are apart, and its price."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from discreet.core.answer import Records
from discreet.core.bits import Bits
from discreet.core.events import GaussianLoss, LaplaceLoss
from discreet.core.grid import Array
from discreet.core.neighbors import Neighbors
from discreet.mechanisms.additive.gaussian import Gaussian
from discreet.mechanisms.learning.perturbation import OutputPerturbation
from discreet.noise.deterministic import DeterministicBits
from tests.conformance.audits import Audit
from tests.mechanisms.trial import MechanismTrial


@dataclasses.dataclass(frozen=True)
class HalfTheDistance(OutputPerturbation):
    """Noise for minimisers that are half as far apart: R / (2 L), as if a strongly convex function bent twice."""

    def release(self, records: Records, bits: Bits) -> Array:
        halved = dataclasses.replace(self, multiplier=self.multiplier / 2)
        return OutputPerturbation.release(halved, records, bits)


TRIAL = MechanismTrial(
    twins=[HalfTheDistance()],
    audits=[
        Audit(f"{type(noise).__name__}, {neighbors.value}, {rows} rows", mechanism, mechanism.worst_neighbors())
        for noise, neighbors, rows in (
            (OutputPerturbation().noise, Neighbors.ADD_REMOVE, 1),
            (OutputPerturbation().noise, Neighbors.REPLACE, 3),
            (Gaussian(), Neighbors.ADD_REMOVE, 3),
            (Gaussian(), Neighbors.REPLACE, 1),
        )
        for mechanism in [OutputPerturbation(1.0, noise, rows=rows, neighbors=neighbors, penalty=16.0 * rows)]
    ],
)


def test_it_costs_what_its_noise_costs() -> None:
    assert OutputPerturbation(2.0).event == LaplaceLoss(2.0)
    assert OutputPerturbation(2.0, Gaussian()).event == GaussianLoss(2.0)


def minimizer(mechanism: OutputPerturbation, values: Array) -> Array:
    problem = mechanism.problem(Records(values, mechanism.rows, mechanism.neighbors))
    grid = mechanism.grid(values.shape[1])
    return grid.values(problem.minimizers(np.zeros((1, values.shape[1])), mechanism.tolerance, grid)[0])


@pytest.mark.parametrize("loss", ["logistic", "huber_hinge"])
def test_a_unit_moves_the_minimiser_no_farther_than_the_bound(loss: str) -> None:
    """Searched over canaries, short and long, with the others or against them: the worst moves it half as far."""
    rng, most = np.random.default_rng(0), 0.0
    for penalty in (0.1, 1.0, 30.0):
        for trial in range(60):
            mechanism = OutputPerturbation(loss=loss, penalty=penalty, radius=1.0)  # type: ignore[arg-type]
            rest = rng.normal(size=(rng.integers(0, 20), 2))
            extra = rng.normal(size=(1, 2)) * (100 if trial % 2 else 0.5)
            moved = minimizer(mechanism, np.concatenate([rest, extra])) - minimizer(mechanism, rest)
            most = max(most, float(np.linalg.norm(moved)) * penalty)
    assert 0.45 < most <= 1 + 1e-4


def test_it_is_the_minimiser_that_scikit_learn_finds() -> None:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(500, 3)) / 4
    y = np.where(X[:, 0] + rng.normal(size=500) / 4 > 0, 1.0, -1.0)
    mechanism = OutputPerturbation(2.0**-20, loss="logistic", penalty=2.0, radius=2.0)
    exact = LogisticRegression(C=1 / (2.0 * 2.0**2), fit_intercept=False, tol=1e-10).fit(X, y)
    released = mechanism.release(Records(y[:, None] * X, 1, Neighbors.ADD_REMOVE), DeterministicBits(0))
    np.testing.assert_allclose(released, exact.coef_[0], atol=1e-4)


def test_missing_values_count_for_nothing_and_long_vectors_less() -> None:
    """Of five times the radius: a 25th, as scikit-learn weighs it."""
    mechanism = OutputPerturbation(loss="logistic", radius=1.0, penalty=0.01)
    rows = np.array([[3.0, 4.0], [np.nan, 0.2], [np.inf, 0.1], [0.0, 0.5], [-0.3, 0.1]])
    exact = LogisticRegression(C=1 / 0.01, fit_intercept=False, tol=1e-10)
    kept, signs = rows[[0, 3, 4]] * [[1], [1], [-1]], [1, 1, 0]
    exact.fit(kept, signs, sample_weight=[1 / 25, 1, 1])
    np.testing.assert_allclose(minimizer(mechanism, rows), exact.coef_[0], atol=1e-3)
    huge = np.array([[1e300, 0.0], [1e200, 1e200], [0.0, 0.5]])
    assert np.isfinite(minimizer(mechanism, huge)).all()
