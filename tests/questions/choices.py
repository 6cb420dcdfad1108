"""The loss of a choice from scores, computed exactly on every pair of small neighboring data sets."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Sequence

import numpy as np
from scipy.special import logsumexp

from discreet.core.neighbors import Neighbors
from discreet.noise.deterministic import DeterministicBits
from discreet.questions.trees.scores import Scores
from discreet.schema.schema import Schema
from discreet.trust.curator import CuratorsView
from discreet.trust.sources.matrix import Matrix

Rows = tuple[tuple[float, ...], ...]


def log_chances(question: Scores, schema: Schema, rows: Rows, neighbors: Neighbors) -> np.ndarray:
    """The law of the exponential mechanism at epsilon 1, a row of logarithms for each choice."""
    values = np.array(rows, dtype=np.float64).reshape(-1, len(schema.columns))
    view = CuratorsView(Matrix(values, schema), neighbors, DeterministicBits(0))
    answer = question.answer(view)
    weights = answer.steps / answer.scale(1 if answer.monotone else 2, "linf")
    return np.asarray(weights - logsumexp(weights, axis=1, keepdims=True))


def worst_loss(question: Scores, schema: Schema, grid: Sequence[tuple[float, ...]], neighbors: Neighbors) -> float:
    """The greatest range of losses over all data sets of up to four of these records, and all of their neighbors.

    Losses of both signs occur, so none is greater than the range; with many candidates, one is nearly so great.
    """
    sizes = {
        size: [tuple(rows) for rows in itertools.combinations_with_replacement(grid, size)] for size in range(1, 5)
    }
    law = {rows: log_chances(question, schema, rows, neighbors) for some in sizes.values() for rows in some}
    worst = 0.0
    for size in range(1, 4):
        for rows, joined in itertools.product(sizes[size], grid):
            base = rows if neighbors is Neighbors.ADD_REMOVE else rows[1:]
            ratios = law[tuple(sorted((*base, joined)))] - law[rows]
            worst = max(worst, np.ptp(ratios, axis=1).sum())
    return float(worst)


def check_choices(question: Scores, schema: Schema, grid: Sequence[tuple[float, ...]], reached: float = 0.9) -> None:
    """No pair loses more than epsilon 1, one of them as much as this, and a twin with half of that bound loses more."""
    twin = dataclasses.replace(question, most=question.most * reached / 2)
    for neighbors in Neighbors:
        assert reached < worst_loss(question, schema, sorted(grid), neighbors) <= 1 + 1e-9
        assert worst_loss(twin, schema, sorted(grid), neighbors) > 1
