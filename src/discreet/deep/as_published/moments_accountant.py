"""The moments accountant, as published."""

from __future__ import annotations

import math

from discreet.accounting.renyi import renyi
from discreet.core.checks import check_whole
from discreet.core.errors import ParameterError
from discreet.core.events import Event

MOMENTS = 32


def moments_epsilon(event: Event, delta: float, moments: int = MOMENTS) -> float:
    """Epsilon by the logarithms of the first moments of the privacy loss; for study.

    Abadi et al. 2016, Theorem 2: moments of a composition add up, and epsilon is the least
    (alpha(k) - ln(delta)) / k, where alpha(k) is k times the Renyi divergence of order k + 1. `accounting.epsilon` is
    less, and never wrong: it follows the distribution of the loss itself.

    Parameters
    ----------
    event : Event
        Public. What was released.
    delta : float
        Public. In (0, 1).
    moments : int
        Public. The greatest order; they took 32.

    Examples
    --------
    >>> from discreet.accounting import epsilon
    >>> from discreet.core.events import GaussianLoss, Repeated, Sampled
    >>> training = Repeated(Sampled(GaussianLoss(4.0), 0.01, "poisson"), 10_000)
    >>> round(moments_epsilon(training, 1e-5), 2), round(epsilon(training, 1e-5), 2)
    (1.26, 0.95)
    """
    check_whole("moments accountant", "moments", moments)
    if not 0 < delta < 1:
        raise ParameterError("moments accountant", f"delta is {delta}", "Give one in (0, 1).", delta=delta)
    found = []
    for order in range(1, int(moments) + 1):
        part = renyi(event, order + 1.0)
        left = delta - part.delta
        found.append((order * part.divergence - math.log(left)) / order if left > 0 else math.inf)
    return min(found)
