"""The winner of a noisy contest, exactly: the index of the largest score with noise in real numbers."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from discreet.core.bits import Bits
from discreet.core.errors import ParameterError
from discreet.core.grid import Array, Steps
from discreet.noise.error_bars import ErrorBars, exponentials
from discreet.noise.interval import Interval, Uniform, settled
from discreet.noise.scaled import UnitLaplace, UnitLaw, Words

CHUNK = 1 << 15
FAR = -(2.0**60)  # scores farther behind are only known to be below this
ERROR = 2.0**-49


def argmax(bits: Bits, scores: ArrayLike, scale: float, law: UnitLaw) -> Steps:
    """Choose the index of the largest score + scale * noise along the last axis, exactly.

    z, the score less the largest one, over the scale, is off by two roundings and its sum with the noise x by one:
    2**-49 (1 + |x| + |z|) is about twice as much. Contestants whose error bars reach that of the best are compared in
    multi-precision, with further bits.

    Parameters
    ----------
    scores : array of float
        At least one along the last axis; -inf is never chosen. Taken to be exact.
    scale : float
        Public. Positive and finite.
    law : UnitLaw
        Public. The noise.
        One index for each leading entry of the scores.
    """
    scores = np.asarray(scores, dtype=np.float64)
    _check(scores, scale)
    rows = scores.reshape(-1, scores.shape[-1])
    out = np.empty(len(rows), np.int64)
    step = max(1, CHUNK // rows.shape[1])
    for start in range(0, len(rows), step):
        out[start : start + step] = _winners(bits, rows[start : start + step], float(scale), law)
    return out.reshape(scores.shape[:-1])


def _check(scores: Array, scale: float) -> None:
    if not 0 < scale < math.inf:
        raise ParameterError("noisy contest", f"the scale is {scale}", "Give a positive, finite scale.", scale=scale)
    if scores.ndim == 0 or scores.shape[-1] == 0:
        raise ParameterError("noisy contest", "there are no contestants", "Give at least one score.")
    best = scores.max(axis=-1)
    if not np.isfinite(best).all():
        raise ParameterError(
            "noisy contest", "a score is nan or inf, or all are -inf", "Give finite scores; -inf for the impossible."
        )


def _winners(bits: Bits, rows: Array, scale: float, law: UnitLaw) -> Steps:
    words = bits.words(law.uniforms * rows.size).reshape(law.uniforms, *rows.shape).copy()
    bounds = _noisy_bounds(rows, scale, law.reals(words))
    contenders = bounds.high >= bounds.low.max(axis=1, keepdims=True)
    winners: Steps = bounds.high.argmax(axis=1).astype(np.int64, copy=False)
    for row in np.flatnonzero(contenders.sum(axis=1) > 1):
        these = np.flatnonzero(contenders[row])
        winners[row] = these[_winner(bits, rows[row, these], scale, words[:, row, these], law)]
    return winners


@dataclass(frozen=True)
class _Bounds:
    low: Array
    high: Array


def _noisy_bounds(rows: Array, scale: float, noise: ErrorBars) -> _Bounds:
    """Bounds of (score - largest) / scale + noise."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        behind = np.maximum((rows - rows.max(axis=1, keepdims=True)) / scale, FAR)
        error = noise.error + ERROR * (1 + np.abs(noise.value) - behind)
        known = np.isfinite(noise.error)
        return _Bounds(
            low=np.where(known & (behind > FAR), noise.value + behind - error, -np.inf),
            high=np.where(known, noise.value + behind + error, np.inf),
        )


def _winner(bits: Bits, scores: Array, scale: float, words: Words, law: UnitLaw) -> int:
    """The winner among contenders, in multi-precision."""
    uniforms = [[Uniform(bits, int(word)) for word in own] for own in words.T]

    def attempt() -> int | None:
        noisy = [
            Interval.of(float(score)) / scale + law.exact(*own) for score, own in zip(scores, uniforms, strict=True)
        ]
        first = max(range(len(noisy)), key=lambda i: noisy[i].lo)
        return first if all(first == i or other.hi < noisy[first].lo for i, other in enumerate(noisy)) else None

    return settled(attempt, [uniform for own in uniforms for uniform in own])


def exponential_argmax(bits: Bits, scores: ArrayLike, scale: float) -> Steps:
    """Choose the index of the largest score + scale * exponential real along the last axis, exactly.

    That is permute-and-flip: visiting indices in random order and taking i with probability exp(-(largest - scores[i])
    / scale) ends at the same index (Ding et al. 2021). Parameters and result are those of `argmax`.

    Examples
    --------
    >>> from discreet.noise.deterministic import DeterministicBits
    >>> exponential_argmax(DeterministicBits(1), np.zeros((4, 3)), scale=1.0)
    array([0, 0, 1, 0])
    """
    return argmax(bits, scores, scale, UnitExponential())


def laplace_argmax(bits: Bits, scores: ArrayLike, scale: float) -> Steps:
    """Choose the index of the largest score + scale * Laplace real along the last axis, exactly.

    Parameters and result are those of `argmax`.

    Examples
    --------
    >>> from discreet.noise.deterministic import DeterministicBits
    >>> laplace_argmax(DeterministicBits(1), np.zeros((4, 3)), scale=1.0)
    array([0, 0, 2, 2])
    """
    return argmax(bits, scores, scale, UnitLaplace())


class UnitExponential:
    """Density exp(-x) for x > 0."""

    uniforms = 1

    def reals(self, words: Words) -> ErrorBars:
        return exponentials(words[0])

    def exact(self, *uniforms: Uniform) -> Interval:
        return -uniforms[0].interval().ln()


def gumbel_argmax(bits: Bits, scores: ArrayLike, scale: float) -> Steps:
    """Choose the index of the largest score + scale * Gumbel along the last axis, exactly.

    So index i is chosen with probability in proportion to exp(scores[i] / scale) (Gumbel 1954; McFadden 1974): the
    exponential mechanism. Parameters and result are those of `argmax`.

    Examples
    --------
    >>> from discreet.noise.deterministic import DeterministicBits
    >>> gumbel_argmax(DeterministicBits(1), np.zeros((4, 3)), scale=1.0)
    array([2, 1, 2, 2])
    """
    return argmax(bits, scores, scale, UnitGumbel())


class UnitGumbel:
    """The real -ln E, E exponential with error bar dE: off by 2 dE / E, if E > 2 dE, and 4 units in the last place."""

    uniforms = 1

    def reals(self, words: Words) -> ErrorBars:
        exponential = exponentials(words[0])
        with np.errstate(divide="ignore", invalid="ignore"):
            gumbel = -np.log(exponential.value)
            error = 2 * exponential.error / exponential.value + ERROR * (1 + np.abs(gumbel))
            return ErrorBars(gumbel, np.where(exponential.value > 2 * exponential.error, error, np.inf))

    def exact(self, *uniforms: Uniform) -> Interval:
        return -(-uniforms[0].interval().ln()).ln()
