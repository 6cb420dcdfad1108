"""Mechanisms made of numpy, right and wrong, for the audit to tell apart."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.audit.ratio import Values


class Lab:
    """Outputs of textbook mechanisms and of their well-known faulty variants, from one fixed generator."""

    def __init__(self, seed: int) -> None:
        self.generator = np.random.default_rng(seed)

    def laplace(self, answer: float, scale: float, runs: int) -> Values:
        return answer + self.generator.laplace(0, scale, runs)

    def gaussian(self, answer: ArrayLike, stddev: float, runs: int) -> Values:
        answer = np.asarray(answer)
        return answer + self.generator.normal(0, stddev, (runs, *answer.shape))

    def geometric(self, answer: int, epsilon: float, runs: int) -> Values:
        one, other = self.generator.geometric(1 - np.exp(-epsilon), (2, runs))
        return answer + one - other

    def randomized_response(self, answer: int, epsilon: float, categories: int, runs: int) -> Values:
        lie = self.generator.integers(0, categories - 1, runs)
        honest = self.generator.random(runs) < np.exp(epsilon) / (np.exp(epsilon) + categories - 1)
        return np.where(honest, answer, lie + (lie >= answer))

    def noisy_max(self, scores: list[int], scale: float, runs: int) -> Values:
        return (np.array(scores) + self.generator.laplace(0, scale, (runs, len(scores)))).argmax(axis=1)

    def above_threshold(self, queries: list[int], threshold_scale: float, scale: float, runs: int) -> Values:
        """The index of the first query above, and the noisy value that was compared."""
        threshold = self.generator.laplace(0, threshold_scale, (runs, 1))
        noise = self.generator.laplace(0, scale, (runs, len(queries))) if scale > 0 else 0.0
        noisy = np.array(queries) + noise + np.zeros((runs, 1))
        above = noisy >= threshold
        index = np.where(above.any(axis=1), above.argmax(axis=1), len(queries))
        padded = np.column_stack([noisy, np.zeros(runs)])
        return np.column_stack([index, np.take_along_axis(padded, index[:, None], axis=1)])


def shares(count: int) -> NDArray[np.float64]:
    """A direction of length one with equal coordinates."""
    return np.full(count, count**-0.5)
