from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import numpy as np
import pytest

from discreet.core.errors import ParameterError
from discreet.core.grid import Steps
from discreet.noise.deterministic import DeterministicBits
from discreet.noise.gaussian import discrete_gaussian, rounded_gaussian
from discreet.noise.laplace import discrete_laplace, rounded_exponential, rounded_laplace

SAMPLERS = [rounded_laplace, discrete_laplace, rounded_gaussian, discrete_gaussian, rounded_exponential]
Sampler = Callable[..., Steps]


def test_scales_beyond_the_range_are_refused() -> None:
    for scale, sampler in itertools.product((0.0, -1.0, 9e-7, 2.0**52 * 1.001, math.inf, math.nan), SAMPLERS):
        with pytest.raises(ParameterError, match="scale"):
            sampler(DeterministicBits(1), 3, scale)


def test_negative_sizes_are_refused() -> None:
    for size, sampler in itertools.product((-1, (2, -3)), SAMPLERS):
        with pytest.raises(ParameterError, match="size"):
            sampler(DeterministicBits(1), size, 1.0)


def test_the_result_has_the_shape_asked_for() -> None:
    for (size, shape), sampler in itertools.product(
        ((0, (0,)), (4, (4,)), ((), ()), ((2, 3), (2, 3)), ((5, 0), (5, 0)), (np.int64(2), (2,))), SAMPLERS
    ):
        drawn = sampler(DeterministicBits(1), size, 3.0)
        assert drawn.shape == shape
        assert drawn.dtype == np.int64


def test_a_size_is_whole() -> None:
    with pytest.raises(TypeError):
        rounded_laplace(DeterministicBits(1), 2.5, 1.0)  # type: ignore[arg-type]
