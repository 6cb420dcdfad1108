"""Cuts from a sketch of the Laplacian: the pad, the errors, and how tight its price is."""

from __future__ import annotations

import math

import numpy as np
from scipy.optimize import brentq
from scipy.stats import gamma

from benchmarks.rows import Row, at_least, at_most, printed
from discreet.accounting.accountant import epsilon as epsilon_of
from discreet.accounting.calibration import calibrate
from discreet.as_published.published_prices import published_pad
from discreet.audit.witness import Count, Witness
from discreet.core.answer import AnyAnswer, GraphAnswer
from discreet.core.budget import Budget
from discreet.core.neighbors import Neighbors, Unit
from discreet.mechanisms.graphs.laplacian_sketch import LaplacianSketch
from discreet.mechanisms.vectors.moved_row_sketch import MovedRowSketch
from discreet.noise.system_bits import system_bits

NODES, PROJECTIONS = 1000, 2952
NOTED = {10: 91, 100: 853, 370: 2176, 500: 2317}  # standard deviations of the prototype
RUNS, SETS = 4, 250
AUDITED = {(2.0, 4): 8_000_000, (8.0, 60): 1_000_000, (6.0, 100): 1_000_000, (12.0, 200): 1_000_000}  # outputs of each
AT, RISK, CHUNK = 0.05, 0.01, 2**17


def rows() -> list[Row]:
    sketch = calibrate(LaplacianSketch(projections=PROJECTIONS), Budget(1.0, 1e-6))
    published = published_pad(1.0, 1e-6, PROJECTIONS)
    moved = calibrate(MovedRowSketch(projections=PROJECTIONS, reach=1.0), Budget(1.0, 1e-6))
    return [
        at_most("pad at epsilon 1, delta 1e-6, r = 2952", sketch.pad, 340),
        printed("published pad", published),
        printed("pad of replaced edges", calibrated(Neighbors.REPLACE).pad),
        printed("w^2 of a row of any length that moves by 1, r = 2952", moved.regularization),
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
    rounded to whole numbers: at multiplier 2 that takes 3 %. The rows without sampling say how much of the difference
    is due to the price.
    """
    return [
        *(
            at_least(f"audit, multiplier {one:g}, r = {many}: epsilon shown over claimed", shown(one, many, of), 0.95)
            for (one, many), of in AUDITED.items()
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


def shown(multiplier: float, projections: int, outputs: int) -> float:
    """By one event, fixed beforehand: the squared length is where the claim says that the laws' ratio is exp(epsilon).

    No output is spent on finding it, and two bounds (Clopper and Pearson 1934) share the risk.
    """
    sketch = LaplacianSketch(multiplier, projections)
    epsilon, ratio = epsilon_of(sketch.event, AT), 1 + 1 / multiplier
    least = 2 * 2 * sketch.pad * (epsilon + projections / 2 * math.log(ratio)) / (1 - 1 / ratio)

    def longer(answer: AnyAnswer) -> Count:
        assert isinstance(answer, GraphAnswer)
        hits, rest = 0, outputs
        while rest > 0:
            some = sketch.release(answer.stacked(min(rest, CHUNK * 4 // projections)), system_bits())
            hits += int((np.square(some[..., 0] - some[..., 1]).sum(axis=-1) > least).sum())
            rest -= len(some)
        return Count(hits, outputs)

    pair = sketch.worst_neighbors()
    witness = Witness("longer", "second", often=longer(pair.second), seldom=longer(pair.first), risk=RISK / 2)
    return witness.epsilon(AT) / epsilon


def claimed(multiplier: float, projections: int) -> float:
    """Over the epsilon at which two Gamma laws, one wider than the other, have a divergence of `AT`."""
    ratio, shape = 1 + 1 / multiplier, projections / 2

    def excess(at: float) -> float:
        slope = 1 - 1 / ratio
        above, below = (sign * at / slope + shape * math.log(ratio) / slope for sign in (1, -1))
        removed = gamma.sf(above / ratio, shape) - math.exp(at) * gamma.sf(above, shape)
        added = gamma.cdf(below, shape) - math.exp(at) * gamma.cdf(below / ratio, shape) if below > 0 else 0.0
        return float(max(removed, added)) - AT

    return epsilon_of(LaplacianSketch(multiplier, projections).event, AT) / float(brentq(excess, 1e-6, 20.0))
