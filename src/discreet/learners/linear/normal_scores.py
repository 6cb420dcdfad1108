"""How a loss bends where the scores of records are normal: post-processing."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from discreet.core.grid import Array

NODES, DRAWS = 24, 256
FLATTEST = 0.2  # of the mean second derivative, in the plane of the constant and the score
Bends = Callable[[Array], Array]
"""Scores of shape (m, j) in; m means of the second derivatives of the loss by these j scores out."""


@lru_cache(maxsize=16)
def standard_scores(scores: int) -> tuple[Array, Array]:
    """Points of a standard normal law, and their weights: of one score those of Gauss and Hermite, of more a sample."""
    if scores == 1:
        points, weights = np.polynomial.hermite.hermgauss(NODES)
        return math.sqrt(2) * points[:, None], weights / weights.sum()
    return np.random.default_rng(0).normal(size=(DRAWS, scores)), np.full(DRAWS, 1 / DRAWS)


@dataclass(frozen=True)
class NormalScores:
    """The second derivatives of a loss, averaged over normal scores.

    Parameters
    ----------
    mean : float
        The mean second derivative, for which a multiple of the identity stands.
    plane : array of shape (2, 2)
        In units of it, those by a constant and by a single score in standard deviations, which are not alike where
        classes are unequal: of a score t with second derivative f, means of f (1, t)(1, t)'.
    """

    mean: float
    plane: Array

    @classmethod
    def of(cls, bends: Bends, center: Array, variances: Array, least: float) -> NormalScores:
        """Where scores have these means and variances; the mean second derivative is `least` at least."""
        points, weights = standard_scores(len(center))
        found = weights * bends(center + points * np.sqrt(variances))
        mean = max(float(found.sum()), least)
        one, two = float(found @ points[:, 0]) / mean, float(found @ points[:, 0] ** 2) / mean
        return cls(mean, np.array([[1.0, one], [one, two]]))

    def straightened(self, gradient: Array, constant: Array, score: Array) -> Array:
        """A gradient of a single score, as if the loss bent alike in all directions.

        Parameters
        ----------
        gradient : array of shape (k, 1)
            In features that are uncorrelated.
        constant, score : arrays of shape (k,)
            The coefficients of a constant and of the score.
        """
        first = constant / np.linalg.norm(constant)
        rest = score - first * (first @ score)
        length = float(np.linalg.norm(rest))
        if length < 1e-6:
            return gradient
        plane = np.column_stack([first, rest / length])
        values, vectors = np.linalg.eigh(self.plane)
        inverse = (vectors / np.maximum(values, FLATTEST)) @ vectors.T
        return np.asarray(gradient + plane @ ((inverse - np.eye(2)) @ (plane.T @ gradient)))


def lengthened(gradient: Array, coefficients: Array, bend: float, along: float) -> Array:
    """A gradient of several scores, as if the loss bent alike in all directions, where it bends less along the scores.

    Where classes are far apart most residuals are small, and steps along the scores would be too short.

    Parameters
    ----------
    gradient, coefficients : arrays of shape (k, j)
        In features that are uncorrelated.
    bend, along : float
        The mean second derivative, and that along the coefficients.
    """
    length = float(np.linalg.norm(coefficients))
    if length < 1e-6:
        return gradient
    way = coefficients / length
    return np.asarray(gradient + (1 / max(along / bend, FLATTEST) - 1) * float(np.sum(gradient * way)) * way)
