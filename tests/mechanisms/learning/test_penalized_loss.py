"""The certified minimiser: for every data set and every tilt, in float64 or beyond it."""

from __future__ import annotations

from decimal import Context, Decimal, localcontext

import numpy as np
import pytest

from discreet.core.grid import Array, Grid
from discreet.mechanisms.learning import penalized_loss
from discreet.mechanisms.learning.penalized_loss import LOSSES, LossName, PenalizedLoss

both = pytest.mark.parametrize("loss", list(LOSSES))
GRID = Grid(-40)


def vectors(n: int, d: int) -> Array:
    rows = np.random.default_rng(0).normal(size=(n, d)) + 0.5
    return np.asarray(rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1))


@both
def test_the_gradient_is_short_where_it_says_so(loss: LossName) -> None:
    for n, d, penalty in ((0, 1, 1.0), (1, 1, 1e-3), (700, 4, 1e-2), (3000, 2, 50.0)):
        shares = np.random.default_rng(2).uniform(0.1, 1.0, n)
        problem = PenalizedLoss(vectors(n, d), 1.0, LOSSES[loss], penalty, shares)
        tilts = np.random.default_rng(1).normal(size=(20, d)) * 10.0 ** np.arange(-13, 7)[:, None] / 1e4
        points = GRID.values(problem.minimizers(tilts, 1e-7, GRID))
        pulls = shares * LOSSES[loss].pull(points @ problem.vectors.T / shares)
        gradients = penalty * points + tilts - pulls @ problem.vectors
        rounded = np.sqrt(d) * GRID.step / 2 * (penalty + n)
        assert np.linalg.norm(gradients, axis=1).max() <= 1e-7 + rounded


@both
def test_decimal_numbers_go_on_where_float64_ends(loss: LossName) -> None:
    problem = PenalizedLoss(vectors(40, 2), 1.0, LOSSES[loss], 2.0, np.linspace(0.2, 1.0, 40))
    tilt = np.array([[1.0, -2.0]])
    near, exact = (problem.minimizers(tilt, tolerance, GRID) for tolerance in (1e-9, 1e-30))
    assert np.abs(near - exact).max() <= 1e-9 / 2 / GRID.step
    far = problem.minimizers(tilt * 2.0**70, 1e-9, Grid(20))
    assert Grid(20).values(far) == pytest.approx(-tilt * 2.0**69, abs=2.0**21)


def test_a_gradient_that_only_seems_short_is_settled_in_decimal_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is computed to be 0, which float64 cannot know to within 1e-17."""
    settled: list[float] = []

    def noted(self: PenalizedLoss, start: Array, tilt: Array, tolerance: float, grid: Grid) -> list[int]:
        settled.append(tolerance)
        return [0]

    monkeypatch.setattr(PenalizedLoss, "_settled", noted)
    problem = PenalizedLoss(np.array([[1.0]]), 1.0, LOSSES["huber_hinge"], 1.5)
    assert GRID.values(problem.minimizers(np.zeros((1, 1)), 1e-9, GRID)) == 0.5
    assert not settled
    problem.minimizers(np.zeros((1, 1)), 1e-17, GRID)
    assert settled == [1e-17]


@both
def test_gradient_descent_gets_there_if_newton_s_steps_do_not(loss: LossName, monkeypatch: pytest.MonkeyPatch) -> None:
    """In float64 alone, and in decimal numbers alone."""
    problem = PenalizedLoss(vectors(5, 2), 1.0, LOSSES[loss], 2.0)
    tilt = np.array([[0.3, -0.2]])
    usual = problem.minimizers(tilt, 1e-9, GRID)
    monkeypatch.setattr(penalized_loss, "PARTS", (-1.0,))
    with monkeypatch.context() as alone:
        alone.setattr(PenalizedLoss, "_settled", None)
        assert np.abs(problem.minimizers(tilt, 1e-9, GRID) - usual).max() <= 1e-9 / GRID.step
    monkeypatch.setattr(penalized_loss, "TURNS", 0)
    assert np.abs(problem.minimizers(tilt, 1e-9, GRID) - usual).max() <= 1e-9 / GRID.step


@both
def test_the_stated_error_is_more_than_the_actual_one(loss: LossName) -> None:
    shares = np.linspace(0.01, 1.0, 600)
    problem = PenalizedLoss(vectors(600, 3), 1.0, LOSSES[loss], 0.125, shares)
    point = np.array([[1e3, -2e3, 1e3]])
    tilt = np.array([[1.0, 2.0, 3.0]])
    found = problem._gradients(point, tilt)[0]
    exact_vectors = penalized_loss._decimals(problem.vectors)
    at = penalized_loss._decimals(point[0])
    own = penalized_loss._decimals(shares)
    pulls = own * np.array([LOSSES[loss].exact_pull(margin) for margin in exact_vectors @ at / own], dtype=object)
    exact = Decimal("0.125") * at + penalized_loss._decimals(tilt[0]) - pulls @ exact_vectors
    off = float(sum((Decimal(a) - b) ** 2 for a, b in zip(found.tolist(), exact, strict=True))) ** 0.5
    assert off <= float(problem._errors(point, tilt)[0]) <= 1e-7


def test_many_vectors_are_certified_in_float64(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(PenalizedLoss, "_settled", None)
    problem = PenalizedLoss(vectors(2**17, 3), 1.0, LOSSES["logistic"], 1.0)
    found = GRID.values(problem.minimizers(np.zeros((1, 3)), 2.0**-20, GRID))
    assert np.linalg.norm(problem._gradients(found, np.zeros((1, 3)))) < 1e-3


@pytest.mark.parametrize("name", list(LOSSES))
def test_pulls_are_accurate_and_bend_no_more_than_they_say(name: LossName) -> None:
    loss = LOSSES[name]
    margins = np.concatenate([np.linspace(-60, 60, 4801), [-1e300, 1e300, 0.0, 2.0]])
    pulls = loss.pull(margins)
    with localcontext(Context(prec=40)):
        exact = [loss.exact_pull(Decimal(margin)) for margin in margins.tolist()]
        worst = max(abs(Decimal(p) - q) for p, q in zip(pulls.tolist(), exact, strict=True))
    assert worst <= 16 * 2.0**-53
    assert ((pulls >= 0) & (pulls <= 1)).all()
    slopes = -np.diff(pulls[:4801]) / np.diff(margins[:4801])
    assert (slopes >= 0).all()
    assert slopes.max() <= loss.bend * (1 + 1e-9)
    np.testing.assert_allclose(slopes, loss.curvature((margins[:4800] + margins[1:4801]) / 2), atol=0.01)
    assert loss.curvature(margins).max() <= loss.bend
