"""The nearest tables of a tree are those of least squares, without and with the condition that no count is negative."""

from __future__ import annotations

import numpy as np
from scipy.optimize import nnls

from discreet.core.grid import Array
from discreet.microdata.synthetic.nearest_tables import TreeTables, drawn_by_direction, drawn_to

SIZES, EDGES = (3, 2, 4), ((0, 1), (2, 1))
ONE, TWO = 8.0, 5.0


def truth(rng: np.random.Generator, total: float) -> TreeTables:
    """Records of three columns, many cells of which have none."""
    joint = rng.dirichlet(np.full(24, 0.15)).reshape(SIZES) * total
    ones = tuple(joint.sum(axis=tuple({0, 1, 2} - {place})) for place in range(3))
    return TreeTables(ones, {(0, 1): joint.sum(axis=2), (2, 1): joint.sum(axis=0).T}, ONE, TWO)


def noisy(rng: np.random.Generator, exact: TreeTables) -> TreeTables:
    ones = tuple(own + rng.normal(0, ONE, own.shape) for own in exact.ones)
    pairs = {edge: own + rng.normal(0, TWO, own.shape) for edge, own in exact.pairs.items()}
    return TreeTables(ones, pairs, ONE, TWO)


def squares(noisy: TreeTables, found: TreeTables) -> float:
    """The weighted squares of all distances."""
    own = sum(np.square(a - b).sum() for a, b in zip(noisy.ones, found.ones, strict=True))
    return float(own / ONE**2 + sum(np.square(noisy.pairs[e] - found.pairs[e]).sum() for e in EDGES) / TWO**2)


def problem(tables: TreeTables, total: float) -> tuple[Array, Array]:
    """The same as one of linear least squares over tables of all three columns, of which all tables are sums.

    Any tables of a tree that agree and have no negative count are sums of one of all columns without a negative count.
    """
    marks = np.indices(SIZES).reshape(3, -1)
    ones = [np.equal.outer(np.arange(size), marks[place]) / ONE for place, size in enumerate(SIZES)]
    pairs = [np.equal.outer(np.arange(SIZES[a] * SIZES[b]), marks[a] * SIZES[b] + marks[b]) / TWO for a, b in EDGES]
    aims = [own / ONE for own in tables.ones] + [tables.pairs[edge].ravel() / TWO for edge in EDGES]
    heavy = 1e4  # the total is given
    return np.concatenate([*ones, *pairs, np.full((1, 24), heavy)]), np.concatenate([*aims, [heavy * total]])


def test_tables_that_agree_are_those_of_least_squares() -> None:
    rng = np.random.default_rng(1)
    for _ in range(10):
        tables = noisy(rng, truth(rng, 100.0))
        found = tables.agreeing(100.0)
        matrix, aims = problem(tables, 100.0)
        least = np.linalg.lstsq(matrix, aims, rcond=None)[0].reshape(SIZES)
        np.testing.assert_allclose(found.pairs[0, 1], least.sum(axis=2), atol=1e-5)
        np.testing.assert_allclose(found.pairs[2, 1], least.sum(axis=0).T, atol=1e-5)
        np.testing.assert_allclose(found.ones[1], found.pairs[2, 1].sum(axis=0), atol=1e-9)


def test_pairs_that_make_a_circle_and_have_noise_of_their_own_agree_by_least_squares_too() -> None:
    rng, three = np.random.default_rng(3), 11.0
    joint = rng.dirichlet(np.full(24, 0.5)).reshape(SIZES) * 100.0
    exact = truth(np.random.default_rng(1), 100.0)
    pairs = {**noisy(rng, exact).pairs, (0, 2): joint.sum(axis=1) + rng.normal(0, three, (3, 4))}
    tables = TreeTables(noisy(rng, exact).ones, pairs, ONE, TWO, {(0, 2): three})
    marks = np.indices(SIZES).reshape(3, -1)
    third = np.equal.outer(np.arange(12), marks[0] * 4 + marks[2]) / three
    matrix, aims = problem(tables, 100.0)
    all_aims = np.concatenate([aims, pairs[0, 2].ravel() / three])
    least = np.linalg.lstsq(np.concatenate([matrix, third]), all_aims, rcond=None)[0].reshape(SIZES)
    found = tables.agreeing(100.0)
    np.testing.assert_allclose(found.pairs[0, 2], least.sum(axis=1), atol=1e-5)
    np.testing.assert_allclose(found.pairs[0, 1], least.sum(axis=2), atol=1e-5)


def test_tables_without_negative_counts_are_nearly_those_of_least_squares() -> None:
    rng = np.random.default_rng(2)
    for _ in range(10):
        tables = noisy(rng, truth(rng, 100.0))
        found = tables.nearest(100.0)
        assert min(own.min() for own in found.pairs.values()) >= 0
        assert max(np.abs(found.ones[a] - table.sum(axis=1)).max() for (a, _), table in found.pairs.items()) < 1.0
        least = nnls(*problem(tables, 100.0))[0].reshape(SIZES)
        np.testing.assert_allclose(found.pairs[0, 1], least.sum(axis=2), atol=0.2)
        np.testing.assert_allclose(found.pairs[2, 1], least.sum(axis=0).T, atol=0.2)


def test_that_no_count_is_negative_says_much_about_the_others() -> None:
    rng, near, far = np.random.default_rng(3), [], []
    for _ in range(40):
        exact = truth(rng, 100.0)
        tables = noisy(rng, exact)
        near.append(squares(exact, tables.nearest(100.0)))
        far.append(squares(exact, tables.agreeing(100.0)))
    assert np.mean(near) < 0.85 * np.mean(far)


def test_a_deviation_is_that_of_the_mean_of_all_that_is_known() -> None:
    rng = np.random.default_rng(4)
    exact = truth(rng, 100.0)
    off = np.array([noisy(rng, exact).agreeing(100.0).ones[1][0] - exact.ones[1][0] for _ in range(4000)])
    assert abs(np.std(off) / (exact.deviations[1] * np.sqrt(1 / 2)) - 1) < 0.05  # of two cells with a known sum


def test_noise_on_a_pair_is_hardly_taken_for_a_dependence() -> None:
    """Between independent columns most of it is taken off; of a table far from independence, a little."""
    rng, sizes, stddev = np.random.default_rng(5), (8, 6), 20.0
    ones = tuple(rng.dirichlet(np.full(size, 2.0)) * 1000.0 for size in sizes)
    apart = np.outer(*ones) / 1000.0
    turned = apart * (1 + 0.8 * np.outer(np.tile([1, -1], 4), np.tile([1, -1], 3)))
    for exact, goal in ((apart, 0.5), (turned * (1000.0 / turned.sum()), 0.97)):
        found = []
        for _ in range(60):
            counts = tuple(own + rng.normal(0, 5.0, own.shape) for own in (exact.sum(axis=1), exact.sum(axis=0)))
            tables = TreeTables(counts, {(0, 1): exact + rng.normal(0, stddev, sizes)}, 5.0, stddev)
            both = tables.shrunk(1000.0), tables.agreeing(1000.0)
            found.append([np.square(own.pairs[0, 1] - exact).sum() for own in both])
            np.testing.assert_allclose(both[0].ones[0].sum(), 1000.0)
        drawn, agreed = np.mean(found, axis=0)
        assert drawn < goal * agreed


def test_what_is_drawn_to_independence_loses_what_its_noise_adds() -> None:
    """As much of its squared distance, on average: what is left is as far as the truth, not nearer."""
    rng, exact, stddev = np.random.default_rng(6), np.array([[40.0, 10, 10], [10, 40, 10], [10, 10, 40]]), 4.0
    margins, far = (np.full(3, 60.0), np.full(3, 60.0)), []
    for _ in range(400):
        tables = TreeTables(margins, {(0, 1): exact + rng.normal(0, stddev, (3, 3))}, 1e-6, stddev)
        table = tables.shrunk(180.0).pairs[0, 1]
        far.append(float(np.sum((table - 20.0) * (exact - 20.0)) / np.square(exact - 20.0).sum()))
    known = 1 - 4 * stddev**2 / (np.square(exact - 20.0).sum() + 4 * stddev**2)
    assert abs(np.mean(far) - known) < 0.006


def test_a_dependence_of_few_directions_is_found_in_more_noise() -> None:
    """Noise lies in all directions: where the truth lies in one, most of it can be told apart."""
    rng, stddev = np.random.default_rng(7), 10.0
    expected = np.full((12, 12), 30.0)
    exact, off = expected + 20 * np.outer(np.tile([1, -1], 6), np.repeat([1, -1], 6)), []
    for _ in range(40):
        noise = rng.normal(0, stddev, (12, 12))
        noise += noise.mean() - noise.mean(axis=0) - noise.mean(axis=1, keepdims=True)
        apart = drawn_by_direction(expected, exact + noise, stddev**2)
        whole = drawn_to(expected, exact + noise, stddev**2 * 11 * 11)
        off.append([np.square(own - exact).sum() for own in (apart, whole)])
    apart, whole = np.mean(off, axis=0)
    assert apart < 0.75 * whole


def test_dependence_is_the_share_of_what_is_seen_that_is_no_noise() -> None:
    rng, sizes, stddev = np.random.default_rng(8), (8, 6), 20.0
    even = np.full(sizes, 50.0)
    signs = np.outer(np.tile([1, -1], 4), np.tile([1, -1], 3))
    for size in (0.0, 10.0, 40.0):
        exact, found = even + size * signs, []
        for _ in range(60):
            counts = tuple(own + rng.normal(0, 5.0, own.shape) for own in (exact.sum(axis=1), exact.sum(axis=0)))
            tables = TreeTables(counts, {(0, 1): exact + rng.normal(0, stddev, sizes)}, 5.0, stddev)
            found.append(tables.dependence(2400.0))
        share = 48 * size**2 / (48 * size**2 + 35 * stddev**2)
        assert abs(np.mean(found) - share) < 0.11  # no share is below zero
