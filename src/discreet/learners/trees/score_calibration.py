"""From scores to probabilities: a slope and an offset for each class, from noisy counts of scores by class."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import expit, logit

from discreet.core.grid import Array

CELLS = 20  # of a score
SLOPES = np.concatenate([[0.0], 2.0 ** np.arange(-2.0, 10.25, 0.25)])  # in units of 1 / (share (1 - share))
OFFSETS = np.linspace(-3.0, 3.0, 49)
# How far slopes and offsets are from what is usual, in octaves and in logits: `forests` in benchmarks/tuning_trees.py.
# One unit for all classes, and weights by noise, were settled after scores of the benchmark had been seen.
OCTAVES, APART = 1.0, 0.3


@dataclass(frozen=True)
class Calibration:
    """The odds of each class are exp(offset + slope score) for those of its scores.

    Parameters
    ----------
    slopes, offsets : arrays of shape (n_scores,)
        One of each for the second of two classes, or for each class.
    """

    slopes: Array
    offsets: Array

    @classmethod
    def usual(cls, shares: Array, slope: float) -> Calibration:
        """With this slope, where these are the shares of all classes."""
        own = np.clip(shares if len(shares) > 2 else shares[1:], 1e-3, 1 - 1e-3)
        return cls(slope * _unit(own), logit(own))

    @classmethod
    def of(cls, shares: Array, slope: float, noisy: Array, scores: Array, stddev: float) -> Calibration:
        """What is likeliest, from counts with noise of this deviation, of shape (n_scores, n_cells, 2).

        A cell counts the less the more of the variance of what is found there is noise. One slope for all classes, in
        units of what it is where a class has its share, and not far from the usual one, `slope`: so each of many
        classes need not have enough records for a slope of its own.
        """
        own = np.clip(shares if len(shares) > 2 else shares[1:], 1e-3, 1 - 1e-3)
        found = np.maximum(noisy.sum(axis=-1, keepdims=True), 0.0)
        units = _unit(own)
        error = units[:, None, None] * stddev**2
        counts = noisy * np.square(found) / (np.square(found) + 2 * stddev**2 + 1e-9) * found / (found + error + 1e-9)
        odds = SLOPES[:, None, None, None] * (units[:, None] * scores)[:, None] + logit(own)[:, None, None]
        odds = odds + OFFSETS[:, None]  # of shape (slopes, scores, offsets, cells)
        others, members = counts[:, None, :, 0], counts[:, None, :, 1]
        likely = (members * np.log(_bounded(odds)) + others * np.log(_bounded(-odds))).sum(axis=-1)
        likely -= np.square(OFFSETS / APART) / 2
        octaves = np.log2(np.maximum(SLOPES, SLOPES[1] / 2))
        best = np.argmax(likely.max(axis=-1).sum(axis=-1) - np.square((octaves - math.log2(slope)) / OCTAVES) / 2)
        return cls(SLOPES[best] * units, logit(own) + OFFSETS[likely[best].argmax(axis=-1)])

    def odds(self, scores: Array) -> Array:
        """Their logarithms, from scores of shape (n, n_scores): of the second of two classes, or of each class."""
        return np.asarray(scores * self.slopes + self.offsets)

    def probabilities(self, scores: Array) -> Array:
        """Of all classes, from scores of shape (n, n_scores)."""
        found = _bounded(self.odds(scores))
        found = found if found.shape[1] > 1 else np.column_stack([1 - found, found])
        return np.asarray(found / found.sum(axis=1, keepdims=True))


def _unit(shares: Array) -> Array:
    """A slope at which odds rise as fast as probabilities, on the average of all classes."""
    return np.full(len(shares), 1 / float(np.mean(shares * (1 - shares))))


def _bounded(odds: Array) -> Array:
    """Probabilities that no noise makes certain."""
    return np.clip(expit(odds), 1e-3, 1 - 1e-3)
