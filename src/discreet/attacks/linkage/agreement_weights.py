"""How much more often columns agree for one person than for two people, estimated without a known match."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from discreet.core.grid import Array

ROUNDS, SETTLED = 200, 1e-7
BEFORE, BELIEF = 0.9, 2.0  # how often a match is expected to agree, and how many pairs that belief is worth
LEAST, MOST_LIKELY = 1e-6, 0.99


@dataclass(frozen=True)
class AgreementWeights:
    """The ratio of likelihoods of every pattern, and the share of people who are in the target.

    Parameters
    ----------
    ratios : array of length 3 ** columns
        How much more probable a pattern is for a match than for two people; patterns are numbers in base 3, the first
        column in front: 0 for different, 1 for alike, 2 for unknown.
    share : float
        Of people who have a row.

    Examples
    --------
    >>> weights = AgreementWeights.of(np.array([900.0, 100.0, 0.0]), 1, 50)
    >>> weights.ratios[1] > 1 > weights.ratios[0], weights.ratios[2]
    (np.True_, np.float64(1.0))
    """

    ratios: Array = field(repr=False)
    share: float

    @classmethod
    def of(cls, counts: Array, columns: int, people: int) -> AgreementWeights:
        """By expectation and maximisation, from how many pairs have each pattern."""
        levels = np.stack(np.unravel_index(np.arange(len(counts)), (3,) * columns), axis=1)
        alike, seen = (levels == 1).astype(np.float64), (levels != 2).astype(np.float64)
        pairs, most = counts.sum(), min(0.5, people / counts.sum())
        own, others = np.full(columns, BEFORE), _rates(counts, alike, seen)
        rate = most * MOST_LIKELY
        for _ in range(ROUNDS):
            ratios = _ratios(alike, seen, own, others)
            match = counts * (rate * ratios / (rate * ratios + 1 - rate))
            before, own = own, _rates(match, alike, seen, BELIEF)
            others, rate = _rates(counts - match, alike, seen), min(match.sum() / pairs, most * MOST_LIKELY)
            if np.abs(own - before).max() < SETTLED:
                break
        return cls(_ratios(alike, seen, own, others), float(min(rate * pairs / people, MOST_LIKELY)))


def _rates(weights: Array, alike: Array, seen: Array, belief: float = 0.0) -> Array:
    """How often each column agrees where it is known, among pairs of these weights."""
    total = np.maximum(weights @ seen + belief, LEAST)
    return ((weights @ alike + belief * BEFORE) / total).clip(LEAST, 1 - LEAST)


def _ratios(alike: Array, seen: Array, own: Array, others: Array) -> Array:
    """Products over columns of the ratio for what was seen."""
    agree, differ = np.log(own / others), np.log((1 - own) / (1 - others))
    return np.exp(alike @ agree + (seen - alike) @ differ)
