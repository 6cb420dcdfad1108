"""Counting queries: exact answers, how far one record moves them, and one grid for all distances."""

from __future__ import annotations

import itertools
import pickle
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.core.answer import Answer
from discreet.core.bound import Bound
from discreet.core.errors import ParameterError
from discreet.core.grid import Grid
from discreet.core.neighbors import Neighbors
from discreet.mechanisms.online.queries import MOST, ExactCounts, Queries, distance, joined, on_one_grid, one_more

MARKS = Bound("l1", 1.0, nonnegative=True)


def histogram(counts: list[int], neighbors: Neighbors = Neighbors.ADD_REMOVE) -> Answer:
    return Answer(np.array(counts, dtype=np.int64), Grid(0), MARKS, neighbors)


def test_answers_are_exact_sums() -> None:
    rng = np.random.default_rng(0)
    counts, plain, linear = rng.integers(0, 10**9, 50), rng.random((7, 50)) < 0.5, rng.random((7, 50))
    exact = ExactCounts(histogram(counts.tolist())).to(Queries(plain))
    assert exact.steps.tolist() == [sum(int(c) for c, q in zip(counts, row, strict=True) if q) for row in plain]
    assert exact.grid == Grid(0)
    rounded = [[round(float(weight) * 2**16) for weight in row] for row in linear]
    exact = ExactCounts(histogram(counts.tolist())).to(Queries(linear))
    assert exact.steps.tolist() == [sum(int(c) * q for c, q in zip(counts, row, strict=True)) for row in rounded]
    assert exact.grid == Grid(-16)


@pytest.mark.parametrize("neighbors", list(Neighbors))
def test_one_record_moves_an_answer_by_no_more_than_its_sensitivity_which_is_reached(neighbors: Neighbors) -> None:
    """All queries with weights 0, 1/2 and 1 on all histograms of two records over three cells, and their neighbors."""
    queries = Queries(list(itertools.product([0, 0.5, 1], repeat=3)))
    cells = np.eye(3, dtype=int)
    farthest = 0.0
    for first, second in itertools.product(range(3), repeat=2):
        here = cells[first] + cells[second]
        for other in (*cells, np.zeros(3, dtype=int)):
            there = cells[first] + other
            if neighbors is Neighbors.REPLACE and other.sum() == 0:
                continue
            if neighbors is Neighbors.ADD_REMOVE and other.sum() == 1:
                continue
            answers = [ExactCounts(histogram(one.tolist(), neighbors)).to(queries) for one in (here, there)]
            apart = np.abs(answers[0].grid.values(answers[0].steps - answers[1].steps)).max()
            farthest = max(farthest, float(apart))
            assert apart <= answers[0].sensitivity("linf")
    assert farthest == 1.0
    assert answers[0].sensitivity("linf") == pytest.approx(1.0, abs=1e-14)


def test_a_unit_of_several_rows_moves_an_answer_by_as_many() -> None:
    answer = Answer(np.array([5, 5]), Grid(0), MARKS.times(3), Neighbors.REPLACE)
    assert ExactCounts(answer).to(Queries([1, 0])).sensitivity("linf") == pytest.approx(3.0, abs=1e-13)


def test_counts_that_no_histogram_has_are_moved_to_the_nearer_limit() -> None:
    extreme = ExactCounts(histogram([-5, 2**62])).to(Queries([[1, 0], [0, 1], [1, 1]]))
    assert extreme.steps.tolist() == [0, MOST, MOST]


@given(st.lists(st.lists(st.integers(0, 2**53), min_size=3, max_size=3), min_size=1, max_size=5), st.integers(0, 40))
def test_limbs_are_joined_as_whole_numbers_are(columns: list[list[int]], floored: int) -> None:
    """Against Python's own integers, which have no end."""
    limbs, most = [np.array(column) for column in zip(*columns, strict=True)], 2**61
    exact = [sum(limb << (16 * place) for place, limb in enumerate(column)) >> floored for column in columns]
    assert joined(limbs, 16, floored, most).tolist() == [min(one, most) for one in exact]


@pytest.mark.parametrize("weights", [[1, 1, 0], [0.5, 1, 0.25]])
def test_counts_on_a_fine_grid_are_right_up_to_billions(weights: list[float]) -> None:
    """Where units are pooled, a step is 2**-29 of a record: 2**33 records fit into int64, and into every answer."""
    rng, queries = np.random.default_rng(2), Queries(weights)
    for most in (400_000, 2**31):
        counts = [int(one) for one in rng.integers(0, most << 29, 3)]
        answer = Answer(np.array(counts), Grid(-29), MARKS, Neighbors.REPLACE)
        exact = sum(Fraction(weight) * Fraction(count, 2**29) for weight, count in zip(weights, counts, strict=True))
        found = ExactCounts(answer).to(queries)
        assert 0 <= exact - Fraction(int(found.steps[0])) * Fraction(found.grid.step) < Fraction(1, 2**11)
        assert 1 + 2.0**-11 <= found.sensitivity("linf") < 1.001


@given(st.lists(st.integers(0, 2**40), min_size=3, max_size=3), st.lists(st.integers(0, 2**29), min_size=3, max_size=3))
def test_what_flooring_can_move_is_counted(counts: list[int], more: list[int]) -> None:
    total = max(sum(more), 2**29)
    added = [one * 2**29 // total for one in more]
    queries = Queries([[1.0, 1.0, 0.0], [0.5, 0.125, 1.0]])
    first, second = (
        ExactCounts(Answer(np.array(one), Grid(-29), MARKS, Neighbors.ADD_REMOVE)).to(queries)
        for one in (counts, [count + mark for count, mark in zip(counts, added, strict=True)])
    )
    apart = Fraction(int(np.abs(first.steps - second.steps).max())) * Fraction(first.grid.step)
    assert apart <= Fraction(first.sensitivity("linf"))


def test_a_query_of_a_set_is_answered_on_the_grid_of_the_set() -> None:
    queries, exact = Queries([[1.0, 0.0], [0.5, 0.0]]), ExactCounts(histogram([10, 20]))
    first, second = exact.to(queries[0]), exact.to(queries[1])
    assert first.grid == second.grid == exact.to(queries).grid
    assert first.greater(second).grid.values(first.greater(second).steps).tolist() == [10.0]
    with pytest.raises(ParameterError, match=r"steps of 2\*\*0 and the other on steps of 2\*\*-16"):
        exact.to(Queries([1, 0])).greater(second)


@pytest.mark.parametrize("neighbors", list(Neighbors))
def test_a_distance_moves_as_far_as_its_answer_with_all_that_flooring_adds(neighbors: Neighbors) -> None:
    answer = Answer(np.array([6]), Grid(1), Bound("linf", 3.0), neighbors, slack=1.5)
    found = distance(answer, np.array([20.0]))
    assert found.steps.tolist() == [4]
    assert found.sensitivity("linf") == pytest.approx(3.0 * (1 if neighbors is Neighbors.ADD_REMOVE else 2) + 3.0)


def test_each_cell_of_a_floored_histogram_may_be_off() -> None:
    answer = Answer(np.array([5, 5, 5]), Grid(0), MARKS, Neighbors.ADD_REMOVE, slack=2.0)
    assert ExactCounts(answer).to(Queries([1, 1, 1])).sensitivity("linf") >= 1.0 + 3 * 2.0


def test_distances_are_on_one_grid_whatever_the_weights() -> None:
    exact = ExactCounts(histogram([10, 20]))
    found = []
    for weights in ([1, 0], [0.5, 0.25]):
        query = Queries(weights)
        found.append(on_one_grid(distance(exact.to(query), np.array([7.5])), query))
    assert found[0].grid == found[1].grid == Grid(-16)
    assert [one.grid.values(one.steps)[0] for one in found] == [2.0, 2.5]  # 7.5 is rounded to 8, for whole answers
    assert found[0].sensitivity("linf") == found[1].sensitivity("linf")
    assert not found[0].monotone


def test_queries_are_values() -> None:
    assert Queries([[1, 0]]) == Queries(np.array([True, False]))
    assert hash(Queries([1, 0])) == hash(Queries([1.0, 0.0]))
    assert Queries([1, 0]) != Queries([0, 1])
    assert Queries([1, 0]) != Queries([[1], [0]])
    assert pickle.loads(pickle.dumps(Queries([1, 0.5]))) == Queries([1, 0.5])
    with pytest.raises(ValueError, match="read-only"):
        Queries([1, 0]).weights[0] = 5


def test_many_queries_are_answered_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    weights, counts = rng.random((100, 30)) < 0.5, rng.integers(0, 100, (4, 30)).astype(float)
    whole = Queries(weights).answers(counts)
    monkeypatch.setattr("discreet.mechanisms.online.queries.BLOCK", 64)
    np.testing.assert_array_equal(Queries(weights).answers(counts), whole)
    np.testing.assert_array_equal(whole, counts @ weights.T)


@pytest.mark.parametrize("weights", [[], [[]], [2.0], [-0.1], [np.nan], [["a"]], [[[1]]]])
def test_weights_without_meaning_are_refused(weights: list[object]) -> None:
    with pytest.raises(ParameterError):
        Queries(weights)  # type: ignore[arg-type]


def test_queries_over_another_universe_are_refused() -> None:
    with pytest.raises(ParameterError, match="over 3 cells and the histogram has 2"):
        ExactCounts(histogram([1, 2])).to(Queries([1, 0, 1]))


@pytest.mark.parametrize("cells", [1, 2, 5])
def test_worst_neighbors_differ_by_one_record(cells: int) -> None:
    pair = one_more(cells)
    assert isinstance(pair.first, Answer)
    assert isinstance(pair.second, Answer)
    assert (pair.second.steps - pair.first.steps).tolist() == [1] + (cells - 1) * [0]
