"""The exponential mechanism by Gumbel noise, exactly."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from discreet.core.bits import Bits
from discreet.core.grid import Steps
from discreet.noise.bars import Bars, exponentials
from discreet.noise.contest import ERROR, argmax
from discreet.noise.interval import Interval, Uniform
from discreet.noise.scaled import Words


def gumbel_argmax(bits: Bits, scores: ArrayLike, scale: float) -> Steps:
    """Choose the index of the largest score + scale * Gumbel along the last axis, exactly.

    So index i is chosen with probability in proportion to exp(scores[i] / scale) (Gumbel 1954; McFadden 1974): the
    exponential mechanism.

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
    return argmax(bits, scores, scale, UnitGumbel())


class UnitGumbel:
    """The real -ln E, E exponential with error bar dE: off by 2 dE / E, if E > 2 dE, and 4 units in the last place."""

    uniforms = 1

    def reals(self, words: Words) -> Bars:
        exponential = exponentials(words[0])
        with np.errstate(divide="ignore", invalid="ignore"):
            gumbel = -np.log(exponential.value)
            error = 2 * exponential.error / exponential.value + ERROR * (1 + np.abs(gumbel))
            return Bars(gumbel, np.where(exponential.value > 2 * exponential.error, error, np.inf))

    def exact(self, *uniforms: Uniform) -> Interval:
        return -(-uniforms[0].interval().ln()).ln()
