"""Sketches: the errors of collisions."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.core.errors import ParameterError
from discreet.local.oracles.sketch import CountMeanSketch, HadamardSketch
from discreet.noise.deterministic import DeterministicBits
from tests.local.trial import ReportTrial

TRIAL = ReportTrial(
    [CountMeanSketch(), CountMeanSketch(2.0, 50, cells=16), HadamardSketch(), HadamardSketch(2.0, 50, 3, 8)],
    fingerprints={"cms": "0c659bb86d100711", "hcms": "6a7fd8041925e5b1"},
)


def test_collisions_are_part_of_the_standard_errors() -> None:
    """One function with 8 cells: the error of a rare value is mostly that of its collisions."""
    values = np.repeat([0, 1, 2, 3, 4], 4000)
    shares = np.bincount(values, minlength=64) / len(values)
    for kind in (CountMeanSketch, HadamardSketch):
        squares, errors = [], []
        for seed in range(40):
            oracle = kind(3.0, 64, functions=1, cells=8, seed=seed)
            estimate = oracle.estimated(oracle.tallied(oracle.reports(values, DeterministicBits(seed))), len(values))
            squares.append(np.square(estimate.shares - shares))
            errors.append(np.square(estimate.errors))
        assert np.mean(squares) / np.mean(errors) == pytest.approx(1.0, abs=0.2)
        assert np.mean(errors) > 20 * np.mean(kind(3.0, 64).variances(shares, len(values)))


def test_sizes_that_do_not_fit_are_refused() -> None:
    for how in ({"cells": 100}, {"cells": 4}, {"functions": 0}):
        with pytest.raises(ParameterError):
            HadamardSketch(**how)


def test_a_function_that_does_not_exist_is_refused() -> None:
    sketch = CountMeanSketch(1.0, 50, functions=3)
    report = sketch.reports([1], DeterministicBits(1))
    report[0, 0] = 3
    with pytest.raises(ParameterError, match="hash function above 2"):
        sketch.accepted(report)


def test_a_report_is_short_whatever_the_domain_is() -> None:
    assert HadamardSketch(1.0, 10**6).form.itemsize == 4
