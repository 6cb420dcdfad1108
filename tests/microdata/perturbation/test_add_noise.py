"""Tables with noise: what is right on average, and the attacks that take the noise off."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.core.budget import Budget
from discreet.core.errors import ParameterError
from discreet.core.grid import Array
from discreet.microdata.perturbation.add_noise import add_correlated_noise, add_noise, multiply_noise
from discreet.schema.schema import Number, Schema
from discreet.trust.private_data import PrivateData

N = 5000
WAIVER = "public data"


def correlated(n: int = N, columns: int = 10) -> Array:
    """Two things that decide on ten columns, and a little of each column's own; and who it is."""
    rng = np.random.default_rng(1)
    return np.clip(rng.normal(size=(n, 2)) @ rng.normal(size=(2, columns)) + 0.1 * rng.normal(size=(n, columns)), -9, 9)


def private(rows: Array) -> PrivateData:
    numbered = np.column_stack([rows, np.arange(len(rows))])
    return PrivateData.of(numbered, Schema.numeric(-10.0, float(len(rows)), numbered.shape[1]), Budget(1.0))


def in_order(records: Array) -> Array:
    """By who it is, which is the last column."""
    return records[np.argsort(records[:, -1]), :-1]


def names(count: int) -> list[str]:
    return [f"x{place}" for place in range(count)]


def test_the_spectral_filter_takes_most_of_the_independent_noise_off() -> None:
    """Kargupta, Datta, Wang and Sivakumar 2003: directions in which there is more than noise are kept."""
    rows = correlated()
    noisy = in_order(add_noise(private(rows), names(10), stddev=1.0, unchanged="x10", waiver=WAIVER).records)
    centred = noisy - noisy.mean(axis=0)
    values, vectors = np.linalg.eigh(np.cov(centred, rowvar=False))
    signal = vectors[:, values > 1.2 * (1 + np.sqrt(10 / N)) ** 2]  # beyond pure noise: Marchenko and Pastur 1967
    filtered = centred @ signal @ signal.T + noisy.mean(axis=0)
    assert signal.shape[1] == 2
    assert np.square(noisy - rows).mean() > 0.95
    assert np.square(filtered - rows).mean() < 0.25


def test_the_filter_takes_nothing_off_correlated_noise_and_correlations_stay() -> None:
    rows = correlated()
    data = private(rows)
    table = add_correlated_noise(data, names(10), relative_variance=0.5, unchanged="x10", waiver=WAIVER)
    noisy = in_order(table.records)
    centred = noisy - noisy.mean(axis=0)
    vectors = np.linalg.eigh(np.cov(centred, rowvar=False))[1][:, -2:]
    filtered = centred @ vectors @ vectors.T + noisy.mean(axis=0)
    noise = np.square(noisy - rows).mean()
    assert np.square(filtered - rows).mean() > 0.9 * noise
    assert np.allclose(np.corrcoef(noisy, rowvar=False), np.corrcoef(rows, rowvar=False), atol=0.1)
    assert np.allclose(np.var(noisy, axis=0) / np.var(rows, axis=0), 1.5, atol=0.15)


def test_records_far_out_are_recognised_after_correlated_noise() -> None:
    rows = np.append(np.random.default_rng(2).uniform(-1, 1, (N, 3)), [[9.0, 9.0, 9.0]], axis=0)
    data = private(rows)
    noisy = add_correlated_noise(data, names(3), relative_variance=0.5, unchanged="x3", waiver=WAIVER).records
    assert noisy[np.square(noisy[:, :3]).sum(axis=1).argmax(), 3] == N


def test_factors_keep_means_and_the_variance_is_found_by_its_formula() -> None:
    rows = np.random.default_rng(3).uniform(5, 9, (N, 1))
    for law, stddev in (("lognormal", 0.5), ("gaussian", 0.3)):
        data = private(rows)
        found = multiply_noise(data, "x0", relative_stddev=stddev, law=law, waiver=WAIVER).records[:, 0]  # type: ignore[arg-type]
        assert abs(found.mean() - rows.mean()) < 5 * found.std() / np.sqrt(N)
        variance = found.var() - stddev**2 * np.square(found).mean() / (1 + stddev**2)
        assert abs(variance - rows.var()) < 5 * np.square(found).std() / np.sqrt(N)


def test_zeros_and_the_largest_are_seen_through_factors() -> None:
    rows = np.append(np.zeros((N // 2, 1)), np.random.default_rng(4).uniform(1, 2, (N // 2, 1)), axis=0)
    rows[-1] = 9.0
    found = in_order(multiply_noise(private(rows), "x0", unchanged="x1", waiver=WAIVER).records)
    assert ((found[:, 0] == 0) == (rows[:, 0] == 0)).all()
    assert found[:, 0].argmax() == N - 1


def test_the_distribution_before_is_found_and_is_refused_for_other_columns() -> None:
    rng = np.random.default_rng(5)
    ages = np.where(rng.uniform(size=20_000) < 0.7, rng.integers(18, 30, 20_000), rng.integers(60, 70, 20_000))
    schema = {"age": Number(0, 99, step=1), "sex": Number(0, 1)}
    data = PrivateData.of({"age": ages, "sex": ages % 2}, schema, Budget(1.0))
    for law in ("gaussian", "uniform"):
        table = add_noise(data, "age", stddev=15.0, law=law, unchanged="sex", waiver=WAIVER)
        found = table.distribution("age", bins=20)
        exact = np.histogram(ages, found.edges)[0] / len(ages)
        seen = np.histogram(table["age"], found.edges)[0] / len(ages)
        assert np.abs(found.probabilities - exact).sum() < 0.6 * np.abs(seen - exact).sum()
        assert abs(found.mean - ages.mean()) < 1.2
        assert abs(found.variance - ages.var()) < 75
    with pytest.raises(ParameterError, match="Noise is on age"):
        table.distribution("sex")


def test_noise_of_two_tables_is_averaged_out() -> None:
    rows = np.random.default_rng(6).uniform(-1, 1, (200, 1))
    data = private(rows)
    tables = [in_order(add_noise(data, "x0", stddev=5.0, unchanged="x1", waiver=WAIVER).records) for _ in range(100)]
    assert np.square(tables[0] - rows).mean() > 15
    assert np.square(np.mean(tables, axis=0) - rows).mean() < 0.5
