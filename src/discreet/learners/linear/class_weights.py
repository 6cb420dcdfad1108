"""What noisy counts say of the classes of a target, and the weights that their records have: post-processing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.core.checks import is_number
from discreet.core.errors import ParameterError
from discreet.core.grid import Array
from discreet.releases.whitening import shrunk

BALANCED = "balanced"
LIGHTEST = 2.0**-20  # of the greatest weight
RAREST = 2e-4  # twice the least share of a class


@dataclass(frozen=True)
class WeightedClasses:
    """Shares of the classes, and weights of their records.

    Parameters
    ----------
    weights : array of shape (K,)
        Of the records of each class, the greatest of them 1.
    shares : array of shape (K,)
        Of each class among all records, so weighted.
    kept : float
        What the weights of all records add up to, for each record.
    """

    weights: Array
    shares: Array
    kept: float

    @classmethod
    def of(cls, counts: Array, stddev: float, given: Array | None) -> WeightedClasses:
        """From noisy counts; their shares are closer to one another by the share of noise in how they differ.

        Parameters
        ----------
        counts : array of shape (K,)
            Of the records of each class, with noise of this standard deviation.
        given : array of shape (K,), optional
            Public. Weights of the classes. None: in proportion to the inverse of their shares.
        """
        total = max(float(counts.sum()), 1.0)
        error, alike = stddev / total, 1 / len(counts)
        unknown = alike * (1 - alike) / (1 + len(counts))  # the variance of a share, of which nothing is known
        shares = alike + unknown / (unknown + error**2) * shrunk(counts / total - alike, error)
        shares = np.maximum(shares, min(max(error, RAREST) / 2, alike / 2))
        shares = shares / shares.sum()
        weights = 1 / shares if given is None else given
        weights = weights / weights.max()
        kept = float(weights @ shares)
        return cls(weights, weights * shares / kept, kept)


def given_weights(asked: str, class_weight: Any, classes: tuple[Any, ...]) -> Array | None:
    """Weights of these classes, by class; 1 where none is given, and None where noisy counts are to balance them."""
    if class_weight is None:
        return np.ones(len(classes))
    if isinstance(class_weight, str) and class_weight == BALANCED:
        return None
    remedy = f'Give None, "{BALANCED}", or a positive number for some of the classes {list(classes)}.'
    if not isinstance(class_weight, Mapping):
        raise ParameterError(asked, f"class_weight is {class_weight!r}", remedy)
    known = {str(value): place for place, value in enumerate(classes)}
    weights = np.ones(len(classes))
    for name, weight in class_weight.items():
        if str(name) not in known or not is_number(weight) or not LIGHTEST <= float(weight) <= 1 / LIGHTEST:
            raise ParameterError(asked, f"class_weight has {weight!r} for the class {name!r}", remedy)
        weights[known[str(name)]] = weight
    return np.maximum(weights, LIGHTEST * weights.max())
