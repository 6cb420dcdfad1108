"""Sketches that hide a move of one row: the price, the law, what refuses."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from scipy.linalg import eigh

from discreet.accounting.accountant import delta, epsilon
from discreet.accounting.calibration import calibrate
from discreet.core.answer import AnyAnswer, MovableRows, Records
from discreet.core.bits import Bits
from discreet.core.budget import Budget
from discreet.core.errors import NotPermitted, ParameterError
from discreet.core.grid import Array
from discreet.core.neighbors import Neighbors
from discreet.mechanisms.vectors.johnson_lindenstrauss import exchanged, loss_of
from discreet.mechanisms.vectors.moved_row_sketch import LONGEST, MovedRowSketch
from discreet.noise.deterministic import DeterministicBits
from tests.conformance.audits import Audit
from tests.mechanisms.trial import MechanismTrial


class PadOfTheOtherRelation(MovedRowSketch):
    """The regularisation that would be enough, at this price, if a row of the length of the reach came or went."""

    def release(self, rows: AnyAnswer, bits: Bits) -> Array:
        enough = 1 / math.expm1(2 * math.asinh(math.sqrt(1 / self.multiplier) / 2))
        return MovedRowSketch(enough, self.projections, self.reach).release(rows, bits)


class DrawnAgain(MovedRowSketch):
    """Projections in fresh directions, whenever asked, at the price of the first."""

    def release(self, rows: AnyAnswer, bits: Bits) -> Array:
        twice = [MovedRowSketch(self.multiplier, self.projections, self.reach).release(rows, bits) for _ in range(2)]
        return np.concatenate(twice, axis=-2)


def covariances(sketch: MovedRowSketch) -> tuple[Array, Array]:
    """Of one projection of the worst neighbors."""
    pair = (np.array([sketch.constant, end]) for end in (0.0, sketch.reach))
    first, second = (np.outer(row, row) + sketch.regularization * np.eye(2) for row in pair)
    return first, second


def likelihood_ratio(sketch: MovedRowSketch) -> Callable[[Array], Array]:
    """The logarithm of it, of all projections, which tells the worst neighbors apart best."""
    first, second = map(np.linalg.inv, covariances(sketch))
    return lambda releases: np.einsum("nri,ij,nrj->n", releases, (first - second) / 2, releases)


def audit(sketch: MovedRowSketch, name: str, slow: bool = False) -> Audit:
    return Audit(name, sketch, sketch.worst_neighbors(), view=likelihood_ratio(sketch), slow=slow)


TRIAL = MechanismTrial(
    alone="neighbors move one row: neither records that come and go nor others in their place",
    twins=[audit(twin(16.0, 4), twin.__name__) for twin in (PadOfTheOtherRelation, DrawnAgain)],
    audits=[
        audit(MovedRowSketch(16.0, 4), "four projections"),
        audit(MovedRowSketch(100.0, 20, 0.75), "twenty projections, another reach", slow=True),
    ],
)


@pytest.mark.parametrize(("price", "projections", "needed"), [(1.0, 2952, 5.288e4), (1.0, 328, 6007.0)])
def test_it_needs_what_the_exact_loss_of_a_moved_row_allows(price: float, projections: int, needed: float) -> None:
    found = calibrate(MovedRowSketch(projections=projections), Budget(price, 1e-6))
    assert found.multiplier == pytest.approx(needed, rel=1e-3)
    least = exchanged(loss_of(projections, 2 * math.asinh(0.5 / math.sqrt(found.multiplier))))
    assert 0.999 < epsilon(least, 1e-6) / price <= 1.0


def test_the_worst_neighbors_have_the_ratios_that_are_paid_for() -> None:
    sketch = MovedRowSketch(16.0)
    ratios = eigh(*covariances(sketch), eigvals_only=True)
    growth = 2 * math.asinh(0.5 / math.sqrt(16.0))
    assert np.log(ratios) == pytest.approx([-growth, growth], rel=1e-4)


def test_no_promise_is_made_where_there_is_next_to_no_noise() -> None:
    assert delta(MovedRowSketch(2.0**-40).event, 5.0) > 0.99
    assert delta(MovedRowSketch(1.0, projections=1000).event, 5.0) > 0.99


def test_projections_have_the_covariance_of_the_rows_with_their_constant() -> None:
    rng = np.random.default_rng(5)
    rows = rng.normal([3.0, -20.0], [10.0, 40.0], (300, 2))
    sketch = MovedRowSketch(2000.0, 3000, 1.5)
    released = sketch.release(MovableRows(rows, 1.5), DeterministicBits(1))
    table = np.column_stack([np.full(300, sketch.constant), rows])
    exact = table.T @ table + sketch.regularization * np.eye(3)
    factor = np.linalg.cholesky(np.linalg.inv(exact))
    white = released @ factor
    assert np.abs(white.T @ white / 3000 - np.eye(3)).max() < 5 * math.sqrt(2 / 3000)


def test_a_row_is_shrunk_no_more_than_it_must_and_no_move_grows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Weights of one in place of random ones, and no noise: the projection is the row."""
    for module, value in (("johnson_lindenstrauss", 2**36), ("moved_row_sketch", 0)):
        name = f"discreet.mechanisms.vectors.{module}.rounded_gaussian"
        monkeypatch.setattr(name, lambda bits, shape, stddev, value=value: np.full(shape, value))
    rng, sketch = np.random.default_rng(6), MovedRowSketch(16.0, 1, 1.0)
    rows = rng.normal(size=(200, 3)) * 10 ** rng.uniform(0, 6, (200, 1))
    steps = rng.normal(size=(200, 3))
    moved = rows + steps / np.linalg.norm(steps, axis=1, keepdims=True)
    kept = [
        np.array([sketch.release(MovableRows(row[None], 1.0), DeterministicBits(0))[0, 1:] for row in some])
        for some in (rows, moved)
    ]
    assert np.linalg.norm(kept[0] - kept[1], axis=1).max() <= 1 + 2.0**-13
    short = np.linalg.norm(rows, axis=1) < LONGEST
    assert 50 < short.sum() < 150
    assert np.abs(kept[0] - rows)[short].max() <= 2.0**-19


def test_records_that_may_come_and_go_are_refused() -> None:
    rows = np.ones((3, 2))
    for answer in (Records(rows, 1, Neighbors.REPLACE), Records(rows, 1, Neighbors.ADD_REMOVE), MovableRows(rows, 2.0)):
        with pytest.raises(NotPermitted, match="it hides a move by 1 of one row alone"):
            MovedRowSketch(16.0, 4, 1.0).release(answer, DeterministicBits(0))


@pytest.mark.parametrize(
    "field", [{"multiplier": 0.0}, {"projections": 0}, {"reach": 0.0}, {"reach": math.inf}], ids=str
)
def test_numbers_without_meaning_are_refused(field: dict[str, float]) -> None:
    with pytest.raises(ParameterError, match="Nothing was released or spent"):
        MovedRowSketch(**field)  # type: ignore[arg-type]


def test_more_columns_than_the_price_allows_for_are_refused() -> None:
    with pytest.raises(ParameterError, match="Nothing was released"):
        MovedRowSketch().release(MovableRows(np.zeros((1, 4097)), 1.0), DeterministicBits(0))
