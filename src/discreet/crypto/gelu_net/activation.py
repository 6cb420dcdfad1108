"""Functions that the client applies to what a layer gives, and their slopes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, ndtr

from discreet.core.checks import check_one_of

Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class Activation:
    """A function of one number, and its slope.

    Parameters
    ----------
    name : str
        Public.
    of, slope : callable
        Public. Of an array, number by number.
    """

    name: str
    of: Callable[[Numbers], Numbers] = field(repr=False)
    slope: Callable[[Numbers], Numbers] = field(repr=False)


def _gelu_slope(values: Numbers) -> Numbers:
    return ndtr(values) + values * np.exp(-0.5 * values**2) / np.sqrt(2 * np.pi)


def _sigmoid_slope(values: Numbers) -> Numbers:
    found = expit(values)
    return found * (1 - found)


ACTIVATIONS: dict[str, Activation] = {
    one.name: one
    for one in (
        Activation("gelu", lambda values: values * ndtr(values), _gelu_slope),
        Activation("relu", lambda values: np.maximum(values, 0.0), lambda values: (values > 0).astype(np.float64)),
        Activation("tanh", np.tanh, lambda values: 1 - np.tanh(values) ** 2),
        Activation("sigmoid", expit, _sigmoid_slope),
        Activation("identity", lambda values: values, np.ones_like),
    )
}


def activation_named(name: Any) -> Activation:
    """The activation of this name.

    Examples
    --------
    >>> activation_named("relu").of(np.array([-1.0, 2.0]))
    array([0., 2.])
    """
    check_one_of("activation", "activation", name, tuple(ACTIVATIONS))
    return ACTIVATIONS[name]
