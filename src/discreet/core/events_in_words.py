"""Events in words, for receipts."""

from __future__ import annotations

import math
from itertools import groupby

from discreet.core.events import (
    ApproximateLoss,
    Composed,
    ConcentratedLoss,
    DiscreteLoss,
    Event,
    GaussianLoss,
    LaplaceLoss,
    NoPromise,
    Parallel,
    PureLoss,
    RenyiLoss,
    Repeated,
    Sampled,
)


def in_words(event: Event) -> str:
    """What an event is, for a reader.

    Examples
    --------
    >>> in_words(Repeated(GaussianLoss(14.3325), 10))
    '10 x (Gaussian noise, 14.33 sensitivities)'
    >>> in_words(Composed((PureLoss(1.0), PureLoss(0.5), PureLoss(0.5))))
    'epsilon 1 + 2 x (epsilon 0.5)'
    """
    match event:
        case PureLoss(epsilon):
            return f"epsilon {epsilon:.4g}"
        case ApproximateLoss(0.0, delta):
            return f"a failure with chance {delta:.3g}"
        case ApproximateLoss(epsilon, delta):
            return f"epsilon {epsilon:.4g} and delta {delta:.3g}"
        case GaussianLoss(multiplier):
            return f"Gaussian noise, {multiplier:.4g} sensitivities"
        case LaplaceLoss(multiplier):
            return f"Laplace noise, {multiplier:.4g} sensitivities"
        case ConcentratedLoss(rho):
            return f"concentrated, rho {rho:.4g}"
        case RenyiLoss(orders, values):
            pure = f", epsilon {values[-1]:.4g}" if math.isinf(orders[-1]) else ""
            return f"a Renyi curve of {len(orders)} orders{pure}"
        case DiscreteLoss(step, remove, add) if remove.infinity == add.infinity == 0:
            greatest = max(table.first + len(table.probabilities) - 1 for table in (remove, add)) * step
            return f"epsilon {greatest:.4g}, and mostly less (tabulated)"
        case DiscreteLoss(_, remove, add):
            return f"a loss tabulated at {len(remove.probabilities)} and {len(add.probabilities)} points"
        case Repeated(inner, times):
            return in_words(inner) if times == 1 else f"{times} x ({in_words(inner)})"
        case Composed(events):
            runs = [(part, len(list(run))) for part, run in groupby(events)]
            return " + ".join(in_words(Repeated(part, times)) for part, times in runs) or "nothing"
        case Sampled(inner, rate, scheme):
            kind = scheme.replace("_", "-").replace("poisson", "Poisson")
            return f"({in_words(inner)}) on a {kind} sample of {rate:.3g}"
        case Parallel(events):
            return "the dearest of: " + "; ".join(dict.fromkeys(in_words(part) for part in events))
        case NoPromise(reason):
            return f"no promise ({reason})"
        case _:
            return str(event)
