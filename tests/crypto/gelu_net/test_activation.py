"""Activations and their slopes."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.core.errors import ParameterError
from discreet.crypto.gelu_net.activation import ACTIVATIONS, activation_named


def test_each_slope_is_the_derivative() -> None:
    values, step = np.linspace(-4, 4, 161) + 0.01, 1e-5
    for one in ACTIVATIONS.values():
        found = (one.of(values + step) - one.of(values - step)) / (2 * step)
        np.testing.assert_allclose(one.slope(values), found, atol=1e-8, err_msg=one.name)


def test_gelu_is_the_number_times_its_normal_probability() -> None:
    found = activation_named("gelu").of(np.array([-1.0, 0.0, 1.0]))
    np.testing.assert_allclose(found, [-0.15865525393145707, 0.0, 0.8413447460685429], rtol=1e-14)


def test_an_unknown_activation_is_refused_with_those_that_there_are() -> None:
    with pytest.raises(ParameterError, match="Give gelu or relu"):
        activation_named("swish")
