"""Sums that tell moments: within their bound, exact without noise, with known derivatives and little noise."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import duckdb
import numpy as np
import pytest

from discreet.core.errors import ParameterError
from discreet.core.neighbors import Neighbors
from discreet.questions.columns.moments import COUNTED, moments_of, moments_size
from discreet.questions.question import BoundedSum
from discreet.releases.figure import Figure
from discreet.schema.schema import Number, Schema
from discreet.statistics.moments.column_moments import Moments, bernstein_shares
from discreet.trust.sources.source_of import source_of

NUMBER = Number(-10.0, 30.0)
SCHEMA = Schema({"x": NUMBER})
VALUES = np.concatenate([np.random.default_rng(0).normal(5, 6, 400), [-10.0, 30.0, 10.0, 0.0]]).clip(-10, 30)
KINDS = [(degree, counted) for degree in (1, 2, 4) for counted in (False, True)]
kinds = pytest.mark.parametrize(("degree", "counted"), KINDS)


def question(degree: int, counted: bool) -> BoundedSum:
    return moments_of(SCHEMA, "x", degree, counted)


def exact(degree: int, counted: bool, values: np.ndarray = VALUES) -> Moments:
    asked = question(degree, counted)
    assert asked.total is not None
    return Moments(asked.grid.values(asked.total(values[:, None])), NUMBER, len(values) if counted else None)


@kinds
def test_without_noise_the_moments_are_those_of_numpy(degree: int, counted: bool) -> None:
    moments, n = exact(degree, counted), len(VALUES)
    assert moments.count().value == pytest.approx(n, rel=1e-7)
    assert moments.mean().value == pytest.approx(VALUES.mean(), rel=1e-6)
    if degree == 1:
        return
    assert moments.variance().value == pytest.approx(VALUES.var(), rel=1e-5)
    sampling = moments.sampled_mean().sampling
    assert sampling is not None
    assert sampling.variance == pytest.approx(VALUES.var(ddof=1) / n, rel=1e-5)
    if degree == 4:
        figure = moments.sampled_variance()
        squares = (VALUES - VALUES.mean()) ** 2
        assert figure.value == pytest.approx(VALUES.var(ddof=1), rel=1e-5)
        assert figure.sampling is not None
        assert figure.sampling.variance == pytest.approx(squares.var(ddof=1) / n, rel=1e-4)


FIGURES: list[tuple[int, Callable[[Moments], Figure]]] = [
    (1, Moments.mean),
    (2, Moments.mean),
    (2, Moments.variance),
    (4, Moments.sampled_variance),
]


@pytest.mark.parametrize(("degree", "figure"), FIGURES, ids=lambda part: getattr(part, "__name__", part))
@pytest.mark.parametrize("counted", [False, True])
def test_weights_are_the_derivatives(degree: int, figure: Callable[[Moments], Figure], counted: bool) -> None:
    """Of the figure and of its sampling variance, by central differences; the derivative by the number of records,
    which is small beside those by the moments, is left out of both."""
    moments = exact(degree, counted)
    step, size = 1e-3, moments_size(degree, counted)
    tilted = np.eye(size) if counted else np.eye(size) - 1 / size  # keeps the number of records
    for direction in tilted:
        up, down = (figure(Moments(moments.sums + s * direction, NUMBER, moments.public_size)) for s in (step, -step))
        found = figure(moments)
        slope = (up.value - down.value) / (2 * step)
        assert found.weights @ direction == pytest.approx(slope, rel=1e-4, abs=1e-7)
        if found.sampling is not None and up.sampling is not None and down.sampling is not None:
            slope = (up.sampling.variance - down.sampling.variance) / (2 * step)
            assert found.sampling.weights @ direction == pytest.approx(slope, rel=1e-3, abs=1e-7)


@pytest.mark.parametrize("degree", [1, 2, 4])
def test_every_power_is_a_sum_of_bernstein_polynomials(degree: int) -> None:
    for a in (Fraction(0), Fraction(1, 3), Fraction(1, 2), Fraction(1)):
        basis = [math.comb(degree, k) * a**k * (1 - a) ** (degree - k) for k in range(degree + 1)]
        for power in range(1, degree + 1):
            found = sum(
                Fraction(share) * part for share, part in zip(bernstein_shares(degree, power), basis, strict=True)
            )
            assert float(found) == pytest.approx(float(a**power), abs=1e-15)


def test_two_numbers_of_counted_records_stay_within_nine_sixteenths() -> None:
    """At every multiple of 1/1024, in fractions, with equality where the docstring says."""
    sizes = {
        a: abs(a - Fraction(1, 2)) + abs(2 * a * (1 - a) - Fraction(1, 16))
        for a in (Fraction(k, 1024) for k in range(1025))
    }
    assert max(sizes.values()) == Fraction(9, 16) == Fraction(COUNTED.radius)
    assert [a for a, size in sizes.items() if size == Fraction(9, 16)] == [0, Fraction(1, 4), Fraction(3, 4), 1]


@kinds
def test_no_record_exceeds_the_bound_and_clipping_never_acts(degree: int, counted: bool) -> None:
    asked = question(degree, counted)
    records = np.concatenate([np.linspace(-10, 30, 4097), [np.nan, -10 + 1e-15, 30 - 1e-14, 5e-324]])[:, None]
    rows = asked.of(records)
    np.testing.assert_array_equal(asked.bound.clip(rows), rows)
    assert rows.shape[1] == moments_size(degree, counted)
    assert all(sum(abs(Fraction(part)) for part in row) <= Fraction(asked.bound.radius) for row in rows[::64].tolist())


@kinds
def test_an_engine_adds_up_the_same_to_the_last_bit(degree: int, counted: bool) -> None:
    values = [*VALUES.tolist(), None, float("nan"), 1e308, -1e308, 5e-324]
    connection = duckdb.connect()
    connection.execute("CREATE TABLE seen (x DOUBLE)")
    connection.executemany("INSERT INTO seen VALUES (?)", [(value,) for value in values])
    asked = question(degree, counted)
    here, there = source_of({"x": values}, SCHEMA), source_of(connection.table("seen"), SCHEMA)
    np.testing.assert_array_equal(here.sum(asked), there.sum(asked))


def noise_of_a_variance(mean: float, variance: float) -> float:
    """Under add/remove, in units of what releasing the variance of a public number of records alone would add."""
    square = variance + mean**2
    sums = 1e6 * np.array([1 - 2 * mean + square, 2 * mean - 2 * square, square])
    return 1e6 * float(np.linalg.norm(Moments(sums, Number(0.0, 1.0), None).variance().weights))


def test_a_secret_number_of_records_costs_a_variance_nothing() -> None:
    """The noise of l1 sensitivity 1 on three sums is never more than that of sensitivity (n - 1) / n^2 on the variance
    itself, whose neighbors are replaced, at every mean and variance that there can be."""
    for mean in np.linspace(0, 1, 41):
        for share in np.linspace(0, 1, 21):
            assert noise_of_a_variance(mean, share * mean * (1 - mean)) <= 1 + 1e-6
    assert noise_of_a_variance(0.5, 0.01) < 0.45


def test_a_mean_from_more_sums_has_at_most_an_eighth_more_noise() -> None:
    for place in np.linspace(0, 1, 21):
        sums = 1e6 * np.array([(1 - place) ** 2, 2 * place * (1 - place), place**2])
        one = Moments(np.array([1 - place, place]) * 1e6, Number(0.0, 1.0), None).mean().weights
        assert np.linalg.norm(Moments(sums, Number(0.0, 1.0), None).mean().weights) <= 1.125 * np.linalg.norm(one)
    reach = [question(degree, True).bound.sensitivity("l1", degree, Neighbors.REPLACE) for degree in (1, 2)]
    assert reach == pytest.approx([1.0, 1.125])


@pytest.mark.parametrize("degree", [0, 3, 5, -1])
def test_other_degrees_are_refused(degree: int) -> None:
    with pytest.raises(ParameterError, match=f"degree is {degree}"):
        question(degree, False)


@kinds
@pytest.mark.parametrize("sums", ["none", "noise", "huge"])
def test_any_sums_give_figures_within_their_range(degree: int, counted: bool, sums: str) -> None:
    size = moments_size(degree, counted)
    noise = np.random.default_rng(1).laplace(size=(200, size)) * (1e12 if sums == "huge" else 1.0)
    for row in np.zeros((1, size)) if sums == "none" else noise:
        moments = Moments(row, NUMBER, 0 if counted else None)
        assert -10 <= moments.mean().value <= 30
        if degree > 1:
            assert 0 <= moments.variance().value <= 400
            assert -10 <= moments.sampled_mean().value <= 30
        if degree == 4:
            assert moments.sampled_variance().value >= 0
