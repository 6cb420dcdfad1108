"""Probabilities of classes, where residuals of a softmax model were shrunk to a length: post-processing."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from discreet.core.grid import Array
from discreet.questions.gradients.gradients import contrasts

TURNS = 64  # of a search, each of which halves what is left, or nearly


@dataclass(frozen=True)
class ShrunkResiduals:
    """What residuals p - e that are shrunk to a length say of the odds of the classes.

    p are the probabilities of a softmax model and e marks the class of a record. Where residuals, each shrunk to the
    length c, average 0, the odds of the classes are p_k max(1, |p - e_k| / c).

    Parameters
    ----------
    longest : float
        The length c.

    Examples
    --------
    >>> p = np.array([[0.9, 0.1]])
    >>> ShrunkResiduals(2**0.5).odds(p).round(3), ShrunkResiduals(0.5**0.5).odds(p).round(3)
    (array([[0.9, 0.1]]), array([[0.833, 0.167]]))
    """

    longest: float

    def odds(self, p: Array) -> Array:
        """The probabilities of the classes, in rows, from those of the model."""
        found = p * self._stretch(p)
        return np.asarray(found / found.sum(axis=1, keepdims=True))

    def start(self, shares: Array) -> Array:
        """Scores of all records alike, in contrasts, at which the classes have these shares: `odds` inverted."""
        p = shares[None, :]
        for _ in range(TURNS):
            tried, last = shares / self._stretch(p), p
            p = np.sqrt(p * tried / tried.sum())
            p = p / p.sum()
            if np.abs(p - last).max() < 1e-9:
                break
        return np.asarray(contrasts(len(shares)) @ np.log(p[0]))

    def bends(self, scores: Array) -> Array:
        """The mean second derivative of the loss by all contrasts, at scores in contrasts.

        Of a record whose residual r is shrunk, it is c / |r| (I - r r' / |r|^2) (diag(p) - p p'). Where none is shrunk
        and all classes are as probable it is 1 / K, the bound of Böhning 1992. A length that shrinks them there, too,
        leaves no second derivatives; then those of the least that does not stand for them.
        """
        least = math.sqrt(1 - 1 / (scores.shape[1] + 1))
        if self.longest < least:
            return ShrunkResiduals(least).bends(scores)
        p = softmax(scores @ contrasts(scores.shape[1] + 1))
        squares, cubes = np.square(p).sum(axis=1, keepdims=True), (p**3).sum(axis=1, keepdims=True)
        stretch = self._stretch(p)
        along = (cubes - 2 * p**2 + p - np.square(squares - p)) / np.maximum(squares - 2 * p + 1, 1e-12)
        bent = (1 - squares - np.where(stretch > 1 + 2.0**-20, along, 0.0)) / stretch
        odds = p * stretch
        return np.asarray((odds * bent).sum(axis=1) / odds.sum(axis=1) / scores.shape[1])

    def along(self, scores: Array, ways: Array) -> Array:
        """The second derivative of the loss along each of these ways from the scores beside it, both in contrasts."""
        basis = contrasts(scores.shape[1] + 1)
        p, u = softmax(scores @ basis), ways @ basis
        stretch, mean = self._stretch(p), np.sum(p * u, axis=1, keepdims=True)
        change = p * (u - mean)
        squares = np.maximum(1 - 2 * p + np.square(p).sum(axis=1, keepdims=True), 1e-12)
        turned = (np.sum(p * change, axis=1, keepdims=True) - change) * (mean - u) / squares
        bent = (np.sum(change * u, axis=1, keepdims=True) - np.where(stretch > 1 + 2.0**-20, turned, 0.0)) / stretch
        odds = p * stretch
        return np.asarray((odds * bent).sum(axis=1) / odds.sum(axis=1))

    def _stretch(self, p: Array) -> Array:
        """By how much the residual of each class is shortened."""
        lengths = np.sqrt(np.maximum(1 - 2 * p + np.square(p).sum(axis=1, keepdims=True), 0.0))
        return np.asarray(np.maximum(1.0, lengths / self.longest))


def softmax(scores: Array) -> Array:
    """Probabilities, in rows, in proportion to the exponentials of scores."""
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))
