"""Tables without a promise: variances of projections, the time of MDAV, coverage of PRAM, margins of swapping."""

from __future__ import annotations

import numpy as np

from benchmarks.rows import Row, at_most, cpu_seconds, printed
from discreet.core.answer import Records
from discreet.core.grid import Array
from discreet.core.neighbors import Neighbors
from discreet.mechanisms.microdata.microaggregation import mdav
from discreet.mechanisms.microdata.projected_records import MatrixLaw, ProjectedRows, random_matrix
from discreet.mechanisms.microdata.randomized_categories import invariant_matrix, replaced
from discreet.mechanisms.microdata.swapped_values import SwappedPlaces
from discreet.microdata.perturbation.pram import pram_counts
from discreet.microdata.perturbation.projected_table import ProjectionLaw
from discreet.noise.deterministic import DeterministicBits

RUNS = 40_000


def rows() -> list[Row]:
    """All figures."""
    return [*_projections(), *_groups(), *_pram(), *_swaps()]


def _off(products: Array, theory: float) -> float:
    """How far the variance of estimates is from the theory, as a part of it."""
    return abs(float(products.var()) / theory - 1)


def _projections() -> list[Row]:
    found, width, dimensions = [], 10, 5
    laws: tuple[MatrixLaw, ...] = ("gaussian", "orthogonal")
    for law in laws:
        pair, bits = np.random.default_rng(1).uniform(-1, 1, (2, width)), DeterministicBits(width)
        matrices = np.array([random_matrix(bits, width, dimensions, law) for _ in range(RUNS)])
        sums, lengths = pair @ matrices, np.square(pair).sum(axis=1)
        theory = ProjectionLaw.of(law, width, dimensions).variance(pair[0] @ pair[1], lengths.prod())
        off = _off((sums[:, 0] * sums[:, 1]).sum(axis=1), float(theory))
        found.append(at_most(f"projected columns, {law}: variance of inner products off theory by", off, 0.05))
    return [*found, _mixed_rows(), _rotated()]


def _mixed_rows() -> Row:
    rng, bits = np.random.default_rng(2), DeterministicBits(2)
    first = rng.uniform(-1, 1, 50)
    records = np.column_stack([first, first + rng.uniform(-1, 1, 50)])
    exact = float(np.corrcoef(records[:, 0], records[:, 1])[0, 1])
    answer, mechanism = Records(records, 1, Neighbors.ADD_REMOVE), ProjectedRows(2, 8)
    sums = np.array([mechanism.release(answer, bits).values for _ in range(RUNS // 2)])
    theory = ProjectionLaw.of("gaussian", 50, 8).variance(np.array(exact), np.array(1.0))
    off = _off((sums[:, :, 0] * sums[:, :, 1]).sum(axis=1), float(theory))
    return at_most("projected rows: variance of correlations off theory by", off, 0.05)


def _rotated() -> Row:
    bits, points = DeterministicBits(3), np.random.default_rng(3).uniform(-1, 1, (200, 10))
    turned = points @ random_matrix(bits, 10, 10, "orthogonal")
    off = float(np.abs(turned @ turned.T - points @ points.T).max())
    return at_most("rotation: largest error of an inner product (theory: none)", off, 1e-12)


def naive_mdav(points: Array, k: int) -> list[list[int]]:
    """As the paper says it, one record after another."""
    left, groups = [list(map(float, point)) for point in points], []
    names = list(range(len(points)))

    def away(one: list[float], other: list[float]) -> float:
        return sum((a - b) ** 2 for a, b in zip(one, other, strict=True))

    def taken(start: list[float]) -> None:
        near = sorted(range(len(left)), key=lambda place: away(left[place], start))[:k]
        groups.append([names[place] for place in near])
        for place in sorted(near, reverse=True):
            del left[place], names[place]

    while len(left) >= 2 * k:
        mean = [sum(own) / len(left) for own in zip(*left, strict=True)]
        first = max(left, key=lambda one: away(one, mean))
        taken(first)
        if len(left) >= 2 * k:
            taken(max(left, key=lambda one: away(one, first)))
    return [*groups, names]


def _groups() -> list[Row]:
    points = np.random.default_rng(4).normal(size=(2000, 4))
    ours, naive = cpu_seconds(lambda: mdav(points, 3), lambda: naive_mdav(points, 3), rounds=3)
    groups = mdav(points, 3)
    same = {frozenset(np.flatnonzero(groups == one).tolist()) for one in range(groups.max() + 1)}
    equal = same == {frozenset(one) for one in naive_mdav(points, 3)}
    many = np.random.default_rng(5).normal(size=(100_000, 4))
    (large,) = cpu_seconds(lambda: mdav(many, 3), rounds=1)
    return [
        printed("MDAV, 2,000 records x 4, k = 3: seconds", ours),
        printed("the same in plain loops: seconds", naive),
        printed("plain loops / ours", naive / ours),
        Row("groups are those of the plain loops", str(equal), "True", equal),
        printed("MDAV, 100,000 records x 4, k = 3: seconds", large),
    ]


def _pram() -> list[Row]:
    true, bits = np.array([700.0, 250.0, 50.0]), DeterministicBits(6)
    given = np.array([[0.8, 0.15, 0.05], [0.1, 0.8, 0.1], [0.0, 0.3, 0.7]])
    places, found = np.repeat(np.arange(3.0), true.astype(int)), []
    for name, matrix in (("given", given), ("invariant", invariant_matrix(true, 0.8))):
        held = []
        for _ in range(4000):
            counts = np.bincount(replaced(places, matrix, bits).astype(int), minlength=3)
            one = pram_counts(counts, matrix)
            held.append(np.abs(one.counts - true) < 1.96 * one.standard_error)
        share = float(np.mean(held))
        found.append(Row(f"PRAM, {name} matrix: 95 % intervals hold", share, "0.93-0.97", 0.93 <= share <= 0.97))
    return found


def _swaps() -> list[Row]:
    rng, n = np.random.default_rng(7), 100_000
    values = np.column_stack([rng.integers(0, size, n) for size in (50, 18, 2, 30)]).astype(np.float64)
    mechanism = SwappedPlaces((1, 2), (1, 2, 3), 2, 0.05)
    answer = Records(np.column_stack([values, np.arange(n)]), 1, Neighbors.ADD_REMOVE)
    (seconds,) = cpu_seconds(lambda: mechanism.release(answer, DeterministicBits(7)), rounds=1)
    found = mechanism.release(answer, DeterministicBits(7)).values
    wrong = 0
    for columns in ((0,), (0, 1), (0, 2), (0, 1, 2), (1, 2, 3, 4)):
        before, after = (np.unique(own[:, columns], axis=0, return_counts=True) for own in (answer.values, found))
        wrong += int(not (np.array_equal(before[0], after[0]) and np.array_equal(before[1], after[1])))
    moved = float((found[np.argsort(found[:, 4]), 0] != values[:, 0]).mean())
    return [
        at_most("swapped places, 100,000 records: stated margins that changed, of 5", wrong, 0),
        printed("records that moved", moved),
        printed("seconds", seconds),
    ]


if __name__ == "__main__":
    for row in rows():
        print(row.line(80))
