"""Cuts from a sketch of the Laplacian: the pad, the errors, and how tight its price is."""

from __future__ import annotations

import math

import numpy as np
from scipy.optimize import brentq
from scipy.stats import gamma

from benchmarks.rows import Row, at_least, at_most, printed
from discreet.accounting.accountant import epsilon as epsilon_of
from discreet.accounting.calibration import calibrate
from discreet.audit.lower_bound import lower_bound
from discreet.core.answer import GraphAnswer
from discreet.core.budget import Budget
from discreet.core.grid import Array
from discreet.core.neighbors import Neighbors, Unit
from discreet.mechanisms.graphs.laplacian_sketch import LaplacianSketch, published_pad
from discreet.mechanisms.vectors.johnson_lindenstrauss import exchanged, loss_of
from discreet.noise.bits import system_bits

NODES, PROJECTIONS = 1000, 2952
NOTED = {10: 91, 100: 853, 370: 2176, 500: 2317}  # standard deviations of the prototype
RUNS, SETS = 4, 250
AUDITED, SAMPLES = ((2.0, 4), (8.0, 60), (6.0, 100), (12.0, 200)), 1_000_000


def rows() -> list[Row]:
    sketch = calibrate(LaplacianSketch(projections=PROJECTIONS), Budget(1.0, 1e-6))
    published = published_pad(1.0, 1e-6, PROJECTIONS)
    return [
        at_most("pad at epsilon 1, delta 1e-6, r = 2952", sketch.pad, 340),
        printed("published pad", published),
        printed("pad of replaced edges", calibrated(Neighbors.REPLACE).pad),
        printed("w^2 of a row of any length that moves by 1, r = 2952", moving_rows(PROJECTIONS)),
        *errors(sketch),
        *audits(),
    ]


def calibrated(neighbors: Neighbors) -> LaplacianSketch:
    return calibrate(LaplacianSketch(projections=PROJECTIONS, neighbors=neighbors), Budget(1.0, 1e-6))


def errors(sketch: LaplacianSketch) -> list[Row]:
    """Of cuts of random sets in a random graph of density 0.02: four sketches, 250 sets each."""
    rng = np.random.default_rng(0)
    edges = np.argwhere(np.triu(rng.random((NODES, NODES)) < 0.02, 1))
    answer = GraphAnswer(edges, NODES, Unit("edge"), Neighbors.ADD_REMOVE)
    off: dict[int, list[float]] = {size: [] for size in NOTED}
    for _ in range(RUNS):
        release = sketch.release(answer, system_bits())
        for size, list_of in off.items():
            inside = np.array([rng.permutation(NODES) < size for _ in range(SETS)], dtype=float).T
            exact = (inside[edges[:, 0]] != inside[edges[:, 1]]).sum(axis=0)
            centred = inside - inside.mean(axis=0)
            list_of += (sketch.quadratic(release, centred) - sketch.padding(centred) - exact).tolist()
    return [
        at_most(f"error of cuts of {size} of 1000 nodes, over the notes' {NOTED[size]}", rms / NOTED[size], 1.1)
        for size in NOTED
        for rms in [math.sqrt(np.mean(np.square(off[size])))]
    ] + [
        printed(f"Gaussian noise on every pair, {size} nodes", 4.22 * math.sqrt(size * (NODES - size)))
        for size in NOTED
    ]


def audits() -> list[Row]:
    """What sampling shows of the loss between no edge and one, at every setting that was tried: none is left out.

    An audit shows less than there is: by the confidence that it has to reach, and, for small pads, since releases are
    rounded to whole numbers. The row without sampling says how much of the difference is due to the price.
    """
    return [
        *(
            at_least(f"audit, multiplier {one:g}, r = {many}: epsilon shown over claimed", shown(one, many), 0.95)
            for one, many in AUDITED
        ),
        *(
            at_most(
                f"exact, multiplier {one:g}, r = {many}: epsilon claimed over exact",
                claimed(one, many),
                1.05,
            )
            for one, many in AUDITED
        ),
    ]


def shown(multiplier: float, projections: int) -> float:
    """By the length that tells the two apart, with confidence 0.99."""
    sketch = LaplacianSketch(multiplier, projections)
    pair = sketch.worst_neighbors()

    def lengths(answer: GraphAnswer) -> Array:
        found = (sketch.release(answer.stacked(SAMPLES // 40), system_bits()) for _ in range(40))
        return np.concatenate([np.square(one[..., 0] - one[..., 1]).sum(axis=-1) for one in found])

    assert isinstance(pair.first, GraphAnswer)
    assert isinstance(pair.second, GraphAnswer)
    bound = lower_bound(lengths(pair.first), lengths(pair.second), delta=0.05, confidence=0.99)
    return bound.epsilon / epsilon_of(sketch.event, 0.05)


def claimed(multiplier: float, projections: int) -> float:
    """Over the epsilon at which two Gamma laws, one wider than the other, have a divergence of 0.05."""
    ratio, shape = 1 + 1 / multiplier, projections / 2

    def excess(at: float) -> float:
        slope = 1 - 1 / ratio
        above, below = (sign * at / slope + shape * math.log(ratio) / slope for sign in (1, -1))
        removed = gamma.sf(above / ratio, shape) - math.exp(at) * gamma.sf(above, shape)
        added = gamma.cdf(below, shape) - math.exp(at) * gamma.cdf(below / ratio, shape) if below > 0 else 0.0
        return float(max(removed, added)) - 0.05

    return epsilon_of(LaplacianSketch(multiplier, projections).event, 0.05) / float(brentq(excess, 1e-6, 20.0))


def moving_rows(projections: int) -> float:
    """The regularisation at epsilon 1 and delta 1e-6 where a row of any length moves by a vector of length 1."""
    low, high = 1e3, 1e7
    while high / low > 1.001:
        middle = math.sqrt(low * high)
        growth = 2 * math.asinh(math.sqrt(1 / middle) / 2)
        fits = epsilon_of(exchanged(loss_of(projections, growth)), 1e-6) <= 1
        low, high = (low, middle) if fits else (middle, high)
    return high
