"""The winner of a noisy contest, exactly: the exponential mechanism by Gumbel noise."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.core.bits import Bits
from discreet.core.errors import ParameterError
from discreet.core.grid import Array, Steps
from discreet.noise.bars import exponentials
from discreet.noise.interval import Interval, Uniform, settled

CHUNK = 1 << 15
FAR = -(2.0**60)  # whatever trails by more may lie anywhere below
ERROR = 2.0**-49
Words = NDArray[np.uint64]


def gumbel_argmax(bits: Bits, scores: ArrayLike, scale: float) -> Steps:
    """Choose the index of the largest score + scale * Gumbel along the last axis, exactly.

    So index i is chosen with probability in proportion to exp(scores[i] / scale) (Gumbel 1954; McFadden 1974): the
    exponential mechanism.

    The noise is G = -ln E, E exponential with the error bar dE of `bars.exponentials`; z is the score less the largest
    one, over the scale. ln E is off by 2 dE / E (if E > 2 dE; else anything is possible) and 4 units in the last place,
    z by two roundings and the sum by one: 2**-49 (1 + |G| + |z|) is about twice as much. Contestants whose error bars
    reach that of the best are compared in multi-precision, with further bits.

    Parameters
    ----------
    bits : Bits
        Where randomness comes from.
    scores : array of float
        At least one along the last axis; -inf is never chosen. Taken to be exact.
    scale : float
        Public. Positive and finite.

    Returns
    -------
    array of int64
        One index for each leading entry of the scores.

    Examples
    --------
    >>> from discreet.noise.deterministic import DeterministicBits
    >>> gumbel_argmax(DeterministicBits(1), np.zeros((4, 3)), scale=1.0)
    array([2, 1, 2, 2])
    """
    scores = np.asarray(scores, dtype=np.float64)
    _check(scores, scale)
    rows = scores.reshape(-1, scores.shape[-1])
    out = np.empty(len(rows), np.int64)
    step = max(1, CHUNK // rows.shape[1])
    for start in range(0, len(rows), step):
        out[start : start + step] = _winners(bits, rows[start : start + step], float(scale))
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


def _winners(bits: Bits, rows: Array, scale: float) -> Steps:
    words = bits.words(rows.size).reshape(rows.shape).copy()
    bounds = _noisy_bounds(rows, scale, words)
    contenders = bounds.high >= bounds.low.max(axis=1, keepdims=True)
    winners: Steps = bounds.high.argmax(axis=1).astype(np.int64, copy=False)
    for row in np.flatnonzero(contenders.sum(axis=1) > 1):
        these = np.flatnonzero(contenders[row])
        winners[row] = these[_winner(bits, rows[row, these], scale, words[row, these])]
    return winners


@dataclass(frozen=True)
class _Bounds:
    low: Array
    high: Array


def _noisy_bounds(rows: Array, scale: float, words: Words) -> _Bounds:
    """Bounds of (score - largest) / scale + Gumbel."""
    exponential = exponentials(words)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        behind = np.maximum((rows - rows.max(axis=1, keepdims=True)) / scale, FAR)
        gumbel = -np.log(exponential.value)
        error = 2 * exponential.error / exponential.value + ERROR * (1 + np.abs(gumbel) - behind)
        known = exponential.value > 2 * exponential.error
        return _Bounds(
            low=np.where(known & (behind > FAR), gumbel + behind - error, -np.inf),
            high=np.where(known, gumbel + behind + error, np.inf),
        )


def _winner(bits: Bits, scores: Array, scale: float, words: Words) -> int:
    """The winner among contenders, in multi-precision."""
    uniforms = [Uniform(bits, int(word)) for word in words]

    def attempt() -> int | None:
        noisy = [
            Interval.of(float(score)) / scale - (-uniform.interval().ln()).ln()
            for score, uniform in zip(scores, uniforms, strict=True)
        ]
        first = max(range(len(noisy)), key=lambda i: noisy[i].lo)
        return first if all(first == i or other.hi < noisy[first].lo for i, other in enumerate(noisy)) else None

    return settled(attempt, uniforms)
