"""How much room of a Gaussian filter covers an event that is neither Gaussian nor bounded, as training on samples.

An event is covered by G(v) up to a slack f if its delta is at most d_v(t) + f at every t >= 0, in both directions;
`gaussian_filter.md` proves that it may then be charged v, if the f of all charges add up to a part of delta put aside
for them. The slack is what lets a loss with a heavier tail than any Gaussian's be charged as one.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from scipy.special import ndtr

from discreet.accounting.accountant import epsilon
from discreet.accounting.closed_forms import gaussian_multiplier
from discreet.accounting.loss_distribution import DeltaCurve, curve_above
from discreet.accounting.pairs.directions import directions, has_pairs
from discreet.accounting.pairs.pairs import Array
from discreet.accounting.search import Ends, grown, narrowed
from discreet.accounting.single_release import SMALLEST
from discreet.core.events import Event

ROUNDING = 2.0**-40  # of the normal law, whose arguments are rounded too
CLOSE = 1 + 2.0**-12  # of the least room
ROUGH = 0.01  # of epsilon: where to begin
LEAST = 2.0**-100  # about a unit of loss: no smaller room is sought
FARTHEST = 700.0  # beyond this loss the exponential overflows, and the delta of a room counts as 0


@lru_cache(maxsize=1024)
def covering_room(event: Event, whole: float, slack: float) -> float | None:
    """The least v, rounded up, such that G(v) covers the event up to v / whole of the slack.

    The slacks of charges whose rooms add up to `whole` add up to `slack`. None if no v covers it, or only one far above
    `whole`: a price that is not known to cover must not be counted, since the whole may be raised later.

    Examples
    --------
    >>> from discreet.core.events import GaussianLoss, Repeated, Sampled
    >>> training = Repeated(Sampled(GaussianLoss(1.0), 0.01), 1000)
    >>> round(covering_room(training, 0.5, 1e-8), 2), round(covering_room(training, 0.5, 1e-10), 2)
    (0.24, 0.27)
    """
    if not (has_pairs(event) and whole > 0 and slack > 0):
        return None
    farthest = epsilon(event, slack, accuracy=ROUGH)
    if math.isinf(farthest):
        return None
    likely = gaussian_multiplier(max(farthest, 1e-6), slack) ** -2
    level = slack * min(1.0, likely / whole)
    if likely > 2 * whole or level < SMALLEST:
        return None
    curves = _curves(event, 2.0 ** math.floor(math.log2(level) - 1))
    if curves is None:
        return None

    def fits(room: float) -> bool:
        return all(covers(room, slack / whole, curve) for curve in curves)

    ends = grown(fits, 0.0, likely, 4 * whole)
    if ends is None:
        return None
    return narrowed(fits, ends, _close, _between).high * (1 + ROUNDING)


def _close(ends: Ends) -> bool:
    return ends.high <= max(CLOSE * ends.low, LEAST)


def _between(ends: Ends) -> float:
    return math.sqrt(ends.low * ends.high) if ends.low else ends.high / 4


@lru_cache(maxsize=64)
def _curves(event: Event, level: float) -> tuple[DeltaCurve, ...] | None:
    found = [curve_above(direction, level) for direction in directions(event)]
    known = tuple(curve for curve in found if curve is not None)
    return known if len(known) == len(found) else None


def covers(room: float, rate: float, curve: DeltaCurve) -> bool:
    """Whether the curve is nowhere above G(room) and a slack of `rate` times the room: delta only falls in between."""
    most = curve.deltas - room * rate * (1 - ROUNDING)
    return bool(most[-1] <= 0 and np.all(most[:-1] <= _delta_below(room, curve.losses[1:])))


def _delta_below(room: float, losses: Array) -> Array:
    """A bound from below on the delta of G(room)."""
    root, known = math.sqrt(room), np.minimum(losses, FARTHEST)
    near, far = ndtr(root / 2 - losses / root), np.exp(known) * ndtr(-root / 2 - losses / root)
    found: Array = np.where(losses > FARTHEST, 0.0, near * (1 - ROUNDING) - far * (1 + ROUNDING))
    return np.maximum(found, 0.0)
