"""Least squares from noisy second moments, with what their noise leaves uncertain: post-processing."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet.core.grid import Array
from discreet.questions.vectors.second_moments import CROSS


@dataclass(frozen=True)
class NormalEquations:
    """Coefficients of the last coordinate by all others, and their covariance.

    Noise E on the moments moves coefficients b by A^-1 E (-b, 1), to first order. So their covariance is
    A^-1 (s^2 G + C) A^-1, where A is the matrix G of the first k coordinates with the penalty, s^2 the mean squared
    residual, and C the covariance of E (-b, 1).

    Parameters
    ----------
    coefficients : array of shape (k,)
        Of the first k coordinates.
    covariance : array of shape (k, k)
        Of their errors by sampling and by noise, but not by the penalty.
    """

    coefficients: Array
    covariance: Array

    @classmethod
    def solved(cls, moments: Array, count: float, stddev: float, penalty: float) -> NormalEquations:
        """From a symmetric matrix of noisy moments, whose entries have noise of `stddev`, and less off the diagonal.

        Parameters
        ----------
        moments : array of shape (k + 1, k + 1)
            Sums of products of all coordinates; the target is the last.
        count : float
            The number of records, or about.
        stddev : float
            Of the noise on the diagonal, CROSS times that of the others.
        penalty : float
            What is added to the eigenvalues, after those below 0 are raised to it.
        """
        values, vectors = np.linalg.eigh(moments[:-1, :-1])
        values = np.maximum(values, 0.0)
        inverse = (vectors / (values + penalty)) @ vectors.T
        b = inverse @ moments[:-1, -1]
        gram = (vectors * values) @ vectors.T
        residual = max(float(moments[-1, -1] - 2 * b @ moments[:-1, -1] + b @ gram @ b) / count, 0.0)
        noise = (stddev / CROSS) ** 2 * ((1 + b @ b) * np.eye(len(b)) + np.outer(b, b))
        noise += (stddev**2 - 2 * (stddev / CROSS) ** 2) * np.diag(b**2)
        return cls(b, inverse @ (residual * gram + noise) @ inverse)


def adaptive_penalty(moments: Array, spectral: float) -> float:
    """What lifts the least eigenvalue to the spectral norm of the noise, and no more: Wang 2018, Algorithm 2."""
    return max(
        spectral - max(float(np.linalg.eigvalsh(moments)[0]), 0.0), 1e-9 * float(np.trace(np.abs(moments))), 1e-9
    )
