"""Noise on numbers: its size, its law, its covariance, and what it leaves as it is."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.core.answer import Records
from discreet.core.events import NoPromise
from discreet.core.grid import Array
from discreet.core.neighbors import Neighbors
from discreet.mechanisms.microdata.noisy_numbers import (
    CorrelatedNumbers,
    FactorLaw,
    MultipliedNumbers,
    NoisyNumbers,
    covariance_root,
    factors,
)
from discreet.mechanisms.microdata.unit_noise import NoiseLaw
from discreet.noise.deterministic import DeterministicBits

N = 20_000


def records(values: Array) -> Records:
    return Records(values, 1, Neighbors.ADD_REMOVE)


@pytest.mark.parametrize("law", ["gaussian", "uniform"])
def test_noise_has_its_deviation_in_each_column_and_whole_steps_where_there_are_steps(law: NoiseLaw) -> None:
    mechanism = NoisyNumbers((2.0, 0.5, 0.0), (1.0, 0.0, 0.0), law)
    found = mechanism.release(records(np.full((N, 3), 7.0)), DeterministicBits(2)).values - 7.0
    assert (found[:, 0] == np.rint(found[:, 0])).all()
    assert np.allclose(found.var(axis=0)[:2], [4 + 1 / 12, 0.25], rtol=0.05)
    assert (np.abs(found.mean(axis=0)[:2]) < 5 * np.array([2.05, 0.5]) / np.sqrt(N)).all()
    assert not found[:, 2].any()
    assert abs(np.corrcoef(found[:, 0], found[:, 1])[0, 1]) < 5 / np.sqrt(N)
    assert isinstance(mechanism.event, NoPromise)


def test_what_is_missing_stays_missing_and_alone() -> None:
    values = np.array([[1.0, np.nan]] * 50 + [[np.nan, 2.0]] * 50)
    for mechanism in (
        NoisyNumbers((1.0, 1.0), (0.0, 0.0), "gaussian"),
        CorrelatedNumbers(1.0, (0.0, 0.0), (4.0, 4.0), (0.0, 0.0)),
        MultipliedNumbers((0.5, 0.5), "lognormal"),
    ):
        found = mechanism.release(records(values), DeterministicBits(1)).values
        assert np.isnan(found).sum(axis=0).tolist() == [50, 50]
        assert (np.isnan(found).sum(axis=1) == 1).all()
        assert len(np.unique(found[~np.isnan(found)])) == 100


def test_correlated_noise_has_the_covariance_of_the_records() -> None:
    rng = np.random.default_rng(1)
    first = rng.uniform(0, 1e15, N)
    values = np.column_stack([first, 1e-12 * first + rng.uniform(0, 300, N), np.full(N, 5.0), np.arange(N)])
    mechanism = CorrelatedNumbers(0.25, (0.0, 0.0, 0.0), (1e15, 1300.0, 10.0), (0.0, 0.0, 0.0))
    found = mechanism.release(records(values), DeterministicBits(3)).values
    found = found[np.argsort(found[:, 3])]
    noise = (found - values)[:, :3] / [1e15, 1300.0, 10.0]
    wanted = 0.25 * np.cov(values[:, :3] / [1e15, 1300.0, 10.0], rowvar=False)
    assert np.allclose(np.cov(noise, rowvar=False), wanted, atol=5 * wanted.max() * np.sqrt(2 / N))
    assert np.abs(noise[:, 2]).max() < 1e-6  # a constant column
    assert (found[:, 3] == values[:, 3]).all()


def test_where_too_few_records_are_whole_noise_is_that_of_the_bounds() -> None:
    for shares in (np.zeros((0, 2)), np.full((9, 2), np.nan), np.ones((2, 2))):
        assert np.allclose(covariance_root(shares), np.eye(2) / np.sqrt(12))


@pytest.mark.parametrize(("law", "stddev"), [("lognormal", 0.5), ("gaussian", 0.3)])
def test_factors_are_positive_with_mean_one_and_their_deviation(law: FactorLaw, stddev: float) -> None:
    found = factors(DeterministicBits(4), 10 * N, stddev, law)
    assert found.min() > 0
    assert abs(found.mean() - 1) < 5 * stddev / np.sqrt(10 * N)
    assert abs(found.std() / stddev - 1) < 0.01
    if law == "gaussian":
        assert np.abs(found - 1).max() < 3.05 * stddev


def test_zeros_signs_and_columns_without_a_factor_stay() -> None:
    values = np.tile([[0.0, -5.0, 3.0]], (100, 1))
    found = MultipliedNumbers((0.2, 0.2, 0.0), "lognormal").release(records(values), DeterministicBits(5)).values
    assert not found[:, 0].any()
    assert (found[:, 1] < 0).all()
    assert (found[:, 2] == 3.0).all()
