"""What stated probabilities of finitely many outputs lose, exactly."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.core.errors import ParameterError
from discreet.core.grid import Array

ASKED = "audit"
ROUNDING = 1e-9  # of probabilities that are given as floats


@dataclass(frozen=True)
class ExactLoss:
    """The probabilities of the same outputs on two neighboring data sets.

    Parameters
    ----------
    outputs : tuple
        All outputs that either data set makes possible.
    first, second : array
        Their probabilities.

    Examples
    --------
    >>> coin = ExactLoss.of({"yes": 0.75, "no": 0.25}, {"yes": 0.25, "no": 0.75})
    >>> round(coin.epsilon(0.0), 4), round(coin.delta(0.5), 4), coin.output
    (1.0986, 0.3378, 'yes')
    """

    outputs: tuple[Any, ...]
    first: Array
    second: Array

    @classmethod
    def of(cls, first: Any, second: Any) -> ExactLoss:
        """Check probabilities that somebody stated: by output, or in the order of outputs."""
        here, there = _stated(first), _stated(second)
        outputs = tuple(dict.fromkeys([*here, *there]))
        sides = (np.array([side.get(output, 0.0) for output in outputs]) for side in (here, there))
        return cls(outputs, *sides)

    def delta(self, epsilon: float) -> float:
        """The least delta that is true at an epsilon, in both directions."""
        factor = math.exp(min(epsilon, 700.0))
        over, back = self.first - factor * self.second, self.second - factor * self.first
        return float(max(np.maximum(over, 0).sum(), np.maximum(back, 0).sum()))

    def epsilon(self, delta: float) -> float:
        """The least epsilon that is true at a delta, to eight digits; rounding of the probabilities is forgiven."""
        if self.delta(700.0) > delta + ROUNDING:
            return math.inf
        low, high = 0.0, 700.0
        for _ in range(80):
            middle = (low + high) / 2
            low, high = (middle, high) if self.delta(middle) > delta + ROUNDING else (low, middle)
        return low

    @property
    def output(self) -> Any:
        """The output whose probabilities are in the greatest ratio."""
        with np.errstate(divide="ignore", invalid="ignore"):
            ratios = np.abs(np.log(self.first) - np.log(self.second))
        return self.outputs[int(np.argmax(np.where(np.isnan(ratios), -1.0, ratios)))]


def _stated(found: Any) -> dict[Any, float]:
    try:
        by_output = dict(found) if isinstance(found, Mapping) else dict(enumerate(found))
        shares = np.array(list(by_output.values()), dtype=np.float64)
        right = shares.ndim == 1 and len(shares) > 0 and shares.min() >= 0 and abs(shares.sum() - 1) <= 1e-6
    except (TypeError, ValueError):
        right = False
    if not right:
        remedy = "Return a mapping from each output to its probability, which add up to 1, or take `probabilities` off."
        raise ParameterError(ASKED, "what `probabilities` returned is no distribution", remedy)
    return {output: float(share) for output, share in by_output.items()}
