"""Objective perturbation: its price against the exact density, its broken relatives, what its solver may do."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator

import numpy as np
import pytest

from discreet.accounting.accountant import delta, pure_epsilon
from discreet.accounting.calibration import calibrate
from discreet.core.answer import NeighborPair, Records
from discreet.core.budget import Budget
from discreet.core.errors import ParameterError
from discreet.core.grid import Array
from discreet.core.neighbors import Neighbors
from discreet.mechanisms.additive.gaussian import Gaussian
from discreet.mechanisms.learning.objective_perturbation import ObjectivePerturbation, tilted_loss
from discreet.mechanisms.learning.penalized_loss import LOSSES, PenalizedLoss
from discreet.noise.deterministic import DeterministicBits
from tests.conformance.audits import Audit
from tests.mechanisms.trial import MechanismTrial


@dataclasses.dataclass(frozen=True)
class RadiusNotSquared(ObjectivePerturbation):
    """The logarithm of 1 + c R / L, for vectors longer than 1."""

    @property
    def jacobian(self) -> float:
        return self.rows * math.log1p(self._loss.bend * self.radius / self.whole_penalty)


@dataclasses.dataclass(frozen=True)
class FreeIntercept(ObjectivePerturbation):
    """No penalty on the last coordinate, or next to none."""

    def problem(self, records: Records) -> PenalizedLoss:
        penalties = np.full(records.values.shape[1], self.whole_penalty)
        penalties[-1] *= 2.0**-16
        return dataclasses.replace(super().problem(records), penalty=penalties)


@dataclasses.dataclass(frozen=True)
class NoJacobian(ObjectivePerturbation):
    """The tilt alone is paid for, as if the minimiser were the tilt."""

    @property
    def jacobian(self) -> float:
        return 0.0


SHARP = RadiusNotSquared(radius=64.0, penalty=1 / 64)
BENT = NoJacobian(4.0, Gaussian(), penalty=1 / 8)


def crossing(mechanism: ObjectivePerturbation) -> NeighborPair:
    """Vectors and nearly their opposites, both on the wrong side of the others: all gradients are at their longest."""
    length, rows = mechanism.radius, mechanism.rows
    others = np.tile([0.0, length], (math.ceil(2 * mechanism.penalty), 1))
    own = [np.tile([sign * 0.95 * length, -0.3 * length], (rows, 1)) for sign in (1, -1)]
    return NeighborPair(*(Records(np.concatenate([others, part]), rows, mechanism.neighbors) for part in own))


TRIAL = MechanismTrial(
    twins=[
        Audit("R for R^2", SHARP, SHARP.against(0)),
        Audit("an intercept without penalty", FreeIntercept(), FreeIntercept().against(0)),
        Audit("no Jacobian", BENT, BENT.against(0)),
    ],
    audits=[
        Audit(
            f"{type(noise).__name__}, {neighbors.value}, {rows} rows",
            mechanism,
            mechanism.worst_neighbors() if neighbors is Neighbors.ADD_REMOVE else crossing(mechanism),
            view=lambda released: released[:, :1],
            slow=rows == 3 and neighbors is Neighbors.REPLACE,
        )
        for noise, neighbors, rows in (
            (ObjectivePerturbation().noise, Neighbors.ADD_REMOVE, 1),
            (ObjectivePerturbation().noise, Neighbors.REPLACE, 3),
            (Gaussian(), Neighbors.ADD_REMOVE, 3),
            (Gaussian(), Neighbors.REPLACE, 1),
        )
        for mechanism in [ObjectivePerturbation(1.0, noise, rows=rows, neighbors=neighbors, penalty=16.0 * rows)]
    ],
)


def pairs() -> Iterator[tuple[ObjectivePerturbation, list[Records]]]:
    """One-dimensional data sets: a unit beside others that pull with it or against it, for either loss."""
    for loss in LOSSES:
        for penalty in (0.1, 1.0, 8.0):
            for others in (-8, 0, 3):
                for length in (0.3, 1.0):
                    for neighbors in Neighbors:
                        rest = np.full((abs(others), 1), np.sign(others))
                        own = np.array([[length]])
                        instead = own[:0] if neighbors is Neighbors.ADD_REMOVE else -own
                        both = [Records(np.concatenate([rest, part]), 1, neighbors) for part in (own, instead)]
                        mechanism = ObjectivePerturbation(
                            2.0, loss=loss, penalty=penalty, radius=1.0, neighbors=neighbors
                        )
                        yield mechanism, both


def log_density(mechanism: ObjectivePerturbation, records: Records, at: Array, gaussian: bool) -> Array:
    """Of the exact minimiser, at many points: the change of variables."""
    loss, vectors = LOSSES[mechanism.loss], records.values[:, 0]
    margins = at[:, None] * vectors
    tilt = loss.pull(margins) @ vectors - mechanism.penalty * at
    scale = mechanism.multiplier * mechanism.units
    falls = -np.square(tilt / scale) / 2 if gaussian else -np.abs(tilt / scale)
    return np.asarray(falls + np.log(loss.curvature(margins) @ vectors**2 + mechanism.penalty))


def points(mechanism: ObjectivePerturbation) -> Array:
    """Nearly all of the mass: tilts of 30 scales, as far as the least penalty lets them move the minimiser."""
    reach = 60 * mechanism.units / mechanism.penalty + 60
    fine, wide = np.linspace(-60, 60, 24_001), np.linspace(-reach, reach, 2001)
    return np.union1d(fine, wide)


def test_with_a_gamma_tilt_no_ratio_of_densities_exceeds_the_price() -> None:
    most = 0.0
    for mechanism, both in pairs():
        at = points(mechanism)
        first, second = (log_density(mechanism, records, at, False) for records in both)
        price = 1 / mechanism.multiplier + mechanism.jacobian
        found = float(np.abs(first - second).max())
        assert found <= price * (1 + 1e-9)
        most = max(most, found / price)
    assert most > 0.9  # the bound is nearly reached


def test_with_a_gaussian_tilt_the_exact_divergence_is_below_the_table_in_both_directions() -> None:
    for mechanism, both in pairs():
        at = points(mechanism)
        widths = np.gradient(at)
        logs = [log_density(mechanism, records, at, True) for records in both]
        p, q = (np.exp(log - log.max()) * widths for log in logs)
        p, q = p / p.sum(), q / q.sum()
        table = tilted_loss(1 / mechanism.multiplier, mechanism.units, mechanism.jacobian, mechanism.neighbors)
        for epsilon in (0.05, 0.3, 1.0):
            for one, other, own in ((p, q, table.remove), (q, p, table.add)):
                exact = np.maximum(one - math.exp(epsilon) * other, 0.0).sum()
                losses = table.step * (own.first + np.arange(len(own.probabilities)))
                bound = own.infinity + own.probabilities @ np.maximum(-np.expm1(epsilon - losses), 0.0)
                assert exact <= bound + 3e-5, (mechanism, epsilon)  # densities jump, and the integral is a sum


def test_one_logarithm_suffices_for_both_relations_and_any_number_of_rows() -> None:
    rng = np.random.default_rng(0)
    for _ in range(300):
        d, r = rng.integers(1, 5, 2)
        rest, go, come = (rng.normal(size=(k, d)) for k in (3, r, r))
        go, come = (rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1) for rows in (go, come))
        penalty = 10 ** rng.uniform(-2, 1)
        common = rest.T @ rest + penalty * np.eye(d)
        a, b = (np.linalg.slogdet(common + 0.25 * rows.T @ rows)[1] for rows in (go, come))
        assert abs(a - b) <= r * math.log1p(0.25 / penalty) + 1e-12
        assert 0 <= a - np.linalg.slogdet(common)[1] <= r * math.log1p(0.25 / penalty) + 1e-12


def test_the_price_is_the_tilt_the_logarithm_and_a_64th() -> None:
    mechanism = ObjectivePerturbation(2.0, loss="logistic", penalty=5.0, rows=3)
    assert pure_epsilon(mechanism.event) == pytest.approx(0.5 + 3 * math.log(1.05) + 0.5 / 64)
    gaussian = calibrate(ObjectivePerturbation(noise=Gaussian(), penalty=100.0), Budget(1.0, 1e-6))
    assert 1 < gaussian.multiplier / calibrate(Gaussian, Budget(1.0, 1e-6)).multiplier < 1.01
    assert delta(gaussian.event, 1.0) <= 1e-6


def test_no_noise_pays_for_a_penalty_that_is_too_small() -> None:
    with pytest.raises(ParameterError, match="cost more with any noise"):
        calibrate(ObjectivePerturbation(loss="logistic", penalty=0.01), Budget(1.0))


def test_what_is_released_is_next_to_the_tilted_minimiser() -> None:
    """The tilts are drawn first: so they can be drawn again, and the gradient be looked at."""
    vectors = np.random.default_rng(1).normal(size=(50, 3)) / 4
    mechanism = ObjectivePerturbation(1.5, loss="logistic", penalty=3.0, radius=1.0)
    released = mechanism.release(Records(vectors, 1, Neighbors.ADD_REMOVE).stacked(5), DeterministicBits(2))
    step = 2.0 ** math.floor(math.log2(mechanism.tolerance / (4 * math.sqrt(3))))
    tilts = mechanism.noise.noise(DeterministicBits(2), (5, 3), 1.5 * (1 + 2.0**-30) / step) * step
    gradients = 3 * released + tilts - LOSSES["logistic"].pull(released @ vectors.T) @ vectors
    assert np.linalg.norm(tilts, axis=1).min() > 1
    assert np.linalg.norm(gradients, axis=1).max() < 0.02  # the noise that hides the solver's error


def test_another_relation_or_larger_units_than_were_paid_for_are_refused() -> None:
    for rows, neighbors in ((1, Neighbors.REPLACE), (2, Neighbors.ADD_REMOVE)):
        with pytest.raises(ParameterError, match="Set rows and neighbors"):
            ObjectivePerturbation().release(Records(np.zeros((2, 2)), rows, neighbors), DeterministicBits(0))


def test_parameters_that_cannot_be_are_refused() -> None:
    for fields in ({"penalty": 0.0}, {"radius": -1.0}, {"rows": 0}, {"loss": "hinge"}, {"multiplier": 0.0}):
        with pytest.raises(ParameterError):
            ObjectivePerturbation(**fields)
