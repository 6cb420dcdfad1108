"""Estimates of one minimiser from noisy gradients, averaged and brought closer to zero: post-processing."""

from __future__ import annotations

import numpy as np

from discreet.core.grid import Array
from discreet.releases.whitening import Whitening

WIDER = 2.0  # times the variance by noise: second derivatives are known roughly, and records are a sample
TURNS = 4  # of expectation and maximisation, after each step
LEAST = 1e-8  # the smallest variance of a coefficient
PRIOR = 4.0  # the variance of scores that is expected before anything is known


class AveragedSteps:
    """Newton's steps from noisy gradients: each gives an estimate of the minimiser, and those so far are averaged.

    Coefficients of standardised columns are taken to be normal around zero, each column with a variance of its own,
    which is estimated as well (empirical Bayes; MacKay 1992, Tipping 2001): what cannot be told from noise is close to
    zero, and what stands out stays. This costs nothing, since it depends on releases alone. Where single columns are
    lost in noise, all whitened features have one variance, so that scores have the variance `PRIOR`.

    Parameters
    ----------
    white : Whitening
        Of the features that gradients are taken in.
    scores : int
        How many scores a record has.
    lost : bool
        Whether noise is so great that single columns are lost in it.
    """

    def __init__(self, white: Whitening, scores: int, lost: bool) -> None:
        self._prior = PRIOR * white.radius**2 / len(white.root) if lost else None
        self._across = np.linalg.inv(white.root.T)  # from coefficients of standardised columns to those of features
        self._gram = self._across.T @ self._across
        self._sums = np.zeros((len(white.root), scores))
        self._weights, self._noise = 0.0, 0.0
        self._variances: Array | None = None
        self._turn = 0
        self.current = np.zeros_like(self._sums)

    def add(self, step: Array, bend: float, stddev: float) -> None:
        """Go on from a step to the minimiser, where gradients have noise and the loss bends by so much.

        Later estimates are from closer to the minimiser, and count more.
        """
        self._turn += 1
        weight = (self._turn * bend) ** 2
        self._sums += weight * (self.current + step)
        self._weights += weight
        self._noise += (weight * stddev / bend) ** 2
        self.current = self._posterior(self._sums / self._weights, WIDER * self._noise / self._weights**2)

    def _posterior(self, estimate: Array, variance: float) -> Array:
        """The mean of the coefficients, given an estimate with this variance by noise."""
        if self._prior is not None:
            return estimate / (1 + variance / WIDER / self._prior)
        precision = self._gram / variance
        pulled = self._across.T @ estimate / variance
        if self._variances is None:
            plain = np.linalg.solve(self._gram, self._across.T @ estimate)
            self._variances = np.full(len(plain), float(np.mean(plain**2)) + LEAST)
        for _ in range(TURNS):
            covariance = np.linalg.inv(precision + np.diag(1 / self._variances))
            mean = covariance @ pulled
            self._variances = np.maximum(np.mean(mean**2, axis=1) + np.diag(covariance), LEAST)
        return np.asarray(self._across @ mean)
