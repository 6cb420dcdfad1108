"""What all naive Bayes classifiers have in common: the joint likelihood decides."""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr, logsumexp
from sklearn.base import ClassifierMixin

from discreet.core.grid import Array
from discreet.fitting.private_estimator import PrivateEstimator

TINY = 1e-12
FEWEST = 0.5  # records of a class, whatever the noise says


class NaiveBayes(ClassifierMixin, PrivateEstimator):
    """A classifier that multiplies the probabilities of the features in each class.

    Attributes
    ----------
    class_prior_ : array of shape (n_classes,)
        Released. The probability of each class.
    classes_ : array of shape (n_classes,)
        Public. The classes.
    """

    supervised: ClassVar[bool] = True
    classes_: NDArray[Any]

    @abstractmethod
    def predict_joint_log_proba(self, X: Any) -> Array:
        """The logarithm of P(class) P(row | class), but for a constant; a missing value says nothing."""

    def predict_log_proba(self, X: Any) -> Array:
        """The logarithm of the probability of each class."""
        joint = self.predict_joint_log_proba(X)
        return np.asarray(joint - logsumexp(joint, axis=1, keepdims=True))

    def predict_proba(self, X: Any) -> Array:
        """The probability of each class."""
        return np.exp(self.predict_log_proba(X))

    def predict(self, X: Any) -> NDArray[Any]:
        """The most probable class of each row."""
        likeliest = np.argmax(self.predict_joint_log_proba(X), axis=1)
        return self.classes_[likeliest]


def counts_of(noisy: Array, stddev: float, n: int | None) -> Array:
    """The number of records in each class from noisy ones: brought closer to their mean by the share of noise in them.

    Parameters
    ----------
    noisy : array of shape (n_classes, 1)
        Released.
    stddev : float
        Public. Of their noise.
    n : int or None
        Public. The number of records, where it is public.
    """
    mean = noisy.mean() if n is None else n / len(noisy)
    apart = noisy - mean
    kept = shrinkage(apart, np.full(noisy.shape, stddev**2))
    return np.maximum(mean + kept * apart, FEWEST)


def shrinkage(apart: Array, noise: Array) -> Array:
    """The share of each deviation that is kept, if deviations of some common variance got noise of these variances.

    Empirical Bayes: the variance of a deviation, tau, is estimated by its mean square less that of the noise, and
    tau / (tau + noise) of each is kept.

    Examples
    --------
    >>> shrinkage(np.array([3.0, -3.0]), np.array([3.0, 3.0])).round(3)
    array([0.667, 0.667])
    """
    tau = max(_variance(apart, noise)[0], 0.0)
    return tau / (tau + noise + TINY)


def partial_shrinkage(apart: Array, noise: Array) -> Array:
    """The same, of which some is always kept.

    Tau is not below zero, but its estimate may be: it is taken from a normal law around that, as wide as its own noise,
    as the mean of what is above zero. So deviations that are all noise as far as this tells still decide where nothing
    else does.

    Examples
    --------
    >>> partial_shrinkage(np.array([3.0, -3.0, 3.0, -3.0]), np.full(4, 0.1)).round(3)
    array([0.989, 0.989, 0.989, 0.989])
    >>> partial_shrinkage(np.array([0.3, -0.3, 0.3, -0.3]), np.full(4, 0.1)).round(3)
    array([0.346, 0.346, 0.346, 0.346])
    """
    tau, stddev = _variance(apart, noise)
    at = tau / stddev
    tau += stddev * math.exp(-(at**2) / 2 - log_ndtr(at)) / math.sqrt(2 * math.pi)
    return tau / (tau + noise + TINY)


def _variance(apart: Array, noise: Array) -> list[float]:
    """The mean square less that of the noise, and its standard deviation, if all were normal noise."""
    weights = 1 / np.square(noise + TINY)
    return [float(np.average(np.square(apart) - noise, weights=weights)), math.sqrt(2 / float(weights.sum()))]
