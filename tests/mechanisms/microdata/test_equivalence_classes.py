"""Classes of records: ranks, joint codes, and the spread of sensitive values against plain definitions."""

from __future__ import annotations

import numpy as np
from scipy.optimize import linprog

from discreet.core.grid import Array, Steps
from discreet.mechanisms.microdata.equivalence_classes import ClassCounts, Ranked, joint_codes


def random() -> np.random.Generator:
    return np.random.default_rng(7)


def test_ranks_are_those_of_sorting_for_whole_raw_and_huge_numbers() -> None:
    raw = np.append(random().normal(size=50), [np.nan, -0.0, 0.0])
    for column in (raw, np.round(10 * raw), 1e15 + np.round(10 * raw) / 8, np.array([5e-324, 0.0, -1e49, np.nan])):
        found = Ranked.of(column)
        there = ~np.isnan(column)
        values, codes = np.unique(column[there], return_inverse=True)
        assert np.array_equal(found.values, values)
        assert np.array_equal(found.codes[there], codes)
        assert set(found.codes[~there].tolist()) == {len(values)}
        assert found.count == len(values) + 1


def test_no_records_and_one_value_have_ranks() -> None:
    assert Ranked.of(np.empty(0)).count == 0
    assert Ranked.of(np.array([np.nan, np.nan])).codes.tolist() == [0, 0]


def test_joint_codes_do_not_overflow() -> None:
    columns = list(random().integers(0, 2, (4, 40)) * (2**31 - 2))
    keys = joint_codes(columns, [2**31] * 4)
    rows = np.stack(columns, axis=1)
    assert np.array_equal(keys[:, None] == keys, (rows[:, None] == rows).all(axis=2))


def earth_movers(p: Array, q: Array, ordered: bool) -> float:
    """By linear programming."""
    m = len(p)
    place = np.arange(m)
    cost = np.abs(place[:, None] - place) / max(m - 1, 1) if ordered else 1.0 - np.eye(m)
    rows = np.kron(np.eye(m), np.ones(m))
    columns = np.kron(np.ones(m), np.eye(m))
    return float(linprog(cost.ravel(), A_eq=np.vstack([rows, columns]), b_eq=np.append(p, q)).fun)


def counted(own: Steps, codes: Steps) -> ClassCounts:
    return ClassCounts.of(own, codes, int(own.max()) + 1)


def test_distances_are_those_of_linear_programming() -> None:
    for values in (1, 2, 6):
        codes, own = random().integers(0, values, 60) ** 2 % values, np.repeat(np.arange(12), 5)
        whole = np.bincount(codes)
        there = np.flatnonzero(whole)
        for ordered in (True, False):
            expected = [
                earth_movers(
                    np.bincount(codes[own == one], minlength=len(whole))[there] / 5, whole[there] / 60, ordered
                )
                for one in range(12)
            ]
            assert np.allclose(counted(own, codes).distance(whole, ordered), expected, atol=1e-9)


def test_values_that_occur_nowhere_are_no_steps_of_an_order() -> None:
    codes = np.array([0, 9, 9, 9])
    found = counted(np.array([0, 1, 1, 1]), codes).distance(np.bincount(codes), True)
    assert np.allclose(found, [0.75, 0.25])


def test_diversity_is_that_of_its_definitions() -> None:
    own, codes = np.sort(random().integers(0, 8, 200)), random().geometric(0.3, 200)
    found = counted(own, codes)
    for one in range(8):
        counts = np.sort(np.unique(codes[own == one], return_counts=True)[1])[::-1]
        shares = counts / counts.sum()
        assert found.distinct[one] == len(counts)
        assert np.isclose(found.entropy[one], -(shares * np.log(shares)).sum())
        assert found.largest[one] == counts[0]
        for l in (1, 2, 3, 9):  # noqa: E741
            assert found.tail(l)[one] == counts[l - 1 :].sum()
