"""Adaptive games with finite mechanisms, whose whole transcripts can be enumerated."""

from __future__ import annotations

import math
from collections.abc import Callable

from discreet.core.events import ApproximateLoss, Event, PureLoss, Sampled

Law = list[tuple[float, float]]
"""The probabilities of each output for one data set and for its neighbor."""
Path = tuple[int, ...]
Choice = Callable[[Path], Law | None]


def response(epsilon: float, leak: float = 0.0) -> Law:
    """Randomized response that with probability `leak` tells the truth: the worst (epsilon, leak) there is."""
    p = 1 / (1 + math.exp(-epsilon))
    return [(leak, 0.0), ((1 - leak) * p, (1 - leak) * (1 - p)), ((1 - leak) * (1 - p), (1 - leak) * p), (0.0, leak)]


def worst_law(event: Event) -> Law:
    """The worst mechanism that keeps the promise of a bounded, an approximate or a sampled bounded loss."""
    match event:
        case PureLoss(epsilon):
            return response(epsilon)
        case ApproximateLoss(epsilon, delta):
            return response(epsilon, delta)
        case Sampled(PureLoss(epsilon), rate):
            (_, (p, q), *_) = response(epsilon)
            return [((1 - rate) * q + rate * p, q), ((1 - rate) * p + rate * q, p)]
        case _:
            raise AssertionError(event)


def hockey_stick(law: Law, epsilon: float) -> float:
    """Delta at this epsilon, for the worse direction."""
    return max(
        math.fsum(max(p - math.exp(epsilon) * q, 0.0) for p, q in law),
        math.fsum(max(q - math.exp(epsilon) * p, 0.0) for p, q in law),
    )


def adaptively(choose: Choice, path: Path = (), p: float = 1.0, q: float = 1.0) -> Law:
    """The law of the whole transcript when every next question depends on the answers so far."""
    law = choose(path)
    if law is None or p == q == 0:
        return [(p, q)]
    return [leaf for i, (a, b) in enumerate(law) for leaf in adaptively(choose, (*path, i), p * a, q * b)]
