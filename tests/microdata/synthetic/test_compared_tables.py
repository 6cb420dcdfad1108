"""Distances from the data bound every count of few columns, whatever the model missed."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest

from discreet.accounting.accountant import delta as delta_of
from discreet.core.budget import Budget
from discreet.core.errors import NotPermitted, ParameterError
from discreet.core.neighbors import Neighbors
from discreet.ledger.memory_ledger import MemoryLedger
from discreet.microdata.synthetic.compared_tables import ComparedTables, compared_sets
from discreet.microdata.synthetic.synthesize import synthesize
from discreet.microdata.synthetic.synthetic_table import SyntheticTable
from discreet.noise.deterministic import DeterministicBits
from discreet.questions.tables.coded_tables import TableCodes
from discreet.trust.local import Local
from discreet.trust.private_data import PrivateData
from discreet.trust.sources.frame import Frame
from tests.microdata.synthetic.test_adaptive_method import PARITY, SCHEMA


def made(seed: int, **options: Any) -> SyntheticTable:
    data = PrivateData.of(PARITY, SCHEMA, Budget(2.0, 1e-6), bits=DeterministicBits(seed), neighbors=Neighbors.REPLACE)
    return synthesize(data, epsilon=2.0, delta=1e-6, random_state=seed, **options)


def test_a_count_that_the_model_misses_is_inside_its_bound() -> None:
    """No tree of pairs has that c is whether a and b differ: an eighth of all records is expected, a quarter there."""
    exact = sum(row == ("yes", "no", "yes") for row in zip(PARITY["a"], PARITY["b"], PARITY["c"], strict=True))
    where = "a == 'yes' and b == 'no' and c == 'yes'"
    for seed in range(5):
        plain, compared = made(seed).count(where), made(seed, distances=0.15).count(where)
        assert abs(plain.value - exact) > (plain.half_width or 0.0)
        assert "(inferred)" in plain.name
        assert abs(compared.value - exact) <= (compared.half_width or 0.0)
        assert "(bounded)" in compared.name


def test_a_table_that_is_near_the_data_has_small_bounds() -> None:
    compared = made(1, columns=["a", "b"], distances=0.2).compared
    assert compared is not None
    bound = compared.bound((0, 1), 0.95)
    assert bound is not None
    assert bound < 800


def test_a_bound_is_hardly_wider_than_the_truth_needs() -> None:
    """Half the sum of all distances is reached by the cells that have too many records."""
    codes = TableCodes(("a", "b"), ((), ()), (2, 2))
    compared = ComparedTables(codes, np.array([10.0, 20.0, 400.0]), 1e-9)
    assert compared.bound((1, 0), 0.95) == pytest.approx((400 + 10) / 2)
    assert compared.bound((0, 1, 2), 0.95) is None


def test_laplace_noise_is_allowed_for_too() -> None:
    """Its upper end with a chance of 2.5 % is the logarithm of 20 in units of its scale."""
    codes = TableCodes(("a",), ((),), (2,))
    bound = ComparedTables(codes, np.array([0.0]), np.sqrt(2.0)).bound((0,), 0.95)
    assert bound == pytest.approx(np.log(20))


def test_every_set_of_cells_is_within_the_bound() -> None:
    rng = np.random.default_rng(1)
    for _ in range(50):
        truth, made_up = rng.integers(0, 30, (2, 3, 3))
        apart = [np.abs((truth - made_up).sum(axis=axis)).sum() for axis in (1, 0)]
        distances = np.array([*apart, np.abs(truth - made_up).sum()], dtype=float)
        compared = ComparedTables(TableCodes(("a", "b"), ((), ()), (3, 3)), distances, 1e-9)
        bound = compared.bound((0, 1), 0.95)
        assert bound is not None
        off = (truth - made_up).ravel()
        assert max(off[off > 0].sum(), -off[off < 0].sum()) <= bound + 1e-6


def test_a_bound_holds_whatever_the_number_of_columns() -> None:
    """Where every table is off by the totals alone, none may be said to be nearer than by one noise of its own."""
    columns, stddev, rng = 40, 10.0, np.random.default_rng(2)
    codes = TableCodes(tuple(f"c{i}" for i in range(columns)), ((),) * columns, (2,) * columns)
    sets, held = len(compared_sets(codes.sizes)), []
    for _ in range(2000):
        found = ComparedTables(codes, 100.0 + rng.normal(0, stddev, sets), stddev)
        held.append((found.bound((0, 1), 0.3) or 0.0) >= 100.0)
    assert np.mean(held) > 0.3


def test_distances_are_paid_for() -> None:
    for share in (0.1, 0.5):
        receipt = made(1, distances=share).receipt
        assert receipt.epsilon == pytest.approx(2.0, rel=1e-3)
        assert delta_of(receipt.event, 2.0) <= 1e-6 + 1e-12


def test_bounds_come_back_with_the_key() -> None:
    data = PrivateData.of(PARITY, SCHEMA, Budget(2.0, 1e-6))
    first, again = (synthesize(data, distances=0.2, epsilon=2.0, delta=1e-6, key="t") for _ in range(2))
    where = "a == 'yes' and c == 'yes' and d == 'no'"
    assert first.count(where).half_width == again.count(where).half_width


def test_small_tables_of_three_columns_are_compared_and_all_of_fewer() -> None:
    sets = compared_sets((2, 2, 300, 300, 30))
    assert set(combinations(range(5), 1)) | set(combinations(range(5), 2)) <= set(sets)
    assert (0, 1, 4) in sets
    assert (2, 3, 4) not in sets


def test_wrong_shares_are_refused_before_a_charge() -> None:
    data = PrivateData.of(PARITY, SCHEMA, Budget(2.0, 1e-6))
    hostile: tuple[Any, ...] = (-0.1, 0.6, float("nan"), "a", True, [0.1, 0.2])
    for wrong in hostile:
        with pytest.raises(ParameterError, match="distances"):
            synthesize(data, distances=wrong, epsilon=1.0, delta=1e-6)
    assert not data.ledger.entries()
    local = PrivateData(Local(Frame(PARITY, SCHEMA)), MemoryLedger(Budget(1.0, 1e-6)))
    with pytest.raises(NotPermitted, match="nobody can compare"):
        synthesize(local, distances=0.1, epsilon=1.0, delta=1e-6)
