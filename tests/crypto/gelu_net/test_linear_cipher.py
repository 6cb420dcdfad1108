"""The integer twin."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.core.errors import ParameterError
from discreet.crypto.errors import Malformed
from discreet.crypto.gelu_net.ciphers import products_of, sealer_of
from discreet.crypto.gelu_net.linear_cipher import PlainProducts, PlainSealer, exact_product
from tests.crypto.gelu_net.two_sides import SMALL

PACKING = SMALL.packing(0, "forward")


def test_products_are_exact_at_every_width() -> None:
    draw = np.random.default_rng(1)
    for bits in (10, 20, 24, 27, 30):
        steps, matrix = (draw.integers(-(2**bits), 2**bits, shape) for shape in ((5, 7), (7, 3)))
        found = exact_product(steps, matrix, 2 * bits + 4)
        assert (found == steps.astype(object) @ matrix.astype(object)).all()


def test_numbers_outside_the_agreed_range_are_refused_at_both_ends() -> None:
    most = PACKING.interval.high
    with pytest.raises(ParameterError):
        PlainSealer().sealed(np.array([[most + 1]]), PACKING)
    for wrong in (most + 1, -most - 1):
        with pytest.raises(Malformed):
            PlainProducts().read(np.array([[wrong]]).astype("<i8").tobytes(), (1, 1), PACKING)
    with pytest.raises(Malformed):
        PlainProducts().read(bytes(9), (1, 1), PACKING)


def test_ciphers_are_known_by_name() -> None:
    assert sealer_of("plain", SMALL).cipher == "plain"
    for wrong in (lambda: sealer_of("rot13", SMALL), lambda: products_of("rot13", [], SMALL, strict=True)):
        with pytest.raises(ParameterError, match="there is no 'rot13'"):
            wrong()
