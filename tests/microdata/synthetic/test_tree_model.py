"""Fused tables: they agree, are never negative, and are nearer to the truth than any single count."""

from __future__ import annotations

import numpy as np

from discreet.microdata.synthetic.nearest_tables import on_simplex
from discreet.microdata.synthetic.synthesis import total_of
from discreet.microdata.synthetic.tree_model import (
    MOST_NOISE,
    Independence,
    TreeModel,
    fitted,
    noise_in,
)
from discreet.questions.tables.coded_tables import TableCodes


def codes(*sizes: int) -> TableCodes:
    return TableCodes(tuple("abc"[: len(sizes)]), ((),) * len(sizes), sizes)


def noisy(seed: int) -> tuple[np.ndarray, TreeModel]:
    rng = np.random.default_rng(seed)
    truth = 1000 * np.array([[8.0, 2, 0], [1, 1, 0], [0, 3, 0]])
    pair = truth + rng.normal(0, 100, (3, 3))
    ones = [truth.sum(axis=1) + rng.normal(0, 60, 3), truth.sum(axis=0) + rng.normal(0, 60, 3)]
    return truth, TreeModel(codes(3, 3), tuple(ones), {(0, 1): pair}, 60.0, 100.0, float(truth.sum()))


def test_tables_agree_with_margins_and_no_count_is_negative() -> None:
    for seed in range(20):
        _, model = noisy(seed)
        table = model.tables[0, 1]
        assert table.min() >= 0
        np.testing.assert_allclose(table.sum(axis=1), model.margins[0], rtol=1e-3, atol=1e-3)
        np.testing.assert_allclose(table.sum(axis=0), model.margins[1], rtol=1e-3, atol=1e-3)


def test_a_fused_margin_is_nearer_than_its_own_counts() -> None:
    off = [np.abs(model.margins[0] - truth.sum(axis=1)).mean() for truth, model in map(noisy, range(200))]
    assert np.mean(off) < 0.9 * 60 * np.sqrt(2 / np.pi)


def test_what_a_query_reads_is_right_on_average_even_where_there_are_none() -> None:
    """Of the cells without records, tables that have no negative count show some, and what is read does not."""
    found = [(model.table((0, 1)), model.tables[0, 1]) for _, model in map(noisy, range(200))]
    read, made = (np.mean([own[place] for own in found], axis=0) for place in (0, 1))
    truth, _ = noisy(0)
    assert np.abs(read - truth).max() < 1.8 * 100 / np.sqrt(200)
    assert made[2, 0] > 15  # of 3,000 records that are like it in one column, none are in both


def test_missing_values_that_noise_alone_may_show_are_left_out() -> None:
    for missing, kept in ((100.0, False), (300.0, True)):
        model = TreeModel(codes(3), (np.array([5000.0, 5000.0, missing]),), {}, 60.0, 1.0, 10_000.0)
        assert (model.margins[0][2] > 50) == kept


def test_records_are_counted_out_of_a_tree_of_three_columns() -> None:
    ab, bc = np.array([[300.0, 100], [100, 500]]), np.array([[390.0, 10], [60, 540]])
    ones = ab.sum(axis=1), ab.sum(axis=0), bc.sum(axis=0)
    model = TreeModel(codes(2, 2, 2), ones, {(0, 1): ab, (1, 2): bc}, 0.1, 0.1, 1000.0)
    rows = model.counted_out(1000, np.random.default_rng(1))
    found = np.zeros((2, 2))
    np.add.at(found, (rows[:, 0], rows[:, 1]), 1)
    assert np.abs(found - ab).max() <= 2
    assert np.abs(np.bincount(rows[:, 2], minlength=2) - bc.sum(axis=0)).max() <= 3


def chain() -> TreeModel:
    ab, bc = np.array([[300.0, 100, 0], [100, 500, 0], [0, 0, 0]]), np.array([[390.0, 10, 0], [60, 540, 0], [0, 0, 0]])
    ones = ab.sum(axis=1), ab.sum(axis=0), bc.sum(axis=0)
    return TreeModel(codes(3, 3, 3), ones, {(0, 1): ab, (1, 2): bc}, 0.1, 0.1, 1000.0)


def test_the_table_of_any_pair_follows_from_the_edges_between() -> None:
    ab, ac, bc = chain().pair_tables.values()
    joint = ab[:, :, None] * bc / np.maximum(bc.sum(axis=1, keepdims=True), 1e-12)
    np.testing.assert_allclose(ac, joint.sum(axis=1), atol=1e-3)
    apart = TreeModel(codes(2, 2), (np.array([30.0, 70.0]), np.array([60.0, 40.0])), {}, 0.1, 1.0, 100.0)
    np.testing.assert_allclose(apart.pair_tables[0, 1], np.outer(*apart.margins) / 100)


def test_counts_of_the_same_tables_are_weighted_by_the_inverse_of_their_variance() -> None:
    model = TreeModel(codes(2, 2), (np.ones(2), np.ones(2)), {(0, 1): np.full((2, 2), 10.0)}, 1.0, 3.0, 4.0)
    again = model.counted_again({(0, 1): np.full((2, 2), 20.0)}, [], 4.0)
    np.testing.assert_allclose(again.pairs[0, 1], (10 / 9 + 20 / 16) / (1 / 9 + 1 / 16))
    np.testing.assert_allclose(again.two, (1 / 9 + 1 / 16) ** -0.5)
    assert (again.ones, again.one, again.total) == (model.ones, 1.0, 4.0)
    both = model.counted_again({(0, 1): np.full((2, 2), 20.0)}, [np.full(2, 18.0)] * 2, 4.0)
    np.testing.assert_allclose(both.ones, (1 + 18 / 16) / (1 + 1 / 16))
    np.testing.assert_allclose(both.one, (1 + 1 / 16) ** -0.5)
    np.testing.assert_allclose(both.total, 2 * both.ones[0][0])


def test_the_nearest_point_of_the_simplex_is_found() -> None:
    rng = np.random.default_rng(2)
    for _ in range(50):
        values = rng.normal(0, 3, 6)
        found = on_simplex(values, 2.0)
        assert found.min() >= 0
        assert found.sum() == np.float64(2.0) or abs(found.sum() - 2) < 1e-9
        others = rng.dirichlet(np.ones(6), 200) * 2
        assert (np.square(others - values).sum(axis=1) >= np.square(found - values).sum() - 1e-9).all()


def test_the_tables_farthest_from_independence_make_a_tree() -> None:
    uniform = Independence.of([np.full(2, 50.0)] * 3, 100.0)
    tables: dict[tuple[int, ...], np.ndarray] = {
        (0, 1): np.diag([50.0, 50]),
        (0, 2): np.full((2, 2), 25.0),
        (1, 2): np.array([[30.0, 20], [20, 30]]),
    }
    assert list(uniform.farthest(tables, 1.0, {})) == [(0, 1), (1, 2)]
    assert list(uniform.farthest(tables, 1.0, {(0, 2): 1e9})) == [(0, 2), (0, 1)]


def test_noise_beyond_all_counts_is_not_taken_off_whole() -> None:
    assert noise_in(100, 1.0) < 100
    assert noise_in(100, 1e30) == MOST_NOISE


def test_a_secret_number_of_records_is_drawn_again_too() -> None:
    """Columns of copies are as far apart as those of repeated counts."""
    truth, stddev = (np.array([700.0, 300]), np.array([500.0, 400, 100])), 20.0

    def counted(rng: np.random.Generator, size: float | None) -> TreeModel:
        ones = tuple(own + rng.normal(0, stddev, own.shape) for own in truth)
        return TreeModel(codes(2, 3), ones, {}, stddev, 1.0, total_of(ones, size), size)

    for size in (None, 1000.0):
        rng = np.random.default_rng(1)
        repeated = [counted(rng, size) for _ in range(400)]
        copies = [repeated[0].again(rng) for _ in range(400)]
        for place in (0, 1):
            one, other = (np.std([model.margins[place] for model in some], axis=0) for some in (repeated, copies))
            np.testing.assert_allclose(other[:2], one[:2], rtol=0.2)
        assert (np.std([model.total for model in copies]) > stddev) == (size is None)


def test_a_fitted_table_has_the_margins_it_was_given() -> None:
    rng = np.random.default_rng(1)
    margins = [np.array([30.0, 70]), np.array([20.0, 30, 50]), np.array([90.0, 10])]
    table = fitted(rng.normal(8, 9, (2, 3, 2)), margins)
    assert table.min() >= 0
    for place, margin in enumerate(margins):
        np.testing.assert_allclose(table.sum(axis=tuple({0, 1, 2} - {place})), margin, rtol=1e-2)
