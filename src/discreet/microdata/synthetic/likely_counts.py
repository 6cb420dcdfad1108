"""Counts as they are on average, given noisy ones, what is expected of them, and that none is negative."""

from __future__ import annotations

import math

import numpy as np
from scipy.special import log_ndtr

from discreet.core.grid import Array

SPREADS = (0.1, 0.2, 0.4, 0.8)  # of counts that are normal around what is expected, as a part of it
FILLED = (1.0, 0.4, 0.15)  # shares of cells that have records: as many as an exponential law says, else none
OTHERS = [math.log1p(-share) if share < 1 else -math.inf for share in FILLED]  # the logarithms of what is left
LEAST = 1e-3  # of the noise's deviation: no less is expected of any count
FAR = 30.0  # deviations below zero, from where a tail is exponential
LOG_ROOT = 0.5 * math.log(2 * math.pi)
_Found = tuple[Array, Array]  # by each law: the mean of each count, and the logarithm of how likely the noisy one is


def likely_counts(counts: Array, expected: Array, stddev: float) -> Array:
    """The means of counts, given these with normal noise on them.

    Nobody knows how far counts lie from what is expected: several laws are tried on all of them together, and each has
    the weight of how likely it makes the noisy ones (an empirical Bayes estimate; Morris 1983). Each law is cut off at
    zero, so all means are known by formula.

    Parameters
    ----------
    counts : array
        Noisy counts.
    expected : array
        What is expected of each.
    stddev : float
        The deviation of their noise.

    Examples
    --------
    >>> near = likely_counts(np.array([105.0, 95.0, 103.0, 97.0]), np.full(4, 100.0), 20.0)
    >>> far = likely_counts(np.array([390.0, 2.0, -9.0, 5.0]), np.full(4, 100.0), 20.0)
    >>> near.round(), far.round()
    (array([102.,  98., 101.,  99.]), array([389.,   1.,   0.,   1.]))
    """
    prior = np.maximum(expected, LEAST * stddev)
    both = _around(counts, prior, stddev), _filled(counts, prior, stddev)
    means, likelihoods = (np.concatenate(own) for own in zip(*both, strict=True))
    likelihoods = likelihoods.reshape(len(means), -1).sum(axis=1)
    weights = np.exp(likelihoods - likelihoods.max())
    return np.asarray(np.tensordot(weights / weights.sum(), means, 1))


def _around(counts: Array, prior: Array, stddev: float) -> _Found:
    """Where counts are normal around what is expected, cut off at zero: one law after another."""
    spread = np.reshape(SPREADS, (-1, *[1] * counts.ndim))
    own, noise = np.square(spread * prior), stddev**2
    deviations = np.sqrt(own / (own + noise)) * stddev
    middles = (prior * noise + counts * own) / (own + noise)
    likelihoods = -np.square(counts - prior) / (2 * (own + noise)) - np.log(own + noise) / 2 - LOG_ROOT
    at = middles / deviations
    return _cut_off(at, deviations), likelihoods + log_ndtr(at) - log_ndtr(1 / spread)


def _filled(counts: Array, prior: Array, stddev: float) -> _Found:
    """Where a share of the cells have records, by an exponential law, and the others none: for each share."""
    share, others = (np.reshape(own, (-1, *[1] * counts.ndim)) for own in (FILLED, OTHERS))
    rates = share * stddev / prior
    noisy = counts / stddev
    filled = np.log(share * rates / stddev) + np.square(rates) / 2 - rates * noisy + log_ndtr(noisy - rates)
    likelihoods = np.logaddexp(filled, others - np.square(noisy) / 2 - math.log(stddev) - LOG_ROOT)
    return _cut_off(noisy - rates, stddev) * np.exp(filled - likelihoods), likelihoods


def _cut_off(at: Array, deviations: Array | float) -> Array:
    """The means of normal variables that are positive; before that, their means are these in units of deviations."""
    near = np.maximum(at, -FAR)
    means = near + np.exp(-np.square(near) / 2 - LOG_ROOT - log_ndtr(near))
    return np.asarray(deviations * np.where(at < -FAR, 1 / np.maximum(-at, 1.0), means))
