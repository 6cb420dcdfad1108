"""What noisy residual sums say about the coefficients of a smooth ANOVA model: posterior means. Post-processing."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cholesky
from scipy.linalg.lapack import dpotri

from discreet.core.grid import Array
from discreet.core.held import unheld

# From made-up data: benchmarks/tuning_anova.py.
KNOWN = 0.9  # the mean square of a feature that is shrunk, in units of what it would be
DIAGONAL = 0.3  # how far mean squares are from that, about
CAUTION = 0.5  # how much larger curvatures are taken than they seem, in units of what is not known of them
ROUNDS, LAST = 6, 20  # of empirical Bayes, and after the last release
INFLATED = 2.0  # noise, for what the linear approximation leaves out
SURE, STEEPER = 1.0, 4.0
LEAST = 1e-4  # variance of a group, in units of the one that is expected at first
MOST = 0.5  # variance of all scores by the prior, in units of the one that is expected at first


def shrunk_products(noisy: Array, squares: Array, count: float, stddev: float, cross: float) -> Array:
    """The sum of products of features, from a noisy one: closer to that of independent columns where noise is large.

    Empirical Bayes: how far products are from 0, in units of the lengths of both factors, is estimated from all.

    Parameters
    ----------
    noisy : array of shape (D, D)
        The release.
    squares : array of shape (D,)
        The mean square of each feature.
    count : float
        The number of records.
    stddev, cross : float
        Of the noise on squares, and the factor by which products have less.
    """
    expected, scale = np.diag(KNOWN * count * squares), count * np.sqrt(np.outer(squares, squares))
    own = np.eye(len(squares), dtype=np.bool_)
    noise = np.where(own, stddev, stddev / cross) ** 2
    weights = np.where(own, 0.0, scale**2)
    whole = max(float((weights**2).sum()), 1e-300)
    seen = float((weights * (noisy**2 - noise)).sum()) - 2 * math.sqrt(2 * float((weights**2 * noise**2).sum()))
    correlated = max(seen / whole, 1 / count)
    prior = np.where(own, DIAGONAL**2, correlated) * scale**2
    kept = prior / (prior + noise)
    unknown = np.sqrt((kept * noise).sum(axis=1))
    return np.asarray(expected + kept * (noisy - expected) + CAUTION * np.diag(unknown))


def independent_products(squares: Array, count: float) -> Array:
    """The same where nothing was released."""
    return np.diag(KNOWN * count * squares)


@dataclass(frozen=True)
class Shown:
    """What one round shows: the gradient at these coefficients, in units of the second derivative of the loss."""

    at: Array
    gradient: Array
    weight: float
    stddev: float
    square: float


@unheld("releases")
class AnovaPosterior:
    """Coefficients w of which G w is known with noise, and that are normal with a variance for each column and pair.

    Each round shows about bend * G (w* - w), with noise, where w are the coefficients so far: so G w* is the mean of
    what rounds show, weighted by their information and by the squares of their turns, since later ones start closer.
    The noise has a part that is alike in all directions, and one in proportion to G, by sampling.

    Parameters
    ----------
    products : array of shape (D, D)
        G.
    groups : array of shape (D,)
        The group of each coefficient: the constant, a column or a pair.
    outputs : int
        The number of scores.
    """

    def __init__(self, products: Array, groups: NDArray[np.intp], outputs: int) -> None:
        self.groups, self._shown = groups, list[Shown]()
        self.mean = np.zeros((len(products), outputs))
        self.covariance = np.eye(len(products))
        self._bend(products)

    def _bend(self, products: Array) -> None:
        values, self._vectors = np.linalg.eigh(products)
        self._values = np.maximum(values, 0.0)
        self.products = (self._vectors * self._values) @ self._vectors.T

    def add(self, gradient: Array, turn: int, bend: float, stddev: float, sampling: float) -> None:
        """Another round.

        Parameters
        ----------
        gradient : array of shape (D, outputs)
            The noisy sum of clipped residuals times features.
        turn : int
            Which round it is, from 1 on.
        bend : float
            The mean second derivative of the loss.
        stddev : float
            Of the noise.
        sampling : float
            The mean square of a residual.
        """
        shown = Shown(self.mean, gradient / bend, turn**2 * (bend / stddev) ** 2, stddev / bend, sampling / bend**2)
        if self._shown:
            self._corrected(self._shown[-1], shown)
        self._shown.append(shown)

    def _corrected(self, before: Shown, after: Shown) -> None:
        """Make G larger in the direction of the last step, if that was clearly too long: gradients point back.

        The noise after a step does not depend on it, while that before it has helped to choose it.
        """
        step = after.at - before.at
        curved = self.products @ step
        expected = max(float(np.sum(step * curved)), 1e-300)
        back = -float(np.sum(step * after.gradient)) - SURE * float(np.linalg.norm(step)) * after.stddev
        if back > 0:
            more = min(back / expected, STEEPER)
            self._bend(self.products + more * (curved @ curved.T) / expected)

    def fit(self, variance: float, rounds: int = ROUNDS) -> None:
        """The posterior mean and covariance, for a prior that is found from all, of this variance at most at first."""
        whole = sum(one.weight for one in self._shown)
        shown = sum(one.weight * (one.gradient + self.products @ one.at) for one in self._shown) / whole
        noise = sum((one.weight * one.stddev) ** 2 for one in self._shown) / whole**2
        sampling = sum(one.weight * one.square for one in self._shown) / whole
        noises = INFLATED * noise + sampling * self._values
        gains = self._values / noises
        information = (self._vectors * (gains * self._values)) @ self._vectors.T
        seen = self._vectors.T @ shown
        pulled = (self._vectors * gains) @ seen
        there = (np.diag(self.products) > 0).astype(np.float64)  # functions that are not 0 everywhere
        sizes = np.maximum(np.bincount(self.groups, there), 1.0)
        prior = np.clip(self._shown_variances(seen, noise + sampling * self._values), LEAST * variance, variance)
        prior[0] = variance
        for turn in range(rounds + 1):
            self.covariance = _inverse(information + np.diag(1 / prior[self.groups]))
            self.mean = self.covariance @ pulled
            if turn < rounds:
                squares = np.square(self.mean).mean(axis=1) + np.diag(self.covariance)
                prior = np.bincount(self.groups, there * squares) / sizes
                prior = np.maximum(prior * min(MOST * variance / self._expected(prior), 1.0), LEAST * variance)

    def _shown_variances(self, seen: Array, noises: Array) -> Array:
        """The variance of the coefficients of each group that gradients show beyond noise; that of all, if larger.

        In units of the noise, pulls of coefficients have the covariance H = G S^-1 G by noise alone, and H + v H H if
        coefficients have the variance v: so squares of pulls, less what noise adds, are v times squares of H.
        """
        gains = self._values / noises
        pulled = (self._vectors * gains) @ seen
        information = (self._vectors * (gains * self._values)) @ self._vectors.T
        beyond = np.square(pulled).mean(axis=1) - np.diag(information)
        squares = np.square(information)
        same = self.groups[:, None] == self.groups
        beyond, squares = (np.bincount(self.groups, own) for own in (beyond, np.where(same, squares, 0.0).sum(axis=1)))
        together = float(beyond[1:].sum() / max(float(squares[1:].sum()), 1e-300))
        return np.maximum(beyond / np.maximum(squares, 1e-300), together)

    def _expected(self, prior: Array) -> float:
        """The variance of scores over the records, if coefficients have these variances by group."""
        squares = np.diag(self.products)
        return max(float(squares @ prior[self.groups]) / max(float(squares.sum()), 1e-300), 1e-300)

    @property
    def variance(self) -> float:
        """The sum of squared scores over the records and the outputs."""
        return float(np.sum(self.mean * (self.products @ self.mean)))


def _inverse(matrix: Array) -> Array:
    """Of a positive definite matrix."""
    lower, _ = dpotri(cholesky(matrix, lower=True), lower=1)
    return np.asarray(lower + np.tril(lower, -1).T)
