"""Scores of a smooth ANOVA model, and the residuals that its losses have."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from typing import Literal

import numpy as np

from discreet.core.checks import check_one_of, check_positive, check_whole
from discreet.core.errors import ParameterError
from discreet.core.grid import Array, Grid
from discreet.questions.gradients.anova_features import FEATURES, AnovaFeatures
from discreet.questions.gradients.gradients import MOST_CLASSES, WHOLE, contrasts, exponential
from discreet.questions.tables.domain import Codes
from discreet.schema.schema import Category, Schema

ASKED = "scores of an ANOVA model"
Loss = Literal["logistic", "squared", "quantile", "poisson", "gamma"]
RESIDUALS = Grid(-20)
SCORES = Grid(-16)  # of scores of classes, so that contrasts of them are exact
COEFFICIENTS = Grid(-14)
STEEPEST = 2.0**8  # of coefficients and of scores
FARTHEST = 2.0**10  # of a residual, in units of the target
LARGEST = 16.0  # of an exponent
LEAST = float(exponential(np.array([-LARGEST]))[0])
Residuals = Callable[[Array, Array], Array]
"""Scores of shape (outputs, n) and n targets in; residuals of the same shape out, in whole steps of `RESIDUALS`."""


class AnovaScores:
    """Scores of records by public coefficients of their features, and the residuals of these scores.

    Parameters
    ----------
    schema : Schema
        Of the records.
    features : AnovaFeatures
        Of all columns but the target, which is the last.
    target, coefficients, loss, center, unit, quantile : str, array, text, tuple and numbers
        Public. See `anova_gradients`.
    """

    def __init__(
        self,
        schema: Schema,
        features: AnovaFeatures,
        target: str,
        coefficients: Array,
        loss: Loss,
        center: tuple[float, ...],
        unit: float,
        quantile: float,
    ) -> None:
        column = schema.columns.get(target)
        check_one_of(
            ASKED,
            "loss",
            loss,
            ("logistic",) if isinstance(column, Category) else ("squared", "quantile", "poisson", "gamma"),
        )
        check_positive(ASKED, "unit", unit, 2.0**-900, 2.0**900)
        check_positive(ASKED, "quantile", quantile, 2.0**-10, 1 - 2.0**-10)
        outputs = len(schema.category(target).values) - 1 if loss == "logistic" else 1
        check_whole(ASKED, "number of classes less one", outputs, 1, MOST_CLASSES - 1)
        shape = (outputs, features.size)
        if (
            coefficients.shape != shape
            or len(center) != outputs
            or not np.abs(coefficients).max() <= STEEPEST
            or (loss == "logistic" and not np.abs(center).max() <= STEEPEST)
        ):
            obstacle = f"the coefficients of {outputs} scores of {features.size} features are {coefficients.shape}"
            raise ParameterError(ASKED, obstacle, f"Give one number for each, of {STEEPEST:g} at most, and a center.")
        self._features = features
        whole, ends = COEFFICIENTS.cut(coefficients), np.cumsum([1, *features.bases.sizes])
        parts, step = np.split(whole, ends, axis=1), COEFFICIENTS.step * FEATURES.step
        self._level = parts[0][:, 0] * features.constant * step
        self._heights = [own @ table * step for own, table in zip(parts[1:-1], features.singles, strict=True)]
        self._between = [_between(own, features) for own in parts[-1]]
        if loss == "logistic":
            self._level = self._level + np.array(center)
            self._residuals = class_residuals(outputs + 1)
        else:
            self._residuals = number_residuals(loss, center[0], unit, quantile)

    def residuals(self, records: Array) -> tuple[Codes, Array]:
        """The cells of records that have a target, and their residuals, of shape (outputs, n), in whole steps."""
        some = records[~np.isnan(records[:, -1])]
        cells = self._features.cells(some[:, :-1])
        return cells, self._residuals(self.scores(cells), some[:, -1])

    def scores(self, cells: Codes) -> Array:
        """Of shape (outputs, n): added column after column; products of two columns are exact."""
        found = np.repeat(self._level[:, None], cells.shape[1], axis=1)
        for own, heights in zip(cells, self._heights, strict=True):
            found += heights[:, own]
        if self._features.halves:
            halves = self._features.factors_of_pairs(cells)
            for score, between in zip(found, self._between, strict=True):
                inner = np.rint((between @ halves) * COEFFICIENTS.step)
                score += np.einsum("ij,ij->j", inner, halves) * FEATURES.step
        return np.clip(found, -STEEPEST, STEEPEST)


def _between(coefficients: Array, features: AnovaFeatures) -> Array:
    """The coefficients of pairs as a matrix: those of halves of an earlier column with those of a later one."""
    k, count = features.bases.products, len(features.halves)
    found = np.zeros((count, k, count, k))
    blocks = coefficients.reshape(-1, k, k)
    for (i, j), block in zip(combinations(range(count), 2), blocks, strict=True):
        found[i, :, j] = block
    return found.reshape(count * k, count * k)


def class_residuals(classes: int) -> Residuals:
    """The mark of the class less its probability, in contrasts of the classes."""
    basis, whole = contrasts(classes), 1 / RESIDUALS.step

    def residuals(scores: Array, targets: Array) -> Array:
        every = basis.T @ SCORES.values(np.rint(scores / SCORES.step))
        weights = np.rint(WHOLE * exponential(every - every.max(axis=0)))
        away = -np.rint(weights * (whole / weights.sum(axis=0)))
        away[targets.astype(np.intp), np.arange(len(targets))] += whole
        return np.rint(basis @ away)

    return residuals


def number_residuals(loss: Loss, center: float, unit: float, quantile: float) -> Residuals:
    """Derivatives of the loss of a number by its score, with the sign changed."""

    def residuals(scores: Array, targets: Array) -> Array:
        with np.errstate(over="ignore"):
            scaled = (targets - center) / unit
        shrunk = exponential(-LARGEST - np.clip(scores, -LARGEST, LARGEST)) / LEAST  # exp(-score)
        match loss:
            case "quantile":
                away = quantile - (scaled < scores)
            case "poisson":
                away = scaled - 1 / shrunk
            case "gamma":
                away = scaled * shrunk - 1
            case _:
                away = scaled - scores
        return np.rint(np.clip(away, -FARTHEST, FARTHEST) / RESIDUALS.step)

    return residuals
