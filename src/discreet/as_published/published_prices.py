"""What publications say that noise costs, or how much is needed: numbers to compare with, and no events to pay with."""

from __future__ import annotations

import math

from discreet.accounting.renyi import renyi
from discreet.core.checks import check_positive, check_whole
from discreet.core.errors import ParameterError
from discreet.core.events import Composed, Event, GaussianLoss, Repeated, Sampled
from discreet.deep.fair.fair_plan import check_batch, steps_of

MOMENTS = 32
ORDERS = (*(1 + step / 10 for step in range(1, 100)), *range(11, 65), 128, 256, 512)


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


def published_epsilon(
    *, batch: int, size: int, epochs: int, primal_multiplier: float, dual_multiplier: float, delta: float
) -> float:
    """The epsilon of Tran, Fioretto and Van Hentenryck 2021 for noise that is given in units of the clips.

    (order, (T n / |B|) e_p + T e_d)-Renyi privacy, e_p by Mironov, Talwar and Zhang 2019 for samples of |B| / n, e_d
    for all records, and the least of divergence + ln(1 / delta) / (order - 1) over orders.

    It proves nothing about PF-LD as published. e_p and e_d are for a record that is added, where a group is changed,
    which is twice as far; the sensitivity is of one clip where group means divide by exact group sizes, which are
    secret and may be as small as 1; batches are shuffled, and e_p is for samples by coins; and the loss of the same
    batch, which is not clipped, shows who is in it. `PFLDPlan` is what this library proves and charges.

    Parameters
    ----------
    batch, size, epochs : int
        |B|, n, T.
    primal_multiplier, dual_multiplier : float
        Standard deviations of the noise, over the clips C_p and C_d.
    delta : float
        In (0, 1).

    Examples
    --------
    >>> noise = {"primal_multiplier": 10.0, "dual_multiplier": 40.0}
    >>> round(published_epsilon(batch=500, size=10_000, epochs=20, delta=1e-5, **noise), 2)
    0.73
    """
    check_batch(batch, size, epochs)
    check_positive("published epsilon", "delta", delta, 1e-300, 1 - 1e-12)
    primal = Repeated(Sampled(GaussianLoss(primal_multiplier), batch / size), steps_of(batch, size, epochs))
    event = Composed((primal, Repeated(GaussianLoss(dual_multiplier), epochs)))
    return min(renyi(event, order).divergence + math.log(1 / delta) / (order - 1) for order in ORDERS)


def published_pad(epsilon: float, delta: float, projections: int) -> float:
    """The pad of a Laplacian sketch by Blocki, Blum, Datta and Sheffet 2012, Algorithm 1.

    It is enough, and 80 times what `LaplacianSketch` needs, whose loss is computed exactly.

    Parameters
    ----------
    epsilon, delta : float
        Public. What the sketch may cost.
    projections : int
        Public. How many vectors are released.

    Examples
    --------
    >>> round(published_pad(1.0, 1e-6, 2952), -2)
    27200.0
    """
    return math.sqrt(32 * projections * math.log(2 / delta)) / epsilon * math.log(4 * projections / delta)
