"""Variances in random directions: from a sketch, and from a noisy covariance matrix at the same price."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from benchmarks.rows import Row, at_least, printed
from discreet.core.budget import Budget
from discreet.core.grid import Array
from discreet.statistics.moments.covariance import covariance
from discreet.statistics.moments.moved_variance_sketch import moved_variance_sketch
from discreet.statistics.moments.sketched_variances import SketchedVariances
from discreet.statistics.moments.variance_sketch import variance_sketch
from discreet.trust.moving_table import MovingTable

SIZES, COLUMNS, DIRECTIONS = (10_000, 100_000), (10, 100), 200
RUNS = {10_000: 6, 100_000: 2}
REACHES = (1.0, 5.0)


def rows() -> Iterator[Row]:
    """Errors, and how often intervals hold, over independent releases; directions of one release are correlated."""
    for size in SIZES:
        for columns in COLUMNS:
            table = _table(size, columns)
            exact, directions = np.cov(table.T, bias=True), _directions(columns)
            true = _along(exact, directions)
            sketched, noisy, held = [], [], []
            for _ in range(RUNS[size]):
                found = variance_sketch(table, bounds=(-1, 1))
                estimates, inside = _estimates(found, directions, true)
                sketched.append(estimates - true)
                held.append(inside)
                noisy.append(_along(covariance(table, bounds=(-1, 1)).values, directions) - true)
            setting = f"n {size}, {columns} columns"
            ratio = _rms(sketched) / _rms(noisy)
            yield printed(f"{setting}: error of variance_sketch in random directions over covariance's", ratio)
            yield printed(f"{setting}: error of covariance in random directions, over the variance", _rms(noisy / true))
            yield at_least(f"{setting}: share of 95 % intervals of the sketch that hold", float(np.mean(held)), 0.9)
    yield from _moved()


def _moved() -> Iterator[Row]:
    """Rows of length 100 and more, of which one may move by 1 or 5: no noise on a covariance matrix hides that."""
    table = np.random.default_rng(2).normal(0, 50, (10_000, 10))
    exact, directions = np.cov(table.T, bias=True), _directions(10)
    true = _along(exact, directions)
    for reach in REACHES:
        found = moved_variance_sketch(MovingTable(table, reach, Budget(1.0, 1e-6)))
        estimates, _ = _estimates(found, directions, true)
        yield printed(f"rows of length 158 that move by {reach:g}: error over the variance", _rms(estimates / true - 1))


def _table(size: int, columns: int) -> Array:
    rng = np.random.default_rng(0)
    return np.clip(rng.normal(0.1, 0.3, (size, columns)) @ np.linalg.qr(rng.normal(size=(columns, columns)))[0], -1, 1)


def _directions(columns: int) -> Array:
    drawn = np.random.default_rng(1).normal(size=(columns, DIRECTIONS))
    return np.asarray(drawn / np.linalg.norm(drawn, axis=0))


def _along(matrix: Array, directions: Array) -> Array:
    return np.asarray(np.einsum("ik,ij,jk->k", directions, matrix, directions))


def _estimates(found: SketchedVariances, directions: Array, true: Array) -> tuple[Array, Array]:
    ones = [found.variance(direction) for direction in directions.T]
    low, high = np.array([one.interval for one in ones]).T
    return np.array([one.value for one in ones]), (low <= true) & (true <= high)


def _rms(errors: Array | list[Array]) -> float:
    return math.sqrt(float(np.mean(np.square(errors))))
