"""What the publication of PF-LD says that a run costs. It is a number to compare with, and no event to pay with."""

from __future__ import annotations

import math

from discreet.accounting.renyi import renyi
from discreet.core.checks import check_positive
from discreet.core.events import Composed, GaussianLoss, Repeated, Sampled
from discreet.deep.fair.fair_plan import check_batch, steps_of

ORDERS = (*(1 + step / 10 for step in range(1, 100)), *range(11, 65), 128, 256, 512)


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
