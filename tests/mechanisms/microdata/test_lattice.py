"""The lattice: the optimum of all combinations of levels, what is left out, and what breaks it."""

from __future__ import annotations

from collections import Counter
from itertools import product

import numpy as np
import pytest

from discreet.core.answer import Records
from discreet.core.events import NoPromise
from discreet.core.grid import Array
from discreet.core.neighbors import Neighbors
from discreet.mechanisms.microdata.anonymity_model import AnonymityModel, SensitiveValues
from discreet.mechanisms.microdata.changed_rows import ChangedRows
from discreet.mechanisms.microdata.equivalence_classes import Ranked
from discreet.mechanisms.microdata.generalization_levels import (
    GeneralizationLevels,
    IntervalLevels,
    ListedLevels,
    on_level,
)
from discreet.mechanisms.microdata.lattice import GeneralizedTable, Lattice, LatticeSearch, Node
from discreet.noise.deterministic import DeterministicBits

LEVELS: tuple[GeneralizationLevels, ...] = (
    IntervalLevels(0.0, 64.0, (4.0, 16.0)),
    ListedLevels(6, ((0, 0, 1, 1, 2, 2), (0, 0, 0, 0, 1, 1))),
    ListedLevels(3),
)
MODELS = {
    "k": AnonymityModel(3),
    "distinct": AnonymityModel(2, l=2),
    "entropy": AnonymityModel(2, l=1.6, diversity="entropy"),
    "recursive": AnonymityModel(2, l=2, diversity="recursive", c=1.6),
    "t": AnonymityModel(2, t=0.25),
}


def made(seed: int) -> Array:
    random = np.random.default_rng(seed)
    rows = int(random.integers(8, 40))
    columns = (random.integers(0, 64, rows), random.integers(0, 6, rows), random.integers(0, 3, rows))
    values = np.stack([*columns, random.geometric(0.5, rows).clip(1, 3)], axis=1).astype(float)
    values[random.random(values.shape) < 0.04] = np.nan
    return values


def records(values: Array, rows: int = 1) -> Records:
    return Records(values, rows, Neighbors.ADD_REMOVE)


def left_out(values: Array, node: Node, model: AnonymityModel) -> int:
    """How many records are left out on these levels, record by record."""
    columns = zip(LEVELS, values.T[:3], node, strict=True)
    coarse = np.stack([on_level(one, column, level) for one, column, level in columns], axis=1)
    kept = list(range(len(values)))
    while kept:
        keys = [tuple(np.where(np.isnan(row), -1, row)) for row in coarse[kept]]
        sensitive = SensitiveValues.of(Ranked.of(values[kept, 3]).codes, False)
        fine = dict[tuple[float, ...], bool]()
        for key in Counter(keys):
            some = np.array([place for place, one in enumerate(keys) if one == key])
            fine[key] = bool(model.met([sensitive.among(some)], 0 * some, np.array([len(some)]))[0])
        if all(fine.values()):
            break
        kept = [row for row, key in zip(kept, keys, strict=True) if fine[key]]
    return len(values) - len(kept)


def optimum(values: Array, model: AnonymityModel, limit: int) -> float:
    """By looking at every combination."""
    best = np.inf
    for node in product(*(range(len(one.losses)) for one in LEVELS)):
        out = left_out(values, node, model)
        loss = float(np.mean([one.losses[level] for one, level in zip(LEVELS, node, strict=True)]))
        if out <= limit:
            best = min(best, loss + (1 - loss) * out / len(values))
    return best


def search(values: Array, model: AnonymityModel, suppression: float) -> LatticeSearch:
    return LatticeSearch(GeneralizedTable(Lattice(model, LEVELS, ((3, False),), suppression), records(values)))


@pytest.mark.parametrize("name", MODELS)
def test_it_is_the_optimum_of_all_combinations_on_fifty_tables(name: str) -> None:
    """Ten tables for each of five models, with and without records left out."""
    for seed in range(10):
        values, suppression = made(seed), (0.0, 0.1, 0.3)[seed % 3]
        found = search(values, MODELS[name], suppression)
        assert found.least == pytest.approx(optimum(values, MODELS[name], found.table.limit))
        if found.best is not None:
            assert left_out(values, found.best, MODELS[name]) <= found.table.limit


class Hasty(LatticeSearch):
    """Takes every model for one that stays true on the way up, also where records are left out."""

    @property
    def bisected(self) -> AnonymityModel:
        return self.table.lattice.model


@pytest.mark.parametrize(("name", "seed", "suppression"), [("entropy", 46, 0.2), ("recursive", 4, 0.3), ("t", 11, 0.5)])
def test_models_that_merging_may_spoil_are_not_bisected(name: str, seed: int, suppression: float) -> None:
    values, model = made(seed), MODELS[name]
    found = search(values, model, suppression)
    assert found.least == pytest.approx(optimum(values, model, found.table.limit))
    assert Hasty(found.table).least > found.least + 1e-6
    assert found.bisected == model.necessary
    assert search(values, model, 0.0).bisected == model


def test_marks_are_right_and_fewer_nodes_are_looked_at_than_there_are() -> None:
    for seed in range(5):
        values = made(seed)
        for model in (MODELS["k"], MODELS["distinct"], MODELS["t"]):
            found = search(values, model, 0.2)
            for node in product(*map(range, found.marks.shape)):
                enough = left_out(values, node, found.bisected) <= found.table.limit
                assert found.marks[node] in (0, 1 if enough else 2)
            assert (found.marks[found.losses < found.least] > 0).all()
        looked = search(values, MODELS["k"], 0.0).seen
        assert len(looked) < found.marks.size / 3


def released(values: Array, model: AnonymityModel, suppression: float = 0.0, rows: int = 1) -> ChangedRows:
    lattice = Lattice(model, LEVELS, ((3, False),), suppression)
    return lattice.release(records(values, rows), DeterministicBits(1))


def classes(found: ChangedRows) -> Counter[tuple[float, ...]]:
    return Counter(tuple(np.where(np.isnan(row), -1, row)) for row in found.values[:, :3])


def test_classes_are_large_enough_and_few_records_are_left_out() -> None:
    for seed in range(10):
        values = made(seed)
        found = released(values, MODELS["k"], 0.2)
        assert min(classes(found).values()) >= 3
        assert found.notes["left_out"] == len(values) - len(found.values) <= 0.2 * len(values)
        assert min(classes(released(values, AnonymityModel(2), 0.0, rows=2)).values()) >= 4


def test_what_was_left_out_is_nowhere_in_the_release() -> None:
    values = np.array([[3.0, 0, 0, 1]] * 20 + [[63.0, 5, 2, 2]])
    found = released(values, AnonymityModel(5), 0.1)
    assert found.notes["left_out"] == 1
    assert [one.tolist() for one in found.notes["groups"]] == [[], [], []]
    assert found.values[:, 0].max() == 3
    spread = np.vstack([np.stack([np.arange(20.0) // 2, *np.zeros((2, 20)), np.ones(20)], axis=1), [[63.0, 5, 2, 2]]])
    coarser = released(spread, AnonymityModel(4), 0.1)
    assert coarser.notes["left_out"] == 1
    assert coarser.notes["groups"][0].max() < 60 / 4


def test_a_missing_value_is_a_class_and_no_wildcard() -> None:
    values = np.array([[np.nan, 0, 0, 1]] * 4 + [[5.0, 0, 0, 1]] * 4)
    found = released(values, AnonymityModel(4))
    assert found.notes["levels"] == [0, 0, 0]
    assert np.isnan(found.values[:, 0]).sum() == 4
    mixed = released(values[:7], AnonymityModel(4))  # three are not enough: only the last level joins them
    assert mixed.notes["levels"] == [3, 0, 0]


def test_fewer_records_than_k_give_no_table() -> None:
    for rows in (0, 1, 2):
        found = released(made(1)[:rows], MODELS["k"])
        assert len(found.values) == 0
        assert f"all records together are {rows}" in found.notes["near"]
    near = released(np.tile([[1.0, 1, 1, 1]], (9, 1)), MODELS["distinct"], 0.5).notes["near"]
    assert "reaches l = 1; at least 9 records would be left out, and 4 may be" in near


def test_minimality_tells_that_a_lower_level_was_not_enough() -> None:
    """Who is known to be in the table, and the levels, say who else is not: Wong and others 2007."""
    pairs = np.array([[1.0, 0, 0, 1], [2.0, 0, 0, 1], [33.0, 0, 0, 1], [34.0, 0, 0, 2]])
    assert released(pairs, AnonymityModel(2)).notes["levels"] == [1, 0, 0]
    lone = np.array([[1.0, 0, 0, 1], [2.0, 0, 0, 1], [33.0, 0, 0, 1], [44.0, 0, 0, 2]])
    assert released(lone, AnonymityModel(2)).notes["levels"] == [2, 0, 0]


def test_rows_are_in_no_order_and_nothing_is_promised() -> None:
    values = np.stack([np.arange(6000.0) % 64, *np.zeros((2, 6000)), np.arange(6000.0)], axis=1)
    found = Lattice(AnonymityModel(5), LEVELS).release(records(values), DeterministicBits(1))
    assert abs(np.corrcoef(np.arange(6000), found.values[:, 3])[0, 1]) < 0.08
    assert isinstance(Lattice.event, NoPromise)
