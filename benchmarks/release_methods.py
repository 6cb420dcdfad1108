"""Methods of making up records, beside the tree: distances of tables of two and three columns, and a class."""

from __future__ import annotations

import time
from collections.abc import Callable
from itertools import combinations
from statistics import mean

import numpy as np

from benchmarks.rows import Row, at_least, at_most, printed
from discreet.core.budget import Budget
from discreet.core.grid import Steps
from discreet.microdata import synthesize
from discreet.noise.deterministic import DeterministicBits
from discreet.schema.schema import Category, Schema
from discreet.trust.private_data import PrivateData

RECORDS, RUNS, EPSILON, DELTA = 20_000, 5, 1.0, 1e-6
METHODS = ("tree", "contingency", "mwem", "privbayes", "diffgen")
Generator = Callable[[np.random.Generator], Steps]


def chain(random: np.random.Generator) -> Steps:
    """Six columns, each of which depends on one before it: a tree."""
    sizes = (2, 3, 4, 5, 4, 3)
    found = np.zeros((RECORDS, len(sizes)), dtype=np.int64)
    for place, size in enumerate(sizes):
        before = found[:, max(place - 1 - place % 2, 0)] if place else np.zeros(RECORDS, np.int64)
        shares = random.dirichlet(np.full(size, 0.4), int(before.max()) + 1).cumsum(axis=1)
        found[:, place] = (random.random(RECORDS)[:, None] > shares[before][:, :-1]).sum(axis=1)
    return found


def differing(random: np.random.Generator) -> Steps:
    """Six columns of two values: one is whether two others differ, and the last follows that and a fourth."""
    found = random.integers(0, 2, (RECORDS, 6))
    found[:, 2] = (found[:, 0] ^ found[:, 1]) ^ (random.random(RECORDS) < 0.1)
    found[:, 5] = np.where(random.random(RECORDS) < 0.8, found[:, 2] & found[:, 3], found[:, 5])
    return found


def together(random: np.random.Generator) -> Steps:
    """Independent columns, and a class that follows from two of them together, or from two others together."""
    found = np.column_stack([random.integers(0, size, RECORDS) for size in (3, 2, 4, 2, 3, 2)])
    own = ((found[:, 0] > 0) & (found[:, 1] == 1)) | ((found[:, 2] > 1) & (found[:, 3] == 1))
    found[:, 5] = np.where(random.random(RECORDS) < 0.9, own, ~own)
    return found


def opened(records: Steps, seed: int) -> PrivateData:
    names = [f"c{place}" for place in range(records.shape[1])]
    values = [tuple(map(str, range(size))) for size in _sizes(records)]
    schema = Schema({name: Category(own) for name, own in zip(names, values, strict=True)})
    rows = {name: records[:, place].astype(str).tolist() for place, name in enumerate(names)}
    return PrivateData.of(rows, schema, Budget(EPSILON, DELTA), bits=DeterministicBits(seed))


def _sizes(records: Steps) -> list[int]:
    return [int(size) + 1 for size in records.max(axis=0)]


def made(records: Steps, method: str, seed: int) -> Steps:
    """The cells of made-up records; a missing value is the one after the last."""
    target = f"c{records.shape[1] - 1}" if method == "diffgen" else None
    table = synthesize(
        opened(records, seed), method=method, target=target, epsilon=EPSILON, delta=DELTA, random_state=seed
    )
    return np.where(np.isnan(table.records), _sizes(records), table.records).astype(np.int64)


def independent(records: Steps, seed: int) -> Steps:
    """A plain baseline: noisy counts of each column alone."""
    made_up = [
        synthesize(
            opened(records[:, [place]], seed), epsilon=EPSILON / records.shape[1], delta=0.0, rows=RECORDS
        ).records[:, 0]
        for place in range(records.shape[1])
    ]
    return np.column_stack([np.where(np.isnan(own), own[~np.isnan(own)].max() + 1, own) for own in made_up]).astype(int)


def distance(truth: Steps, found: Steps, columns: int) -> float:
    """Half the sum of differences of shares, on average over all tables of so many columns."""
    sizes = [size + 1 for size in _sizes(truth)]
    off = []
    for axes in combinations(range(truth.shape[1]), columns):
        shape = [sizes[axis] for axis in axes]
        first, second = (
            np.bincount(np.ravel_multi_index(own[:, axes].T, shape), minlength=int(np.prod(shape))) / len(own)
            for own in (truth, found)
        )
        off.append(np.abs(first - second).sum() / 2)
    return float(np.mean(off))


def accuracy(truth: Steps, found: Steps) -> float:
    """Of the truth, how often the most frequent class of made-up records with the same other columns is right."""
    sizes = [size + 1 for size in _sizes(truth)]
    cells = [np.ravel_multi_index(own[:, :-1].T, sizes[:-1]) for own in (truth, found)]
    counts = np.zeros((int(np.prod(sizes[:-1])), sizes[-1]))
    np.add.at(counts, (cells[1], found[:, -1]), 1.0)
    counts += 1e-6 * counts.sum(axis=0)
    return float(np.mean(counts.argmax(axis=1)[cells[0]] == truth[:, -1]))


def compared(name: str, generator: Generator) -> list[Row]:
    records, rows = generator(np.random.default_rng(1)), []
    rows.append(printed(f"{name}: right classes, learned from the truth", accuracy(records, records)))
    two, right = dict[str, float](), dict[str, float]()
    for method in METHODS:
        start = time.process_time()
        found = [made(records, method, seed) for seed in range(RUNS)]
        seconds = (time.process_time() - start) / RUNS
        two[method], three = (mean(distance(records, own, columns) for own in found) for columns in (2, 3))
        right[method] = mean(accuracy(records, own) for own in found)
        rows += [
            printed(f"{name}, {method}: distance of tables of 2 columns", two[method]),
            printed(f"{name}, {method}: distance of tables of 3 columns", three),
            printed(f"{name}, {method}: right classes", right[method]),
            printed(f"{name}, {method}: seconds of processor time", seconds),
        ]
    plain = mean(distance(records, independent(records, seed), 3) for seed in range(RUNS))
    mwem = mean(distance(records, made(records, "mwem", seed), 3) for seed in range(RUNS))
    if generator is together:
        rows.append(at_least(f"{name}, diffgen: right classes, against the tree", right["diffgen"], right["tree"]))
    rows.append(at_most(f"{name}, mwem: distance of 3 columns, against independent columns", mwem, round(plain, 4)))
    return rows


def rows() -> list[Row]:
    sets: dict[str, Generator] = {"a tree": chain, "two that differ": differing, "a class of several": together}
    return [row for name, generator in sets.items() for row in compared(name, generator)]
