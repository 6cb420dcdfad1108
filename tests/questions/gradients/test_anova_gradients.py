"""Gradients of ANOVA models: residuals of the formula, at the record itself, with a pull that is shrunk."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.special import softmax

from discreet.core.bound import ORDER
from discreet.core.grid import Array
from discreet.questions.gradients.anova_gradients import anova_gradients_of, anova_residuals_of, residual_sizes
from discreet.questions.gradients.gradients import contrasts
from tests.questions.gradients.test_anova_features import BASES, COLUMNS, EXTREME, FUNCTIONS, expected
from tests.questions.trial import SCHEMA, Trial, summed

COEFFICIENTS = np.random.default_rng(6).normal(size=(2, BASES.size))
FIRST = ("x", "two", "y")
CLASSES: dict[str, Any] = {
    **BASES.given,
    "columns": FIRST,
    "target": "kind",
    "reach": 0.5,
    "norm": "l2",
    "coefficients": COEFFICIENTS,
    "loss": "logistic",
    "center": (0.2, -0.3),
    "unit": 1.0,
    "quantile": 0.5,
    "residual": 0.5,
}
NUMBERS: dict[str, Any] = {
    **CLASSES,
    "columns": COLUMNS,
    "target": "far",
    "coefficients": COEFFICIENTS[:1],
    "loss": "squared",
    "center": (1e47,),
    "unit": 2e47,
}
SIZES = {key: NUMBERS[key] for key in (*BASES.given, "columns", "target", "coefficients", "loss", "center", "unit")}
TRIALS = {
    "anova_gradients": Trial(
        CLASSES,
        "3fa212e7c361",
        forged=[
            {"coefficients": COEFFICIENTS[:1]},
            {"coefficients": COEFFICIENTS * 1e9},
            {"center": (0.2,)},
            {"center": (0.2, 1e9)},
            {"loss": "squared"},
            {"residual": 0.0},
            {"residual": 1e9},
            {"unit": 0.0},
            {"quantile": 1.0},
            {"norm": "linf"},
            {"reach": 1e9},
            {"target": "only"},
            {"target": "far"},
            {"functions": FUNCTIONS * 1e9},
        ],
    ),
    "anova_residuals": Trial(SIZES, "faa33a6d54c0", forged=[{"loss": "logistic"}, {"target": "kind"}, {"unit": -1.0}]),
}


def people(n: int = 300) -> Array:
    rng = np.random.default_rng(3)
    some = np.column_stack([rng.uniform(-10, 110, n), rng.integers(0, 2, n).astype(float), rng.uniform(0, 1, n)])
    return np.vstack([some, np.where(EXTREME == 2, 1.0, EXTREME)])


def pulled(rows: Array, residuals: Array, residual: float) -> Array:
    """The sum of s clip(r) f, in units of the length that residuals are shrunk to."""
    shrunk = residuals / np.maximum(np.linalg.norm(residuals, axis=1, keepdims=True), residual)
    weights = np.minimum(0.5 / np.linalg.norm(rows, axis=1, keepdims=True), 1)
    return np.asarray((shrunk.T @ (weights * rows)).ravel())


def test_the_sums_are_those_of_the_formula_for_classes() -> None:
    X = people()
    y = np.random.default_rng(4).integers(0, 3, len(X))
    rows, basis = expected(X), contrasts(3)
    scores = rows @ COEFFICIENTS.T + (0.2, -0.3)
    residuals = (np.eye(3)[y] - softmax(scores @ basis, axis=1)) @ basis.T
    records = np.vstack([np.column_stack([X, y]), [[1.0, 0.0, 0.5, np.nan]]])
    found = summed(anova_gradients_of(SCHEMA, **CLASSES), records)
    np.testing.assert_allclose(found, pulled(rows, residuals, 0.5), atol=0.5)  # of 306 records, each within 2e-3


def test_the_sums_are_those_of_the_formula_for_numbers() -> None:
    X, rng = people(), np.random.default_rng(4)
    y = rng.uniform(0, 1e48, len(X))
    rows = expected(np.where(X == 1, 1.0, X))
    scores, scaled = rows @ COEFFICIENTS[0], (y - 1e47) / 2e47
    away = {
        "squared": scaled - scores,
        "quantile": 0.3 - (scaled < scores),
        "poisson": scaled - np.exp(scores),
        "gamma": scaled * np.exp(-scores) - 1,
    }
    for loss, residuals in away.items():
        question = anova_gradients_of(SCHEMA, **{**NUMBERS, "loss": loss, "quantile": 0.3})
        found = summed(question, np.column_stack([X, y]))
        np.testing.assert_allclose(found, pulled(rows, residuals[:, None], 0.5), atol=0.6, err_msg=loss)
        sizes = summed(anova_residuals_of(SCHEMA, **{**SIZES, "loss": loss}), np.column_stack([X, y]))
        shown = scaled - scores if loss == "quantile" else residuals
        below = [np.count_nonzero(np.abs(shown) <= end) for end in residual_sizes()[:-1]]
        np.testing.assert_allclose(np.cumsum(sizes)[:-1], below, atol=3)  # residuals are rounded, near the ends


def test_a_hostile_record_reaches_the_bound_and_none_goes_beyond() -> None:
    """Long features, residuals as large as can be, classes that the model is sure are wrong; nan, and beyond bounds."""
    X = people()
    for norm in ("l1", "l2"):
        for fields, targets in ((CLASSES, (0.0, 1.0, 2.0)), (NUMBERS, (-1e48, 1e48, 1e47))):
            steep = {**fields, "norm": norm, "coefficients": 40 * fields["coefficients"]}
            question = anova_gradients_of(SCHEMA, **steep)
            records = np.vstack([np.column_stack([X, np.full(len(X), y)]) for y in targets])
            rows = question.grid.values(question.steps(records))
            lengths = np.linalg.norm(rows, ORDER[question.bound.norm], axis=1)
            assert lengths.max() <= question.bound.radius
            assert lengths.max() == pytest.approx(0.5, rel=1e-2)


def test_the_residual_is_that_of_the_record_itself_however_short_its_pull() -> None:
    """With twice the reach a record pulls up to twice as hard, and its residual is the same."""
    records = np.column_stack([people(50), np.zeros(56)])
    half, whole = (
        anova_gradients_of(SCHEMA, **{**NUMBERS, "reach": reach, "residual": 64.0}).of(records) for reach in (0.05, 0.1)
    )
    np.testing.assert_allclose(2 * half, whole, atol=2e-4)  # residuals of 2**-14 of 64 are cut


def test_what_a_record_adds_does_not_depend_on_the_others() -> None:
    records = np.column_stack([people(40), np.zeros(46)])
    for fields in (CLASSES, NUMBERS):
        question = anova_gradients_of(SCHEMA, **fields)
        alone = np.vstack([question.of(record[None, :]) for record in records])
        np.testing.assert_array_equal(question.of(records), alone)
