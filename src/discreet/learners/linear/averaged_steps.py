"""Estimates of one minimiser from noisy gradients, averaged and brought closer to zero: post-processing."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from discreet.core.grid import Array
from discreet.core.held import unheld
from discreet.releases.whitening import Whitening

WIDER = 2.0  # times the variance by noise: second derivatives are known roughly, and records are a sample
TURNS = 4  # of expectation and maximisation, after each step
LEAST = 1e-8  # the smallest variance of a coefficient
PRIOR = 4.0  # the variance of scores that is expected before anything is known


class Path(Protocol):
    """Steps to a minimiser, each from where those before have led."""

    current: Array

    def add(self, step: Array, bend: float, stddev: float) -> None:
        """Go on by a step, from a gradient with noise of `stddev`, where the loss bends by `bend`."""


@unheld("releases")
class AveragedSteps:
    """Newton's steps, of which each gives an estimate of the minimiser, with a prior for each column.

    Coefficients of standardised columns are taken to be normal around zero, each column with a variance of its own,
    which is estimated as well (empirical Bayes; MacKay 1992, Tipping 2001): what cannot be told from noise is close to
    zero, and what stands out stays. This costs nothing, since it depends on releases alone.

    Parameters
    ----------
    white : Whitening
        Of the features that gradients are taken in.
    scores : int
        How many scores a record has.
    """

    def __init__(self, white: Whitening, scores: int) -> None:
        self._across = np.linalg.inv(white.root.T)  # from coefficients of standardised columns to those of features
        self._gram = self._across.T @ self._across
        self._sums = np.zeros((len(white.root), scores))
        self._weights, self._noise, self._turn = 0.0, 0.0, 0
        self._variances: Array | None = None
        self.current = np.zeros_like(self._sums)

    def add(self, step: Array, bend: float, stddev: float) -> None:
        """Later estimates are from closer to the minimiser, and count more."""
        self._turn += 1
        weight = self._turn**2
        self._sums += weight * (self.current + step)
        self._weights += weight
        self._noise += (weight * stddev / bend) ** 2
        self.current = self._posterior(self._sums / self._weights, WIDER * self._noise / self._weights**2)

    def _posterior(self, estimate: Array, variance: float) -> Array:
        """The mean of the coefficients, given an estimate with this variance by noise."""
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


class EvenSteps(AveragedSteps):
    """The same with one prior for all features, of use where noise hides single columns.

    It is the normal prior of whitened features with which scores have the variance `PRIOR`.
    """

    def __init__(self, white: Whitening, scores: int) -> None:
        super().__init__(white, scores)
        self._prior = prior_of(white)

    def _posterior(self, estimate: Array, variance: float) -> Array:
        return np.asarray(estimate / (1 + variance / WIDER / self._prior))


@unheld("releases")
class CautiousSteps:
    """The same with that prior for every estimate, also where steps start from: of use where there is mostly noise.

    Parameters
    ----------
    white : Whitening
        Of the features that gradients are taken in.
    scores, rounds : int
        How many scores a record has, and how many steps there will be.
    """

    def __init__(self, white: Whitening, scores: int, rounds: int) -> None:
        self._prior = prior_of(white) * rounds
        self._sums = np.zeros((len(white.root), scores))
        self._turn, self._weights = 0, 0
        self.current = np.zeros_like(self._sums)

    def add(self, step: Array, bend: float, stddev: float) -> None:
        self._turn += 1
        self._weights += self._turn**2
        self._sums += self._turn**2 * (self.current + step) / (1 + (stddev / bend) ** 2 / self._prior)
        self.current = self._sums / self._weights


def prior_of(white: Whitening) -> float:
    """The variance of each coefficient with which scores have the variance `PRIOR`."""
    return PRIOR * white.radius**2 / len(white.root)
